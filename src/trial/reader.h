#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/base/mutex.h"
#include "src/steps/step_source.h"
#include "src/trial/catalog.h"
#include "src/trial/collections.h"
#include "src/trial/found.h"
#include "src/trial/members.h"
#include "src/trial/snapshot.h"
#include "src/trial/step_table.h"

namespace smdebug::run {
struct Survey;
}

namespace smdebug::trial {

// What a Trial and its Tensors do; see there for the contracts.
//
// A query answers from a snapshot, which it holds as long as it needs it. One
// thread at a time looks for what is new, gathers it in a draft, and makes that
// the snapshot of everybody. No lock is held for longer than it takes to copy a
// few pointers: whoever needs nothing new waits for nobody. Thread-safe.
class Reader {
 public:
  using TensorId = Catalog::TensorId;
  using Milliseconds = std::chrono::milliseconds;

  Reader(std::shared_ptr<Storage> storage, TrialOptions options);

  const std::string& name() const noexcept { return options_.name; }
  const std::string& path() const noexcept { return storage_->root(); }
  const std::shared_ptr<Storage>& storage() const noexcept { return storage_; }
  const std::string& run_id() const noexcept { return opened_; }

  // About the run.
  std::vector<std::string> TensorNames(const TensorFilter& filter);
  // The tensor of that name, else the scalar.
  std::optional<TensorId> Find(std::string_view tensor);
  const std::string& NameOf(TensorId id) const;
  std::vector<int64_t> Steps(Mode mode, bool include_incomplete);
  std::vector<Mode> Modes() const;
  // Ledgers that should tell what those dropped or lost who have saved steps,
  // and do not; nothing for runs of smdebug 1.0. `worker`: of that one alone.
  std::vector<Damage> LedgerDamage(const run::Survey& survey,
                                   WorkerName worker) const;
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

  // The same of what was found. None of these looks for new steps.
  Value ValueOf(const Found& found);
  double ReductionOf(const Found& found, Reduction reduction);
  // These give NaN for a tensor that only has the name of a reduction, as
  // earlier hooks let pass: it is noted as damage and hides nothing else.
  double ReductionOrNan(const Found& found, Reduction reduction);
  std::vector<std::pair<Reduction, double>> ReductionsOf(const Found& found);
  std::vector<int64_t> ShapeOf(const Found& found);

  // About whole steps. None of these looks for new steps, except the first.

  // Complete steps from `first` on, over all modes, in order, also those that
  // have nothing but scalars; the first `most`.
  std::vector<int64_t> StepsFrom(int64_t first, int64_t most);
  // Whether scalars were saved at `step`, which is complete, perhaps without a
  // file of its own. Does not look for new steps.
  bool HasScalarsAt(int64_t step) const;
  // Steps before `step` are needed no more. They are forgotten once they are
  // half of what is known, as if they were not in the run.
  void Forget(int64_t step);
  // How many steps of workers were taken in so far.
  size_t index_files() const;
  // Makes `table` that of `step`.
  void FillTable(int64_t step, WorkerName worker, StepCursor& cursor,
                 StepTable& table) const;
  // Brings `set` up to date with `snapshot`. Throws ConfigError for a bad
  // regex.
  void Update(const Snapshot& snapshot, MemberSet& set);
  // The records of `entries`, which are of `snapshot` and have some, in their
  // order. Throws FormatError if one is missing, and IoError.
  std::vector<Blob> Fetch(const Snapshot& snapshot,
                          std::span<const Entry> entries);
  Blob FetchOne(const Snapshot& snapshot, const Entry& entry) {
    return FetchAround(snapshot, entry, entry.start, entry.length);
  }
  // The bytes [start, start + length) of the content that holds `entry`.
  Blob FetchAround(const Snapshot& snapshot, const Entry& entry, uint64_t start,
                   uint64_t length);
  // The value of `entry`, whose record is `blob`. Throws FormatError.
  Value Decode(const Snapshot& snapshot, TensorId id, const Entry& entry,
               Blob blob);
  // What messages call the content that holds `entry`.
  std::string ContentName(const Snapshot& snapshot, const Entry& entry) const {
    return source_->NameOf(snapshot.catalog().ContentOf(entry));
  }
  // What is known now.
  SnapshotPtr Known() const SMDEBUG_EXCLUDES(mu_);

  // A step at which a tensor was saved.
  struct Place {
    int64_t step = 0;
    Mode mode = Mode::kGlobal;
    int64_t mode_step = 0;
  };
  // Those of a tensor up to `last`, complete or not, in order.
  static std::vector<Place> PlacesUpTo(const Snapshot& snapshot, TensorId id,
                                       int64_t last, Mode mode);
  // The complete steps of `mode`, in order, those without data too.
  static std::vector<Place> CompletePlaces(const Snapshot& snapshot, Mode mode);
  // The newest one before `step`.
  static std::optional<Place> PlaceBefore(const Snapshot& snapshot, TensorId id,
                                          int64_t step);

 private:
  // A notification can be lost by faults beyond us, and a process that is
  // killed gives none; look anyway now and then.
  static constexpr Milliseconds kLookAnywayAfter{1'000};

  // Everybody's entries of a tensor at a step.
  struct Entries {
    SnapshotPtr snapshot;
    std::span<const Entry> entries;
  };
  // With what it borrows: moved, never copied.
  struct Held {
    SnapshotPtr snapshot = {};
    std::vector<Entry> entries = {};
    Found found = {};
  };

  // The right to look for what is new, of one thread at a time.
  class Turn {
   public:
    // Waits for those who have it. Throws what while_waiting does.
    explicit Turn(Reader* reader);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Reader* const reader_;
  };

  void AwaitRun();
  void ReadCollections(Snapshot& draft) const;
  // What is known after looking for new steps, unless refreshing is off or it
  // is clear that there are none.
  SnapshotPtr MaybeRefresh() SMDEBUG_EXCLUDES(mu_);
  // The same, whatever refreshing() says; `force` even if it is clear.
  SnapshotPtr RefreshNow(bool force = false) SMDEBUG_EXCLUDES(mu_);
  // Gathers by `look` what is new, also if that ends in an IoError, and gives
  // what is known then. These three are for the one whose turn it is.
  SnapshotPtr Gather(const std::function<void(Snapshot&)>& look);
  // How a look found the job.
  struct End {
    bool over = false;  // Nothing will come any more.
    std::optional<FileInfo> marker = {};
  };
  SnapshotPtr Look(uint64_t changes, End& end);
  SnapshotPtr LookAtAll();
  // Makes `draft` what is known: nothing else does. A draft that is not taken
  // leaves no trace.
  SnapshotPtr Commit(Snapshot draft) SMDEBUG_EXCLUDES(mu_);
  // Whether the job is over without a marker: who wrote it is gone. Looked up
  // now and then. For the one whose turn it is.
  bool IsAbandoned();
  // Throws RunReplacedError if the store holds another run than was opened.
  void CheckIdentity() const;
  // Lets who writes the run publish the steps that have ended.
  void AskWriters();
  void AwaitStragglers(const Snapshot& known, const FileInfo& marker) const;
  bool AllWorkersClosed(const Snapshot& known) const;
  // Waits for a change after number `known`, at most `timeout`.
  bool Wait(uint64_t known, Milliseconds timeout) const;
  void Pause(Milliseconds duration) const;
  // Calls while_waiting; gives how long to wait at most before the next call.
  Milliseconds KeepWaiting(std::chrono::steady_clock::time_point until) const;

  // Where `global_step` is known, if anywhere.
  SnapshotPtr KnowingStep(int64_t global_step);
  // For a step that is kUnavailable and waited for.
  [[noreturn]] static void ThrowPassed(const Snapshot& known, int64_t step,
                                       Mode mode);
  Entries RequireEntries(TensorId id, int64_t step, Mode mode);
  Held Lookup(TensorId id, int64_t step, Mode mode, WorkerName worker);
  Value Read(const Found& found, const Entry& entry);
  double ReadReduction(const Found& found, const Entry& entry);
  // nullopt, noted as damage, for what is not one number.
  std::optional<double> NumberOf(const Found& found, const Entry& entry);
  // Waits a little for content that is missing; throws if it will not come.
  void AwaitContent(const Snapshot& snapshot, const Entry& entry,
                    int64_t tries);
  bool MayStillAppear(const Snapshot& snapshot, const Entry& entry) const;
  void NoteDamage(Damage damage) SMDEBUG_EXCLUDES(mu_);
  std::vector<Damage> FindMissing(const Snapshot& known) const;

  TrialOptions options_;
  const std::shared_ptr<Storage> storage_;
  const std::unique_ptr<const steps::StepSource> source_;
  const std::unique_ptr<ChangeWatch> watch_;  // May be null: poll.
  Members patterns_;

  mutable base::Mutex mu_;
  SnapshotPtr known_ SMDEBUG_GUARDED_BY(mu_);
  bool looking_ SMDEBUG_GUARDED_BY(mu_) = false;  // Somebody has the turn.
  base::CondVar turn_free_;
  std::vector<Damage> value_damage_ SMDEBUG_GUARDED_BY(mu_);
  // File and tensor of each of them.
  std::set<std::tuple<std::string, std::string, int64_t>> damaged_values_
      SMDEBUG_GUARDED_BY(mu_);
  std::string opened_;  // The identity of the run; set on opening.
  // Of the one whose turn it is: when IsAbandoned() last looked, and since when
  // writers on other machines have shown no sign of life.
  std::chrono::steady_clock::time_point checked_ = {};
  std::chrono::steady_clock::time_point silent_since_ = {};
  std::vector<double> last_signs_;
  std::atomic<Milliseconds> end_delay_;
  std::atomic<bool> refreshing_ = true;
  std::atomic<uint64_t> asked_ = 0;  // run::NewsHere() when writers were asked.
};

}  // namespace smdebug::trial
