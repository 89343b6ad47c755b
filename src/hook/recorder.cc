#include "src/hook/recorder.h"

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/base/environment.h"
#include "src/hook/run_folder.h"
#include "src/index/run_files.h"
#include "src/record/record.h"
#include "src/tensor/gather.h"

namespace smdebug::hook {
namespace {

// A batch goes to the writer when it holds this much, or at the step's end.
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
constexpr size_t kBatchTensors = 64;

// Room in a record for everything but the tensor's bytes.
constexpr uint64_t kRecordOverhead = uint64_t{1} << 20;

HookConfig Checked(HookConfig config, const Worker& worker) {
  Validate(config);
  if (!index::IsValidWorkerName(worker.name)) {
    throw ConfigError("worker name", worker.name,
                      "1 to 200 bytes without '/' and control characters");
  }
  if (worker.count < 1) {
    throw ConfigError("number of workers", std::to_string(worker.count),
                      "a whole number of at least 1");
  }
  return config;
}

RunFolder::Options FolderOptions(const HookConfig& config,
                                 const Worker& worker) {
  const bool all = config.include_workers == IncludeWorkers::kAll;
  return {.worker = worker.name,
          .num_workers = all ? worker.count : 1,
          .job = JobId(),
          // The platform writes the end marker of jobs that it runs.
          .managed = base::GetEnv("TRAINING_JOB_NAME").has_value()};
}

}  // namespace

Recorder::Recorder(HookConfig config, const Worker& worker,
                   const RuntimeOptions& runtime, Storage* storage,
                   Storage* tensorboard)
    : config_(Checked(std::move(config), worker)),
      runtime_(runtime),
      fork_generation_(base::ForkGeneration()),
      pool_(runtime.buffer_bytes),
      selector_(std::make_unique<Selector>(config_)) {
  const bool chosen =
      config_.include_workers == IncludeWorkers::kAll || worker.is_chief;
  if (config_.dry_run || !chosen) return;
  if (storage == nullptr) {
    if (config_.out_dir.empty()) {
      throw ConfigError("out_dir", "", "the path of a folder");
    }
    owned_storage_ = OpenStorage(config_.out_dir);
    storage = owned_storage_.get();
    const std::string dir = config::TensorboardDir(config_);
    if (!dir.empty()) {
      owned_tensorboard_ = OpenStorage(dir);
      tensorboard = owned_tensorboard_.get();
    }
  }
  const RunFolder::Options folder = FolderOptions(config_, worker);
  RunFolder(storage, folder).CheckUnused();
  writer_ = std::make_unique<Writer>(
      config_, Writer::Options{.folder = folder, .runtime = runtime_}, storage,
      tensorboard, &tally_);
}

void Recorder::RethrowWriterError() {
  if (writer_ == nullptr) return;
  if (const auto error = writer_->TakeError()) std::rethrow_exception(error);
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

void Recorder::SetCollection(const Collection& collection) {
  if (InChild()) return;
  const base::MutexLock lock(mu_);
  if (counter_.step() >= 0) {
    throw Error(fmt::format(
        "collection '{}': collections are fixed once the first step began",
        collection.name));
  }
  HookConfig changed = config_;
  EditCollection(changed, collection.name) = collection;
  config::MakePlan(changed);  // Throws for what is not allowed.
  config_ = std::move(changed);
  selector_ = std::make_unique<Selector>(config_);
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
  EndStepLocked();
  if (number) {
    counter_.AdvanceTo(*number);
  } else {
    counter_.Advance();
  }
  begun_ = counter_.current();
  open_ = true;
  if (!Writes()) return;
  writer_->NoteStep(begun_.step);
  selector_->BeginStep(begun_);
  due_.store(selector_->AnythingDue(), std::memory_order_relaxed);
}

void Recorder::EndStep() {
  const base::MutexLock lock(mu_);
  EndStepLocked();
}

void Recorder::Close(bool abandoned) {
  Stamp end;
  {
    const base::MutexLock lock(mu_);
    if (closed_) return;
    EndStepLocked();
    // Names that joined a collection at steps that were not due.
    if (selector_->HasMemberships()) SubmitLocked(/*last_of_step=*/false);
    closed_ = true;
    end = begun_.step >= 0 ? begun_ : counter_.ForScalar();
  }
  if (writer_ != nullptr && !writer_->Close(end, abandoned)) stuck_ = true;
}

void Recorder::Skip(std::string_view name, std::string_view reason) {
  tally_.AddSkipped(reason, fmt::format("tensor '{}' {}", name, reason));
}

bool Recorder::IsDue(std::string_view name) {
  const base::MutexLock lock(mu_);
  return selector_->FormNow(*selector_->Find(name)) != nullptr;
}

bool Recorder::AnyIsDue(std::string_view prefix) {
  const base::MutexLock lock(mu_);
  return selector_->AnyIsDue(prefix);
}

uint64_t Recorder::due_key() const {
  const base::MutexLock lock(mu_);
  return selector_->due_key();
}

void Recorder::Save(std::string_view name, const TensorView& tensor) {
  CapturedTensor captured;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    std::shared_ptr<TensorPlan> plan = selector_->Find(name);
    selector_->MakeMember(*plan);
    captured.form = selector_->FormNow(*plan);
    if (captured.form == nullptr) return;
    captured.plan = std::move(plan);
    step = counter_.step();
  }
  if (Capture(tensor, captured)) Add(std::move(captured), step);
}

void Recorder::SaveTensor(std::string_view name, const TensorView& tensor,
                          std::span<const std::string_view> collections) {
  CapturedTensor captured;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    if (!Writes()) return;
    if (!open_) {
      tally_.AddDropped(1, "late",
                        fmt::format("tensor '{}' was saved while no step was "
                                    "open; begin a step first",
                                    name));
      return;
    }
    std::shared_ptr<TensorPlan> plan;
    captured.form = selector_->Join(name, collections, begun_, plan);
    if (captured.form == nullptr) return;
    captured.plan = std::move(plan);
    step = begun_.step;
  }
  if (Capture(tensor, captured)) Add(std::move(captured), step);
}

void Recorder::SaveScalar(std::string_view name, double value,
                          const ScalarOptions& options) {
  const base::MutexLock lock(mu_);
  if (!Writes()) return;
  if (closed_) {
    tally_.AddDropped(
        1, "late",
        fmt::format("scalar '{}' was saved after the hook was closed", name));
    return;
  }
  batch_.scalars.push_back({.name = fmt::format("scalar/{}", name),
                            .value = value,
                            .wall_time = options.timestamp
                                             ? *options.timestamp
                                             : base::WallSeconds(),
                            .stamp = counter_.ForScalar()});
  // A loop that saves scalars without ever beginning a step stays bounded.
  const auto limit = static_cast<size_t>(runtime_.scalar_limit);
  if (batch_.scalars.size() >= limit) SubmitLocked(/*last_of_step=*/false);
}

void Recorder::EndStepLocked() {
  const bool was_open = std::exchange(open_, false);
  due_.store(false, std::memory_order_relaxed);
  selector_->EndStep();
  const bool nothing = batch_.tensors.empty() && batch_.scalars.empty();
  if (nothing && !submitted_) return;
  SubmitLocked(/*last_of_step=*/was_open);
  submitted_ = false;
}

void Recorder::SubmitLocked(bool last_of_step) {
  batch_.stamp = begun_;
  batch_.memberships = selector_->TakeMemberships();
  batch_.last_of_step = last_of_step;
  writer_->Submit(std::exchange(batch_, {}));
  batch_bytes_ = 0;
  submitted_ = true;
}

bool Recorder::Capture(const TensorView& tensor, CapturedTensor& captured) {
  if (const std::string why = WhyUnsupported(tensor); !why.empty()) {
    tally_.AddSkipped("kind",
                      fmt::format("tensor '{}' {}", captured.plan->name, why));
    return false;
  }
  captured.wall_time = base::WallSeconds();
  captured.dtype = tensor.dtype;
  captured.shape.assign(tensor.shape.begin(), tensor.shape.end());
  captured.has_raw = captured.form->raw;
  const uint64_t bytes = tensor.byte_size();
  if (captured.has_raw && bytes > record::kMaxPayloadBytes - kRecordOverhead) {
    tally_.AddSkipped(
        "size", fmt::format("tensor '{}' has {} bytes; at most 2 GiB can be "
                            "saved raw (its reductions can)",
                            captured.plan->name, bytes));
    captured.has_raw = false;
  }
  // Empty strings are values too, though they have no bytes.
  const bool has_content =
      bytes != 0 || (tensor.dtype == DType::kString && tensor.size() != 0);
  if (captured.has_raw && has_content) return CopyContent(tensor, captured);
  if (captured.NeedsDigest()) {
    captured.digest =
        std::make_unique<Digest>(MakeDigest(tensor, *captured.form));
  }
  return captured.has_raw || captured.form->shape || captured.digest != nullptr;
}

bool Recorder::CopyContent(const TensorView& tensor, CapturedTensor& captured) {
  if (tensor.dtype == DType::kString) {
    const auto* text = static_cast<const std::string_view*>(tensor.data);
    captured.strings.assign(text, text + tensor.size());
    return true;
  }
  std::optional<Buffer> buffer = TakeBuffer(tensor.byte_size());
  if (!buffer) {
    tally_.AddDropped(
        1, "full",
        fmt::format("tensor '{}' was dropped: the buffer of {} MB is full",
                    captured.plan->name, runtime_.buffer_bytes >> 20));
    return false;
  }
  captured.content = *std::move(buffer);
  tensor::CopyDense(tensor, captured.content.bytes());
  return true;
}

std::optional<Buffer> Recorder::TakeBuffer(uint64_t bytes) {
  if (auto buffer = pool_.TryTake(bytes)) return buffer;
  {
    // What this step holds back must reach the writer, or no room comes.
    const base::MutexLock lock(mu_);
    if (!batch_.tensors.empty()) SubmitLocked(/*last_of_step=*/false);
  }
  if (runtime_.on_full == OnFull::kDrop) return pool_.TryTake(bytes);
  // Once the writer was found stuck, nobody waits until it moves again.
  const std::atomic<uint64_t>& progress = writer_->progress();
  if (progress.load() == stuck_at_.load()) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  auto buffer = pool_.Take(bytes, runtime_.stuck_after, progress);
  tally_.AddStall(std::chrono::steady_clock::now() - begin);
  if (!buffer) stuck_at_.store(progress.load());
  return buffer;
}

void Recorder::Add(CapturedTensor captured, int64_t step) {
  const base::MutexLock lock(mu_);
  if (step != begun_.step || !open_) {
    tally_.AddDropped(
        1, "late",
        fmt::format("tensor '{}' of step {} came after the step had ended",
                    captured.plan->name, step));
    return;
  }
  batch_bytes_ += captured.content.bytes().size();
  batch_.tensors.push_back(std::move(captured));
  if (batch_bytes_ >= kBatchBytes || batch_.tensors.size() >= kBatchTensors) {
    SubmitLocked(/*last_of_step=*/false);
  }
}

}  // namespace smdebug::hook
