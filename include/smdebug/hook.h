#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/mode.h"
#include "smdebug/run.h"
#include "smdebug/storage.h"
#include "smdebug/tensor.h"

namespace smdebug {

namespace hook {
class Recorder;
struct TensorPlan;
}  // namespace hook

namespace internal {
struct ArrivingScalar;
struct ArrivingTensor;
struct Wanted;
}  // namespace internal

// Who writes: one process of a job, or one device of a process that trains on
// several.
struct Worker {
  // Up to 200 bytes. That of a device starts with '/', as TensorFlow names it;
  // "/job:worker/device:GPU:0" is "_job-worker_device-GPU-0" in file names, and
  // readers turn '_' and '-' back.
  std::string name = "worker_0";
  int64_t count = 1;     // Workers in the job.
  bool is_chief = true;  // The one that writes under IncludeWorkers::kOne.

  // "worker_<rank>" of `count`, rank 0 being the chief.
  static Worker OfRank(int64_t rank, int64_t count);

  // One for each of `devices`, which are all that the job has. The first is the
  // chief.
  static std::vector<Worker> OfDevices(std::span<const std::string> devices);
};

// What happens to a tensor or scalar when the buffer is full.
enum class OnFull : uint8_t {
  kBlock,  // The caller waits, and the wait is counted.
  kDrop,   // It is dropped and counted.
};

// How a hook runs, as opposed to what it saves.
struct RuntimeOptions {
  // For everything that waits to be written: bytes of tensors, reductions,
  // histograms, names, scalars. A few megabytes more are taken for the rest.
  uint64_t buffer_bytes = uint64_t{1024} << 20;
  OnFull on_full = OnFull::kBlock;
  Durability durability = Durability::kProcessCrash;

  // Rethrow what would otherwise be counted and logged.
  bool strict = false;

  // A caller that finds the writer stuck for this long stops waiting for it.
  std::chrono::milliseconds stuck_after{60'000};

  // How long nothing may be written before others, on other machines say, are
  // shown that this process is alive. It is taken to be gone after five
  // minutes.
  std::chrono::milliseconds heartbeat{60'000};

  // Scalars of steps without files wait for the next file at most this long,
  // and in at most this number.
  std::chrono::milliseconds scalar_delay{5'000};
  int64_t scalar_limit = 1024;

  // SMDEBUG_BUFFER_MB, SMDEBUG_ON_FULL, SMDEBUG_FSYNC, SMDEBUG_STRICT over the
  // defaults. Throws ConfigError for a value that is not allowed.
  static RuntimeOptions FromEnvironment();
};

struct ScalarOptions {
  // Seconds since the epoch; now if unset.
  std::optional<double> timestamp = {};

  // A step of the caller's, counted as Hook::step() is: at least 0. The scalar
  // gets the mode of that step. For one that has not begun it waits, within
  // half of buffer_bytes; if the step never begins, it is written at Close(),
  // with the mode in which it was saved. The current step if unset.
  std::optional<int64_t> step = {};

  // A metric of the job: readers find "scalar/<name>" in the collection
  // sm_metrics, which is made if missing.
  bool sm_metric = false;

  // Which of the hook's workers has it: see SaveOptions.
  std::optional<size_t> worker = {};
};

struct SaveOptions {
  // The tensor's name in the framework, where it is saved under another one. It
  // is in the run where a shape is saved without the tensor; collections and
  // regexes do not look at it. Empty: the name itself.
  std::string_view original_name = {};

  // Which of the hook's workers has the tensor, counted from 0 in the order in
  // which the hook was made for them; each of them if unset.
  std::optional<size_t> worker = {};
};

// Hears of what a hook has published, on the hook's own thread, so that steps
// wait to be written while it works. What it throws is counted, and ends it.
class StepObserver {
 public:
  virtual ~StepObserver() = default;

  // The files of `step` are there.
  virtual void OnStep(int64_t step) = 0;

  // There are no more steps; `stats` are those of the hook by now. Not called
  // for a hook that wrote nothing.
  virtual void OnEnd(const HookStats& stats) = 0;

  // Asked of a job that closes as finished, after OnEnd() or what it threw: why
  // it has failed nonetheless; empty if it has not.
  virtual std::string WhyFailed() const { return {}; }
};

// A name under which tensors are saved step after step. A hook that is given
// one keeps in it what it knows of the name, and need not look that up again.
//
// Good for any hook. Thread-safe while it is used with one.
class TensorName {
 public:
  // `original_name` is as in SaveOptions.
  explicit TensorName(std::string text, std::string original_name = {})
      : text_(std::move(text)), original_name_(std::move(original_name)) {}

  const std::string& text() const noexcept { return text_; }
  const std::string& original_name() const noexcept { return original_name_; }

 private:
  friend class hook::Recorder;

  std::string text_;
  std::string original_name_;
  // Under the lock of the hook that set them.
  std::shared_ptr<hook::TensorPlan> plan_;
  uint64_t generation_ = 0;  // When `plan_` was looked up.
};

// Saves what a training job computes.
//
// A step starts with BeginStep(), collects tensors by Save() and ends with the
// next BeginStep(), a change of mode, EndStep() or Close(). What is due is
// decided once, in BeginStep(). A tensor is reduced or copied before Save()
// returns; encoding and I/O happen on the hook's own thread.
//
// The constructor takes a place in the run of the folder, and sets a run aside
// that lies there and did not finish. It throws ConfigError,
// InvalidCollectionConfiguration, RunExistsError (a finished run is there),
// RunBusyError (others write there) or IoError (such as for a folder that
// cannot be written). After that nothing is thrown into training (unless
// `strict`): a failure is logged once, counted in stats() and in the ledger,
// and the rest of the run goes on. Shims have Try() for what they do beside
// these calls. In a forked child every call does nothing.
//
// Several hooks may live in one process. Thread-safe.
class Hook {
 public:
  explicit Hook(HookConfig config, const Worker& worker = {},
                RuntimeOptions runtime = RuntimeOptions::FromEnvironment());

  // On a store of the caller's instead of config.out_dir. `tensorboard` may be
  // null: no export.
  Hook(HookConfig config, const Worker& worker, RuntimeOptions runtime,
       std::shared_ptr<Storage> storage, std::shared_ptr<Storage> tensorboard);

  // Throws what the constructor would throw about config.out_dir as it is now,
  // for those who make the hook later. Writes nothing. As long as what it
  // returns is kept, processes of other jobs on this machine that call it get
  // RunBusyError.
  static std::shared_ptr<void> CheckOutDir(const HookConfig& config,
                                           const Worker& worker = {});

  // From the JSON file at HookConfigPath(path).
  static std::unique_ptr<Hook> FromJsonFile(
      std::string_view path = {}, Framework framework = Framework::kNative,
      const Worker& worker = {});

  // For a process that is several workers of a job, as one that trains on
  // several devices: each has files of its own. Steps, modes and settings are
  // those of all of them, and what is saved without naming a worker is saved
  // for each. They share runtime.buffer_bytes; observers and TensorBoard get
  // what the first one saves. Without a `storage` each is opened from
  // config.out_dir.
  //
  // Throws as the constructor does, and ConfigError for workers that are none,
  // have the name of another, are more than the job has or do not agree on how
  // many that are, or for a chief that is not the first.
  static std::unique_ptr<Hook> OfWorkers(
      HookConfig config, std::span<const Worker> workers,
      RuntimeOptions runtime = RuntimeOptions::FromEnvironment(),
      const std::shared_ptr<Storage>& storage = nullptr,
      std::shared_ptr<Storage> tensorboard = nullptr);

  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  // Closes; as failed if an exception is passing.
  ~Hook();

  // Replaces the configuration but for what the place in the run was taken
  // with: folders, workers, framework. Only before the first step. Throws as
  // the constructor does, and Error afterwards.
  void Configure(HookConfig config);

  // Adds `collection`, or replaces the one of that name. Only before the first
  // step. Throws as the constructor does, and Error afterwards.
  void SetCollection(const Collection& collection);

  // The collection as it is now, with what it takes from the hook filled in;
  // nullopt if there is none.
  std::optional<Collection> GetCollection(std::string_view name) const;

  // All of them, by name.
  std::vector<Collection> Collections() const;

  // Names that stand for tensors, such as classes of modules: the log points to
  // them where a collection or a regex takes nothing at its first step. Lost
  // with Configure() and SetCollection().
  void AddHints(std::span<const std::string> hints);

  // Tells `observer` about each step from now on. Before the first step; throws
  // Error afterwards.
  void Observe(std::shared_ptr<StepObserver> observer);

  // Steps from now on are of `mode`. Ends the current step if it is another.
  void SetMode(Mode mode);

  // Starts the next step, ending the current one.
  void BeginStep();

  // Starts step number `step`, for trainers that count themselves. A number
  // below the last one begun is refused, logged and counted.
  void BeginStep(int64_t step);

  // Starts the next step as BeginStep() does if nothing of it is to be saved.
  // False, and nothing happens, if something is: the caller has work to do.
  bool BeginIdleStep();

  // Ends the current step, so that its files appear, those of a small step up
  // to 20 ms later. Scalars saved later still keep this step.
  void EndStep();

  // Waits until readers see everything of the steps that have ended, and the
  // observers have heard of it. Whether they do: false if `timeout` passes or
  // the writer is stuck, if anything was lost, and for a scalar that came after
  // its step was written, which appears with the next one.
  bool Flush(std::optional<std::chrono::milliseconds> timeout = {});

  // Whether anything at all is saved at the current step. A shim attaches its
  // callbacks only then.
  bool StepIsDue() const noexcept;

  // Whether Save(name, ...) would save something at the current step.
  bool IsDue(std::string_view name);
  bool IsDue(TensorName& name);

  // The same for a caller who has such a tensor: one that comes too late for
  // the step that has ended, or after Close(), is counted as dropped.
  bool Offer(std::string_view name);
  bool Offer(TensorName& name);

  // Whether a tensor that is offered now need not be looked at at all.
  bool IsIdle() const noexcept;

  // Whether anything of the names "<prefix>0" to "<prefix>99" would be saved at
  // the current step: of tensors that a shim numbers and cannot count yet.
  bool AnyIsDue(std::string_view prefix);

  // A number that is the same for all steps at which the same is due, so that a
  // shim can keep what it attached; 0 if nothing is.
  uint64_t due_key() const;

  // Saves `tensor` as the collections that match `name` ask, if any is due.
  void Save(std::string_view name, const TensorView& tensor);
  void Save(TensorName& name, const TensorView& tensor);

  // The same with more to say of the tensor. A worker that the hook does not
  // have is counted as a tensor that was left out.
  void Save(std::string_view name, const TensorView& tensor,
            const SaveOptions& options);

  // The same for each of `names`. The bytes are copied and stored once, however
  // many names there are.
  void SaveAs(std::span<const std::string_view> names,
              const TensorView& tensor);

  // Adds `name` to each of `collections` (made if missing) and saves `tensor`
  // if any of them is due at the current step.
  void SaveTensor(std::string_view name, const TensorView& tensor,
                  std::span<const std::string_view> collections);

  // The same for a tensor that belongs to the step that begins next: a copy of
  // it waits for that step. If none begins, the last step takes it, unless it
  // has got one of that name in this way.
  void SaveTensorForNextStep(std::string_view name, const TensorView& tensor,
                             std::span<const std::string_view> collections);

  // Saves one number, at any step, under "scalar/<name>". Those saved before
  // the first step wait for it. If none ever begins they are given steps of
  // their own at Close(): a name that comes again begins the next one.
  void SaveScalar(std::string_view name, double value,
                  const ScalarOptions& options = {});

  // For shims whose tensors are on a device: smdebug/internal/arriving.h.

  // What is saved of `name` at the current step; with `collections`, as by
  // SaveTensor().
  internal::Wanted WantedOf(std::string_view name);
  internal::Wanted WantedOf(std::string_view name,
                            std::span<const std::string_view> collections);

  // Room in the buffer for `bytes` of the caller's, which is given back with
  // the last copy. Null if there is none: at once, or if the caller `waits`, as
  // Save() does, when none comes; each of `names` is then dropped and counted.
  std::shared_ptr<const void> Reserve(std::span<const std::string_view> names,
                                      uint64_t bytes, bool waits);

  // Saves what is on its way. The hook's own thread waits for it, half of
  // `stuck_after` at most; what does not come is counted as lost.
  void SaveArriving(std::string_view name,
                    const internal::ArrivingTensor& tensor);
  void SaveArriving(std::string_view name,
                    const internal::ArrivingScalar& scalar,
                    const ScalarOptions& options = {});

  // Counts a tensor that the caller could not hand over; `reason` goes on after
  // the name: "is on the meta device". Each reason is logged once.
  void Skip(std::string_view name, std::string_view reason);

  // Runs `work` of a shim, which is about `name`: a tensor, or a part of the
  // shim. What it throws is counted, and logged once for each reason; a strict
  // hook throws it. False if it was thrown.
  template <typename Work>
  bool Try(std::string_view name, const Work& work) {
    try {
      work();
      return true;
    } catch (const std::exception& error) {
      if (LeaveOut(name, error.what())) throw;
      return false;
    }
  }

  // The same for what was caught elsewhere. True if the hook is strict: the
  // caller throws it again, and nothing was counted.
  bool LeaveOut(std::string_view name, std::string_view reason);

  // The current step, over all modes; -1 before the first.
  int64_t step() const;
  Mode mode() const;
  // The current step of `mode`; -1 before its first.
  int64_t mode_step(Mode mode) const;

  // Of all workers together.
  HookStats stats() const;
  const HookConfig& config() const noexcept;
  // The name of this process in the job, as readers have it; of several workers
  // the first.
  const std::string& worker() const noexcept;
  // The names of all workers that this hook is.
  std::vector<std::string> workers() const;
  // The identity of the run; empty if this worker writes nothing.
  const std::string& run_id() const noexcept;
  // Where the run is written; null if this worker writes nothing.
  std::shared_ptr<Storage> storage() const noexcept;

  // Writes what is left, the ledger and, as the last worker of the job, the end
  // marker. Later calls do nothing; later saves are counted as dropped.
  void Close();

  // The same for a job that did not finish; `reason` is for readers.
  void Close(Ending ending, std::string_view reason = {});

  // Closes without ending the job, for a caller that starts over: the folder is
  // free for the next hook, which sets the unfinished run aside.
  void Abandon();

 private:
  // Calls `body` with the recorder of each worker, as Recorder::Guard() does.
  template <typename Body>
  void ForEach(std::string_view kind, const Body& body);
  // Whether `is_so` holds for one of the recorders, the first being asked
  // first.
  template <typename Predicate>
  bool AnyOf(const Predicate& is_so) const;

  // The recorder of a worker. Null if there is none, which is counted for
  // `name`; a strict hook throws.
  hook::Recorder* Find(size_t worker, std::string_view name);

  // Save() for one worker and either kind of name.
  template <typename Name>
  static void SaveIn(hook::Recorder& recorder, Name& name,
                     const TensorView& tensor);
  // Counts a tensor where it comes too late.
  void CountIfLate(std::string_view name);

  std::unique_ptr<hook::Recorder> recorder_;  // Of the first worker.
  std::vector<std::unique_ptr<hook::Recorder>> others_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace smdebug
