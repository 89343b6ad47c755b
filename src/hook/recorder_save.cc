// What a Recorder does with the tensors and scalars of a step.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "src/base/clock.h"
#include "src/hook/recorder.h"

namespace smdebug::hook {
namespace {

// A batch goes to the writer when it holds this much, or at the step's end.
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
constexpr size_t kBatchTensors = 4096;

// Tensors that wait for the next step.
constexpr size_t kMostWaiting = 10'000;

}  // namespace

std::shared_ptr<TensorPlan> Recorder::FindLocked(std::string_view name) {
  return selector_->Find(name);
}

const std::shared_ptr<TensorPlan>& Recorder::FindLocked(TensorName& name) {
  if (name.generation_ != selector_->generation()) {
    name.plan_ = selector_->Find(name.text_);
    name.generation_ = selector_->generation();
  }
  return name.plan_;
}

bool Recorder::IsDue(std::string_view name) {
  const base::MutexLock lock(mu_);
  return selector_->FormNow(*FindLocked(name)) != nullptr;
}

bool Recorder::IsDue(TensorName& name) {
  const base::MutexLock lock(mu_);
  return selector_->FormNow(*FindLocked(name)) != nullptr;
}

void Recorder::Save(std::string_view name, const TensorView& tensor) {
  SaveNamed(name, tensor);
}

void Recorder::Save(TensorName& name, const TensorView& tensor) {
  SaveNamed(name, tensor);
}

template <typename Name>
bool Recorder::ChooseLocked(Name& name, CapturedTensor& captured) {
  const std::shared_ptr<TensorPlan>& plan = FindLocked(name);
  selector_->MakeMember(*plan);
  captured.form = selector_->FormNow(*plan);
  if (captured.form == nullptr) return false;
  captured.plan = plan;
  return true;
}

template <typename Name>
void Recorder::SaveNamed(Name& name, const TensorView& tensor) {
  CapturedTensor captured;
  std::shared_ptr<const CapturedTensor> twin;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    if (!ChooseLocked(name, captured)) return;
    step = counter_.step();
    twin = recent_.Find(tensor);
  }
  if (capturer_.Capture(tensor, twin.get(), captured))
    Add(std::move(captured), step);
}

void Recorder::SaveAs(std::span<const std::string_view> names,
                      const TensorView& tensor) {
  CapturedTensor first;  // Without form; empty until something was copied.
  for (const std::string_view name : names) {
    CapturedTensor captured;
    int64_t step = 0;
    {
      const base::MutexLock lock(mu_);
      if (!ChooseLocked(name, captured)) continue;
      step = counter_.step();
    }
    const bool is_again = first.content != nullptr;
    const bool kept = is_again ? capturer_.CaptureAgain(tensor, first, captured)
                               : capturer_.Capture(tensor, nullptr, captured);
    if (!kept) continue;
    if (!is_again) {
      captured.is_shared = true;
      first.plan = captured.plan;
      first.content = captured.content;
    }
    Add(std::move(captured), step);
  }
}

void Recorder::SaveTensor(std::string_view name, const TensorView& tensor,
                          std::span<const std::string_view> collections) {
  CapturedTensor captured;
  std::shared_ptr<const CapturedTensor> twin;
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
    twin = recent_.Find(tensor);
  }
  if (capturer_.Capture(tensor, twin.get(), captured))
    Add(std::move(captured), step);
}

void Recorder::SaveTensorForNextStep(
    std::string_view name, const TensorView& tensor,
    std::span<const std::string_view> collections) {
  {
    const base::MutexLock lock(mu_);
    if (!Writes()) return;
    if (closed_) {
      tally_.AddDropped(
          1, "late",
          fmt::format("tensor '{}' was saved after the hook was closed", name));
      return;
    }
    if (waiting_.size() >= kMostWaiting) {
      Skip(name, "waits for a step, as too many others do");
      return;
    }
    // The other half is left for what is on its way to the writer, or no room
    // would ever come.
    if (waiting_bytes_ + tensor.byte_size() > runtime_.buffer_bytes / 2) {
      Skip(name,
           "waits for a step, and half of the buffer (SMDEBUG_BUFFER_MB) does "
           "not hold what does");
      return;
    }
  }
  WaitingTensor waiting;
  if (!capturer_.Copy(name, tensor, waiting.captured)) return;
  waiting.name = name;
  waiting.collections.assign(collections.begin(), collections.end());
  const base::MutexLock lock(mu_);
  waiting_bytes_ += waiting.captured.bytes().size();
  waiting_.push_back(std::move(waiting));
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

void Recorder::TakeWaitingLocked() {
  waited_.clear();
  waiting_bytes_ = 0;
  for (WaitingTensor& waiting : std::exchange(waiting_, {})) {
    waited_.insert(waiting.name);
    AddWaitingLocked(std::move(waiting));
  }
}

void Recorder::TakeLeftoversLocked() {
  waiting_bytes_ = 0;
  for (WaitingTensor& waiting : std::exchange(waiting_, {})) {
    if (!Writes() || !open_ || waited_.contains(waiting.name)) {
      Skip(waiting.name, "came after the last step had ended");
    } else {
      AddWaitingLocked(std::move(waiting));
    }
  }
}

void Recorder::AddWaitingLocked(WaitingTensor waiting) {
  CapturedTensor& captured = waiting.captured;
  const std::vector<std::string_view> collections(waiting.collections.begin(),
                                                  waiting.collections.end());
  std::shared_ptr<TensorPlan> plan;
  captured.form = selector_->Join(waiting.name, collections, begun_, plan);
  if (captured.form == nullptr) return;
  captured.plan = std::move(plan);
  captured.has_raw = capturer_.MayKeepRaw(captured, captured.bytes().size());
  if (captured.has_raw || captured.form->shape || captured.NeedsDigest()) {
    AddLocked(std::move(captured));
  }
}

void Recorder::Add(CapturedTensor&& captured, int64_t step) {
  const base::MutexLock lock(mu_);
  if (step != begun_.step || !open_) {
    tally_.AddDropped(
        1, "late",
        fmt::format("tensor '{}' of step {} came after the step had ended",
                    captured.plan->name, step));
    return;
  }
  AddLocked(std::move(captured));
}

void Recorder::AddLocked(CapturedTensor&& captured) {
  recent_.Add(captured);
  batch_.bytes += captured.bytes().size();
  batch_.tensors.push_back(std::move(captured));
  if (batch_.bytes >= kBatchBytes || batch_.tensors.size() >= kBatchTensors) {
    SubmitLocked(/*last_of_step=*/false);
  }
}

}  // namespace smdebug::hook
