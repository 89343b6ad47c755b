#include "src/hook/recorder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/environment.h"
#include "src/base/host.h"
#include "src/hook/workers.h"
#include "src/run/entering.h"
#include "src/run/job.h"
#include "src/run/keys.h"
#include "src/run/run_id.h"

namespace smdebug::hook {
namespace {

// Where readers find the scalars that are metrics of the job.
constexpr std::string_view kMetrics = "sm_metrics";

HookConfig Checked(HookConfig config, const Worker& worker) {
  Validate(config);
  Check(worker);
  return config;
}

// Whether this worker is one of those that write.
bool IsChosen(const HookConfig& config, const Worker& worker) {
  return config.include_workers == IncludeWorkers::kAll || worker.is_chief;
}

int64_t WritingWorkers(const HookConfig& config, const Worker& worker) {
  return config.include_workers == IncludeWorkers::kAll ? worker.count : 1;
}

run::RunFolder::Options FolderOptions(const HookConfig& config,
                                      const Worker& worker) {
  return {.worker = run::EncodeWorker(worker.name),
          .num_workers = WritingWorkers(config, worker),
          .job = run::ThisJob(),
          .run_id = run::RunIdFromEnvironment(),
          // The platform writes the end marker of jobs that it runs.
          .managed = base::GetEnv("TRAINING_JOB_NAME").has_value()};
}

// Says plainly what `error` means for the folder at `path`, and what to do.
[[noreturn]] void RefuseOutDir(const std::string& path, const IoError& error) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status found = fs::status(path, code);
  const bool is_file =
      fs::exists(found) ? !fs::is_directory(found) : error.code() == ENOTDIR;
  if (is_file) {
    throw IoError("out_dir", path, error.kind(),
                  fmt::format("{} a file, not a folder; give the path of a "
                              "folder, which need not exist yet",
                              fs::exists(found) ? "is" : "lies in"));
  }
  throw IoError("out_dir", path, error.kind(),
                fmt::format("the folder cannot be {} ({}); give one that can "
                            "be, or change permissions",
                            fs::exists(found) ? "written" : "created",
                            std::generic_category().message(error.code())));
}

std::shared_ptr<Storage> OpenOutDir(const HookConfig& config) {
  if (config.out_dir.empty()) {
    throw ConfigError("out_dir", "", "the path of a folder");
  }
  try {
    return OpenStorage(config.out_dir);
  } catch (const IoError& error) {
    RefuseOutDir(error.path(), error);
  }
}

}  // namespace

Recorder::Recorder(HookConfig config, const Worker& worker,
                   const RuntimeOptions& runtime,
                   std::shared_ptr<Storage> storage,
                   std::shared_ptr<Storage> tensorboard)
    : config_(Checked(std::move(config), worker)),
      worker_(run::DecodeWorker(run::EncodeWorker(worker.name))),
      runtime_(runtime),
      fork_generation_(base::ForkGeneration()),
      fail_open_(runtime.strict, &tally_),
      shared_pool_(std::make_shared<BufferPool>(runtime.buffer_bytes)),
      capturer_(&pool_, &tally_),
      selector_(std::make_unique<Selector>(config_)),
      recent_(runtime.buffer_bytes) {
  if (config_.dry_run || !IsChosen(config_, worker)) return;
  if (storage == nullptr) {
    storage = OpenOutDir(config_);
    const std::string dir = config::TensorboardDir(config_);
    if (!dir.empty()) tensorboard = OpenStorage(dir);
  }
  storage_ = std::move(storage);
  folder_ = std::make_unique<run::RunFolder>(storage_,
                                             FolderOptions(config_, worker));
  folder_->Enter();
  if (tensorboard != nullptr) tensorboard->Hold();
  writer_ = std::make_unique<Writer>(
      WriterOptions{.worker = run::EncodeWorker(worker.name),
                    .num_workers = WritingWorkers(config_, worker),
                    .runtime = runtime_,
                    .spread = config::DefaultSpread(config_.framework)},
      storage_, std::move(tensorboard), folder_.get(), &tally_, &fail_open_);
  doorkeeper_ = std::make_unique<run::Doorkeeper>(
      folder_->presence(),
      run::Doorkeeper::Duties{.publish = [this] { Flush(std::nullopt); },
                              // The writer may have nothing to do for long.
                              .show_life = [this] { writer_->ShowLife(); },
                              .show_life_every = runtime_.heartbeat});
}

std::shared_ptr<void> Recorder::CheckOutDir(const HookConfig& config,
                                            const Worker& worker) {
  const std::shared_ptr<Storage> storage = OpenOutDir(config);
  if (config.dry_run || !IsChosen(config, worker)) return nullptr;
  try {
    run::RunFolder(storage, FolderOptions(config, worker)).CheckEnterable();
  } catch (const IoError& error) {
    RefuseOutDir(storage->root(), error);
  }
  auto entering = std::make_shared<run::Entering>(*storage);
  // Workers that know of each other are told apart when they enter.
  if (worker.count == 1 && entering->other() != 0) {
    throw RunBusyError(storage->root(), base::HostName(), entering->other(),
                       worker.name);
  }
  return entering;
}

void Recorder::HandOver() {
  const base::MutexLock lock(mu_);
  recent_.Forget();  // It holds on to buffers.
  const bool nothing = batch_.tensors.empty() && batch_.scalars.empty();
  if (!nothing && counter_.step() >= 0) SubmitLocked(/*last_of_step=*/false);
}

HookStats Recorder::stats() const {
  return InChild() ? HookStats{} : tally_.stats();
}

StepCounter Recorder::counter() const {
  if (InChild()) return {};
  const base::MutexLock lock(mu_);
  return counter_;
}

std::optional<Collection> Recorder::GetCollection(std::string_view name) const {
  if (InChild()) return std::nullopt;
  const base::MutexLock lock(mu_);
  const auto it = selector_->plan().find(name);
  if (it == selector_->plan().end()) return std::nullopt;
  return it->second.collection;
}

std::vector<Collection> Recorder::Collections() const {
  if (InChild()) return {};
  const base::MutexLock lock(mu_);
  std::vector<Collection> collections;
  for (const auto& [name, planned] : selector_->plan()) {
    collections.push_back(planned.collection);
  }
  return collections;
}

void Recorder::CheckNotBegunLocked(std::string_view what) const {
  if (counter_.step() < 0 && !closed_) return;
  throw Error(fmt::format("{} once the first step has begun", what));
}

void Recorder::ReplaceConfigLocked(HookConfig config) {
  CheckNotBegunLocked("what is saved is fixed");
  std::swap(config_, config);
  try {
    selector_ = std::make_unique<Selector>(config_);
  } catch (...) {
    std::swap(config_, config);  // The selector that is there goes by it.
    throw;
  }
}

void Recorder::Configure(HookConfig config) {
  if (InChild()) return;
  const base::MutexLock lock(mu_);
  // The place in the run was taken with these.
  config.out_dir = config_.out_dir;
  config.export_tensorboard = config_.export_tensorboard;
  config.tensorboard_dir = config_.tensorboard_dir;
  config.dry_run = config_.dry_run;
  config.include_workers = config_.include_workers;
  config.framework = config_.framework;
  ReplaceConfigLocked(std::move(config));
}

void Recorder::SetCollection(const Collection& collection) {
  if (InChild()) return;
  const base::MutexLock lock(mu_);
  HookConfig changed = config_;
  EditCollection(changed, collection.name) = collection;
  ReplaceConfigLocked(std::move(changed));
}

void Recorder::AddHints(std::span<const std::string> hints) {
  const base::MutexLock lock(mu_);
  selector_->AddHints(hints);
}

void Recorder::Observe(std::shared_ptr<StepObserver> observer) {
  if (InChild()) return;
  const base::MutexLock lock(mu_);
  CheckNotBegunLocked("a hook can no longer be observed");
  if (writer_ != nullptr) writer_->Observe(std::move(observer));
}

void Recorder::SetMode(Mode mode) {
  const base::MutexLock lock(mu_);
  if (mode == counter_.mode()) return;
  EndStepLocked();
  counter_.SetMode(mode);
}

void Recorder::BeginStep(std::optional<int64_t> number) {
  const base::MutexLock lock(mu_);
  if (closed_) return;
  if (number && *number <= counter_.step()) {
    if (*number == counter_.step() && open_) return;
    throw Error(fmt::format("step {} was begun after step {}", *number,
                            counter_.step()));
  }
  StepCounter next = counter_;
  if (number) {
    next.AdvanceTo(*number);
  } else {
    next.Advance();
  }
  BeginLocked(next);
}

bool Recorder::NextIsDue() const {
  const base::MutexLock lock(mu_);
  StepCounter next = counter_;
  next.Advance();
  return !closed_ && Writes() && selector_->AnythingDueAt(next.current());
}

bool Recorder::BeginIdleStep() {
  const base::MutexLock lock(mu_);
  if (closed_) return true;
  StepCounter next = counter_;
  next.Advance();
  if (Writes() && selector_->AnythingDueAt(next.current())) return false;
  BeginLocked(next);
  return true;
}

void Recorder::BeginLocked(const StepCounter& next) {
  EndStepLocked();
  counter_ = next;
  begun_ = counter_.current();
  history_.Note(begun_);
  open_ = true;
  due_.store(Due::kNothing, std::memory_order_relaxed);
  if (!Writes()) return;
  if (!later_.empty()) TakeLaterLocked();
  writer_->NoteStep(begun_.step);
  selector_->BeginStep(begun_);
  due_.store(selector_->AnythingDue() ? Due::kSomething : Due::kNothing,
             std::memory_order_relaxed);
  TakeWaitingLocked();
}

void Recorder::EndStep() {
  const base::MutexLock lock(mu_);
  EndStepLocked();
}

bool Recorder::Flush(std::optional<std::chrono::milliseconds> timeout) {
  if (writer_ == nullptr) return true;
  if (stuck_) return false;
  uint64_t flush = 0;
  {
    const base::MutexLock lock(mu_);
    if (!closed_) {
      // The writer starts with the first step.
      if (counter_.step() < 0) return batch_.scalars.empty();
      // They came after their step had ended.
      const auto is_late = [ended = ended_.step](const CapturedScalar& scalar) {
        return scalar.stamp.step <= ended;
      };
      // A reader finds the run once its collections are there.
      if (!is_shown_ || std::ranges::any_of(batch_.scalars, is_late)) {
        SubmitLocked(/*last_of_step=*/false);
      }
    }
    flush = writer_->RequestFlush(ended_);
  }
  return writer_->AwaitFlush(flush, timeout) && tally_.stats().lost == 0;
}

const std::string& Recorder::run_id() const noexcept {
  static const std::string kNone;
  return folder_ == nullptr ? kNone : folder_->run_id();
}

void Recorder::Close(std::optional<Ending> ending, std::string_view reason) {
  Stamp end;
  {
    const base::MutexLock lock(mu_);
    if (closed_) return;
    TakeLeftoversLocked();
    if (begun_.step < 0) NumberScalarsLocked();
    TakeAllLaterLocked();
    EndStepLocked();
    // Scalars without a step, and names that joined a collection at steps that
    // were not due.
    if (writer_ != nullptr &&
        (!batch_.scalars.empty() || selector_->HasChanges())) {
      SubmitLocked(/*last_of_step=*/false);
    }
    closed_ = true;
    if (Writes()) due_.store(Due::kTooLate, std::memory_order_relaxed);
    end = begun_.step >= 0 ? begun_ : counter_.ForScalar();
  }
  if (writer_ == nullptr) return;
  if (writer_->Close(end, ending, reason)) {
    doorkeeper_ = nullptr;
  } else {
    stuck_ = true;
  }
}

void Recorder::Skip(std::string_view name, std::string_view reason) {
  tally_.AddSkipped(reason, fmt::format("tensor '{}' {}", name, reason));
}

bool Recorder::AnyIsDue(std::string_view prefix) {
  const base::MutexLock lock(mu_);
  return selector_->AnyIsDue(prefix);
}

uint64_t Recorder::due_key() const {
  const base::MutexLock lock(mu_);
  return selector_->due_key();
}

void Recorder::EndStepLocked() {
  if (closed_) return;
  const bool was_open = std::exchange(open_, false);
  if (was_open) ended_ = begun_;
  // What comes before the next step is counted, if it had been due.
  if (was_open) {
    due_.store(selector_->AnythingDue() ? Due::kTooLate : Due::kNothing,
               std::memory_order_relaxed);
    selector_->TellUnmatched();
  }
  selector_->EndStep();
  recent_.Forget();
  // The writer starts with the first step, and what it knows is fixed then.
  if (counter_.step() < 0) return;
  const bool nothing = batch_.tensors.empty() && batch_.scalars.empty();
  if (nothing && !submitted_) return;
  SubmitLocked(/*last_of_step=*/was_open);
  submitted_ = false;
}

void Recorder::SubmitLocked(bool last_of_step) {
  batch_.stamp = begun_;
  for (const CapturedScalar& scalar : batch_.scalars) {
    if (scalar.is_metric) selector_->Enlist(scalar.name, kMetrics);
  }
  batch_.collections = selector_->TakeChanges();
  batch_.last_of_step = last_of_step;
  const uint64_t held = HeldBytes(batch_);
  if (credit_.bytes() < held) pool_.Reserve(held - credit_.bytes(), credit_);
  batch_.room = credit_.Split(held);
  if (credit_.bytes() > kMostCredit) credit_ = Reservation();
  batch_.tensors = writer_->Submit(std::exchange(batch_, {}));
  submitted_ = true;
  is_shown_ = true;
  run::NoteNews();
}

}  // namespace smdebug::hook
