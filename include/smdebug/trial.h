#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "smdebug/tensor.h"

namespace smdebug {

namespace trial {
class Reader;
}

// What is known about a step that was asked for. The numbers are those of
// smdebug 1.0.
enum class StepState : uint8_t {
  kUnavailable = 0,  // It was not saved and never will be.
  kAvailable = 1,
  kNotYetAvailable = 2,
};

// "UNAVAILABLE", "AVAILABLE" or "NOT_YET_AVAILABLE".
std::string_view StepStateName(StepState state) noexcept;

// How a run is opened and followed.
struct TrialOptions {
  // Empty: the last component of the path.
  std::string name = {};

  // Only global steps begin <= step < end are read; unset sides are open.
  std::optional<int64_t> begin_step = {};
  std::optional<int64_t> end_step = {};

  // Only what this worker saved is read, and nobody else is waited for.
  std::optional<std::string> only_worker = {};

  // Whole steps that are kept in memory, at least, for a reader that looks
  // ahead and seldom back; older ones are forgotten, as if they were not in the
  // run. Unset: all.
  std::optional<int64_t> recent_steps = {};

  // Whether to wait in the constructor until every worker's collections file
  // is there. Without it what is there is opened, and the store must hold some
  // file of a run.
  bool wait_for_run = true;

  // Check the CRC-32C of each value, where the index has one.
  bool verify_checksums = true;

  // After the end marker is seen, workers may still be finishing; the last look
  // at the index happens this long after the marker was made.
  std::chrono::milliseconds end_delay{1000};

  // A step that some worker never writes counts as passed once this many later
  // steps are known.
  int64_t incomplete_window = 1000;

  // How often to look where the store cannot tell about changes, and how often
  // to look again for a value whose file is not there yet.
  std::chrono::milliseconds poll_interval{500};
  int64_t missing_file_retries = 100;

  // Called in a thread that waits, about ten times a second as long as it does,
  // in the constructor too. What it throws ends the wait and goes to the
  // caller. It must not use the trial.
  std::function<void()> while_waiting = {};

  // SMDEBUG_TRAINING_END_DELAY_REFRESH, SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW and
  // SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT over the defaults. Throws
  // ConfigError for a value that is not allowed.
  static TrialOptions FromEnvironment();
};

// A tensor as it was saved. Cheap to copy; keeps its bytes alive, which lie in
// the mapped file where their alignment allows. Read-only.
class Value {
 public:
  // The tensor of rank 1 with no elements.
  Value() = default;

  // Over bytes that `owner` keeps alive and that are aligned for `dtype`.
  Value(DType dtype, std::vector<int64_t> shape, Bytes bytes,
        std::shared_ptr<const void> owner);
  // Of strings whose text `owner` keeps alive.
  Value(std::vector<int64_t> shape, std::vector<std::string_view> strings,
        std::shared_ptr<const void> owner);

  DType dtype() const noexcept { return dtype_; }
  std::span<const int64_t> shape() const noexcept { return shape_; }
  int64_t size() const noexcept { return view().size(); }

  // The elements in C order, aligned for their type. Empty for kString.
  Bytes bytes() const noexcept { return bytes_; }
  // The elements of a kString tensor, else empty.
  std::span<const std::string_view> strings() const noexcept;

  // Valid as long as this value.
  TensorView view() const noexcept;

  // Element `index` as a double (complex: its magnitude). `index` < size(), and
  // the tensor is not of strings.
  double Get(int64_t index) const noexcept;

  // By the kernels that the hook uses; NaN propagates. Throws Error for
  // kString.
  double Reduce(Reduction reduction, Spread spread = Spread::kPopulation) const;

 private:
  DType dtype_ = DType::kFloat64;
  std::vector<int64_t> shape_ = {0};
  Bytes bytes_;
  std::shared_ptr<const std::vector<std::string_view>> strings_;
  std::shared_ptr<const void> owner_;
};

// Which tensors TensorNames() lists. At most one of `regexes` and `collection`.
struct TensorFilter {
  std::optional<int64_t> step = {};  // Of `mode`.
  Mode mode = Mode::kGlobal;
  std::vector<std::string> regexes = {};  // Python dialect; any may match.
  std::optional<std::string> collection = {};
};

// Whose value is meant where several workers saved a tensor: the named one's,
// or, unset, that of the first by name.
using WorkerName = std::optional<std::string_view>;

class Trial;

// One tensor of a trial, over all its steps. A light handle, valid as long as
// the trial. `step` counts within `mode`. Thread-safe.
//
// A call about one step throws StepUnavailable if the step was never saved,
// StepNotYetAvailable if it may still come, TensorUnavailableForStep if the
// step has nothing of this tensor (or not what was asked for), InvalidWorker if
// `worker` has nothing of it, FormatError if the file is damaged and IoError if
// it cannot be read.
class Tensor {
 public:
  const std::string& name() const noexcept { return *name_; }

  // The framework's own name, where a shape was saved with one.
  std::optional<std::string> original_name() const;

  // Steps with anything of this tensor (value, reduction or shape), in order.
  std::vector<int64_t> Steps(Mode mode = Mode::kGlobal,
                             bool include_incomplete = false) const;

  Value At(int64_t step, Mode mode = Mode::kGlobal,
           WorkerName worker = {}) const;

  // By step, over the complete steps. Throws if any has no value.
  std::vector<std::pair<int64_t, Value>> Values(Mode mode = Mode::kGlobal,
                                                WorkerName worker = {}) const;

  // The saved reduction, else the same computed from the saved value with
  // Spread::kPopulation.
  double ReductionValue(int64_t step, Reduction reduction,
                        Mode mode = Mode::kGlobal,
                        WorkerName worker = {}) const;

  // The saved reductions; empty if there is only the value.
  std::vector<std::pair<Reduction, double>> ReductionValues(
      int64_t step, Mode mode = Mode::kGlobal, WorkerName worker = {}) const;

  // The saved shape, else that of the value. Throws ShapeUnavailableForStep if
  // there is neither.
  std::vector<int64_t> Shape(int64_t step, Mode mode = Mode::kGlobal,
                             WorkerName worker = {}) const;
  std::vector<std::pair<int64_t, std::vector<int64_t>>> Shapes(
      Mode mode = Mode::kGlobal, WorkerName worker = {}) const;

  // nullopt where the run has no counts.
  std::optional<ValueCounts> Counts(int64_t step, Mode mode = Mode::kGlobal,
                                    WorkerName worker = {}) const;

  // Who saved something of it at `step`, by name.
  std::vector<std::string> Workers(int64_t step,
                                   Mode mode = Mode::kGlobal) const;

  // The last `count` complete steps up to and with `step`; all for 0.
  std::vector<int64_t> PrevSteps(int64_t step, size_t count = 0,
                                 Mode mode = Mode::kGlobal) const;

  // What is there at `step` without reading it: no refresh, no exception.
  struct Saved {
    bool value = false;
    int64_t value_bytes = 0;  // What reading it takes, about.
    bool shape = false;
    std::vector<Reduction> reductions = {};
  };
  Saved SavedAt(int64_t step, Mode mode = Mode::kGlobal,
                WorkerName worker = {}) const;

 private:
  friend class Trial;
  Tensor(trial::Reader* reader, const std::string* name, uint32_t id)
      : reader_(reader), name_(name), id_(id) {}

  trial::Reader* reader_;
  const std::string* name_;
  uint32_t id_;
};

// A run folder, finished or still being written, read as one.
//
// A query looks for new steps first, unless what is known answers it for good,
// the job has ended and everything was seen, or refreshing is off. A step is
// complete when every worker wrote it, when a later step is complete, or when
// the job has ended: by its marker, or because its processes are gone.
// Incomplete steps are hidden unless asked for. The definitions are in
// docs/trial.md.
//
// Damaged files hide nothing but themselves: they are listed by damage(), and a
// query about a step that they hold throws.
//
// Thread-safe.
class Trial {
 public:
  // `path` is a local path or a URL of OpenStorage(). Throws ConfigError for
  // options that are not allowed, IoError, MissingCollectionFiles if the job
  // ended without them, and FormatError if the folder holds no run and
  // `wait_for_run` is off.
  static std::unique_ptr<Trial> Open(
      std::string_view path,
      TrialOptions options = TrialOptions::FromEnvironment());

  // On a store of the caller's.
  Trial(std::shared_ptr<Storage> storage, TrialOptions options);
  ~Trial();

  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const std::string& name() const noexcept;
  const std::string& path() const noexcept;
  const std::shared_ptr<Storage>& storage() const noexcept;

  // The identity of the run that was opened; empty if it has none, as runs of
  // smdebug 1.0. When the folder holds another run, whatever looks for new
  // steps throws RunReplacedError.
  const std::string& run_id() const noexcept;

  // How the run is now. Throws IoError.
  RunInfo run_info() const;

  // Tensor names that the filter leaves, sorted. Throws ConfigError for a bad
  // regex or for both a regex and a collection.
  std::vector<std::string> TensorNames(const TensorFilter& filter = {});

  // Scalars are saved as "scalar/<name>". Here and in tensor() `name` will do,
  // too, if no tensor has that very name.
  bool HasTensor(std::string_view name);
  // Throws TensorUnavailable if nothing was saved under `name`.
  Tensor tensor(std::string_view name);

  // Saved steps of `mode`, in order; for kGlobal those over all modes.
  std::vector<int64_t> Steps(Mode mode = Mode::kGlobal,
                             bool include_incomplete = false);

  // Modes that steps were saved in, never kGlobal.
  std::vector<Mode> Modes() const;

  // Of a global step; nullopt if it is not known. A step saved without a mode
  // is of kGlobal.
  std::optional<Mode> ModeOf(int64_t global_step);
  std::optional<int64_t> ModeStep(int64_t global_step);
  // kGlobal gives `mode_step` back, known or not.
  std::optional<int64_t> GlobalStep(Mode mode, int64_t mode_step);

  // Names of the workers that declared themselves, sorted.
  std::vector<std::string> Workers();
  int64_t num_workers() const;

  std::map<std::string, Collection, std::less<>> Collections() const;
  // nullopt if there is none of that name.
  std::optional<Collection> FindCollection(std::string_view name) const;

  StepState HasPassedStep(int64_t step, Mode mode = Mode::kGlobal);

  // Whether scalars were saved at `step`, which is complete: perhaps between
  // whole steps, so that HasPassedStep() says that it is unavailable. Does not
  // look for new steps.
  bool HasScalarsAt(int64_t step) const;

  // Waits until each of `steps` can be read. Throws StepUnavailable for one
  // that never will be, and NoMoreData if the job ended before it. Returns
  // false if `timeout` passes first; there is none by default.
  bool WaitForSteps(std::span<const int64_t> steps, Mode mode = Mode::kGlobal,
                    std::optional<std::chrono::milliseconds> timeout = {});

  // Waits until the run may have changed, at most `timeout`; returns whether it
  // may. Returns at once if everything was seen.
  bool WaitForChange(std::chrono::milliseconds timeout);

  // The values at `step` that went into, or belong to, the model: tensors of
  // the collection "inputs", and those named like "labels" and "predictions".
  // Ordered by the number that their name ends in.
  std::vector<Value> Inputs(int64_t step, Mode mode = Mode::kGlobal);
  std::vector<Value> Labels(int64_t step, Mode mode = Mode::kGlobal);
  std::vector<Value> Predictions(int64_t step, Mode mode = Mode::kGlobal);

  // Looks for new steps now, whatever refreshing() says.
  void Refresh();

  // Whether queries look for new steps. Returns what it was before.
  bool SetRefreshing(bool on);
  bool refreshing() const;

  // The job has ended and every step was seen; nothing changes any more.
  bool loaded_all_steps() const;
  // The last step known to be complete; -1 before the first.
  int64_t last_complete_step() const;
  // The index file up to which nothing is looked for again; empty at first.
  std::string last_index_token() const;

  void SetEndDelay(std::chrono::milliseconds delay);

  // Everything found damaged so far, in the order of finding.
  std::vector<Damage> damage() const;

  // For other parts of the library, which read whole steps at once.
  trial::Reader& reader() noexcept { return *reader_; }

 private:
  std::vector<Value> ValuesAt(const TensorFilter& filter);

  std::unique_ptr<trial::Reader> reader_;
};

// Turns refreshing off (or on) for its lifetime, and back to what it was.
class [[nodiscard]] RefreshScope {
 public:
  RefreshScope(Trial* trial, bool on)
      : trial_(trial), before_(trial->SetRefreshing(on)) {}
  ~RefreshScope() { trial_->SetRefreshing(before_); }
  RefreshScope(const RefreshScope&) = delete;
  RefreshScope& operator=(const RefreshScope&) = delete;

 private:
  Trial* trial_;
  bool before_;
};

}  // namespace smdebug
