#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/base/mutex.h"
#include "src/trial/catalog.h"
#include "src/trial/collections.h"
#include "src/trial/members.h"
#include "src/trial/scanner.h"
#include "src/trial/step_table.h"

namespace smdebug::trial {

// What a Trial and its Tensors do; see there for the contracts.
//
// Files are read for values without the lock held; everything else happens
// under it. Thread-safe.
class Reader {
 public:
  using TensorId = Catalog::TensorId;
  using Milliseconds = std::chrono::milliseconds;

  Reader(std::shared_ptr<Storage> storage, TrialOptions options);

  const std::string& name() const noexcept { return options_.name; }
  const std::string& path() const noexcept { return storage_->root(); }

  // About the run.
  std::vector<std::string> TensorNames(const TensorFilter& filter);
  std::optional<TensorId> Find(std::string_view tensor);
  const std::string& NameOf(TensorId id) const;
  std::vector<int64_t> Steps(Mode mode, bool include_incomplete);
  std::vector<Mode> Modes() const;
  std::optional<Mode> ModeOf(int64_t global_step);
  std::optional<int64_t> ModeStep(int64_t global_step);
  std::optional<int64_t> GlobalStep(Mode mode, int64_t mode_step);
  std::vector<std::string> Workers();
  int64_t num_workers() const;
  std::map<std::string, Collection, std::less<>> Collections() const;
  std::optional<Collection> FindCollection(std::string_view name) const;
  StepState HasPassedStep(int64_t step, Mode mode);
  bool WaitForSteps(std::span<const int64_t> steps, Mode mode,
                    std::optional<Milliseconds> timeout);
  bool WaitForChange(Milliseconds timeout);

  void Refresh();
  bool SetRefreshing(bool on);
  bool refreshing() const;
  bool loaded_all_steps() const;
  int64_t last_complete_step() const;
  std::string last_index_token() const;
  void SetEndDelay(Milliseconds delay);
  std::vector<Damage> damage() const;

  // About one tensor.
  std::optional<std::string> OriginalName(TensorId id) const;
  std::vector<int64_t> StepsOf(TensorId id, Mode mode, bool include_incomplete);
  std::vector<std::string> WorkersOf(TensorId id, int64_t step, Mode mode);
  Value ReadAt(TensorId id, int64_t step, Mode mode, WorkerName worker);
  double ReductionAt(TensorId id, int64_t step, Reduction reduction, Mode mode,
                     WorkerName worker);
  std::vector<std::pair<Reduction, double>> ReductionsAt(TensorId id,
                                                         int64_t step,
                                                         Mode mode,
                                                         WorkerName worker);
  std::vector<int64_t> ShapeAt(TensorId id, int64_t step, Mode mode,
                               WorkerName worker);
  std::optional<ValueCounts> CountsAt(TensorId id, int64_t step, Mode mode,
                                      WorkerName worker);
  Tensor::Saved SavedAt(TensorId id, int64_t step, Mode mode,
                        WorkerName worker) const;

  // About whole steps. None of these looks for new steps, except the first.

  // Complete steps from `first` on, over all modes, in order; the first `most`.
  std::vector<int64_t> StepsFrom(int64_t first, int64_t most);
  // Steps before `step` are needed no more. They are forgotten once they are
  // half of what is known, as if they were not in the run.
  void Forget(int64_t step);
  // How many index files were read so far.
  size_t index_files() const;
  // Makes `table` that of `step`.
  void FillTable(int64_t step, WorkerName worker, StepCursor& cursor,
                 StepTable& table) const;
  // What `worker` saved of a tensor at a step; empty if nothing.
  std::vector<Entry> EntriesOf(TensorId id, int64_t step,
                               WorkerName worker) const;
  // Brings `set` up to date. Throws ConfigError for a bad regex.
  void Update(MemberSet& set);
  const std::string& WorkerNamed(uint32_t number) const;
  ValueCounts CountsOf(const Entry& entry) const;
  // The file that holds `entry`, as a whole. Throws FormatError if it is
  // missing, and IoError.
  std::shared_ptr<const EventFile> OpenEventFile(const Entry& entry);
  // The value of `entry`, which lies in `file`. Throws FormatError.
  Value ReadFrom(const EventFile& file, TensorId id, const Entry& entry);

  // A step at which a tensor was saved.
  struct Place {
    int64_t step = 0;
    Mode mode = Mode::kGlobal;
    int64_t mode_step = 0;
  };
  // Those of a tensor up to `last`, complete or not, in order.
  std::vector<Place> PlacesUpTo(TensorId id, int64_t last, Mode mode) const;
  // The newest one before `step`.
  std::optional<Place> PlaceBefore(TensorId id, int64_t step) const;

 private:
  // A notification can be lost by faults beyond us; look anyway now and then.
  static constexpr Milliseconds kLookAnywayAfter{10'000};

  // Everything that one worker saved of a tensor at a step.
  struct Found {
    const TensorRow* row = nullptr;
    int64_t step = 0;  // As asked for.
    Mode mode = Mode::kGlobal;
    std::vector<Entry> entries = {};

    // The last one of that kind.
    const Entry* Get(Part part) const;
    bool has_reductions() const;
  };

  void AwaitRun() SMDEBUG_EXCLUDES(mu_);
  void ReadCollections() SMDEBUG_REQUIRES(mu_);
  void MaybeRefresh() SMDEBUG_REQUIRES(mu_);
  void RefreshNow() SMDEBUG_REQUIRES(mu_);
  void AwaitStragglers(const FileInfo& marker) SMDEBUG_REQUIRES(mu_);
  bool AllWorkersClosed() const SMDEBUG_REQUIRES(mu_);
  // Waits for a change after number `known`, without the lock, at most
  // `timeout`.
  bool Wait(uint64_t known, Milliseconds timeout) SMDEBUG_EXCLUDES(mu_);
  // Sleeps, with or without the lock.
  void Pause(Milliseconds duration) const;
  // Calls while_waiting; gives how long to wait at most before the next call.
  Milliseconds KeepWaiting(std::chrono::steady_clock::time_point until) const;

  const StepRow* KnownStep(int64_t global_step) SMDEBUG_REQUIRES(mu_);
  bool IsComplete(const StepRow& row) const SMDEBUG_REQUIRES(mu_);
  StepState StateOf(int64_t step, Mode mode) const SMDEBUG_REQUIRES(mu_);
  // For a step that is kUnavailable and waited for.
  [[noreturn]] void ThrowPassed(int64_t step, Mode mode) const
      SMDEBUG_REQUIRES(mu_);
  std::span<const Entry> EntriesAt(TensorId id, int64_t step, Mode mode) const
      SMDEBUG_REQUIRES(mu_);
  std::span<const Entry> RequireEntries(TensorId id, int64_t step, Mode mode)
      SMDEBUG_REQUIRES(mu_);
  std::vector<Entry> Select(std::span<const Entry> entries,
                            WorkerName worker) const SMDEBUG_REQUIRES(mu_);
  Found Lookup(TensorId id, int64_t step, Mode mode, WorkerName worker)
      SMDEBUG_EXCLUDES(mu_);
  std::string EventKeyOf(const Entry& entry) const SMDEBUG_EXCLUDES(mu_);
  Value Read(const Found& found, const Entry& entry) SMDEBUG_EXCLUDES(mu_);
  double ReadReduction(const Found& found, const Entry& entry)
      SMDEBUG_EXCLUDES(mu_);
  bool MayStillAppear(const Entry& entry) const SMDEBUG_EXCLUDES(mu_);
  void NoteDamage(Damage damage) SMDEBUG_EXCLUDES(mu_);

  TrialOptions options_;
  const std::shared_ptr<Storage> storage_;
  const std::unique_ptr<ChangeWatch> watch_;  // May be null: poll.

  mutable base::Mutex mu_;
  CollectionFiles collections_ SMDEBUG_GUARDED_BY(mu_);
  Scanner scanner_ SMDEBUG_GUARDED_BY(mu_);
  Members members_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t collections_version_ SMDEBUG_GUARDED_BY(mu_) = 1;
  std::vector<Damage> value_damage_ SMDEBUG_GUARDED_BY(mu_);
  // File and tensor of each of them.
  std::set<std::pair<std::string, std::string>> damaged_values_
      SMDEBUG_GUARDED_BY(mu_);
  Milliseconds end_delay_ SMDEBUG_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point last_scan_ SMDEBUG_GUARDED_BY(mu_);
  uint64_t scanned_ SMDEBUG_GUARDED_BY(mu_) = 0;  // Number of a change.
  bool refreshing_ SMDEBUG_GUARDED_BY(mu_) = true;
  bool loaded_all_ SMDEBUG_GUARDED_BY(mu_) = false;
};

}  // namespace smdebug::trial
