// What a Recorder does with tensors that are on their way from a device.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/clock.h"
#include "src/hook/recorder.h"

namespace smdebug::hook {
namespace {

bool IsCounted(ReductionOp op) {
  return op != ReductionOp::kMedian && op != ReductionOp::kProd;
}

internal::Wanted ToWanted(const Form* form) {
  if (form == nullptr) return {};
  const auto is_counted = [](Reduction reduction) {
    return IsCounted(reduction.op);
  };
  const auto is_spread = [](Reduction reduction) {
    return TypeOf(reduction.op).kind == ReductionKind::kSpread;
  };
  internal::Wanted wanted = {.anything = true};
  wanted.content = form->raw || !form->histogram_tag.empty() ||
                   !std::ranges::all_of(form->reductions, is_counted);
  wanted.statistics = !wanted.content && !form->reductions.empty();
  wanted.deviations =
      wanted.statistics && std::ranges::any_of(form->reductions, is_spread);
  return wanted;
}

std::vector<std::string_view> ViewsOf(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// What there is to see of it before it has come.
TensorView ViewOf(const internal::ArrivingTensor& tensor) {
  const void* data = tensor.content.data();
  if (data == nullptr && !tensor.parts.empty()) data = tensor.parts[0].rows;
  return {data == nullptr ? &tensor : data, tensor.dtype, tensor.shape, {}};
}

}  // namespace

internal::Wanted Recorder::WantedOf(std::string_view name) {
  const base::MutexLock lock(mu_);
  const std::shared_ptr<TensorPlan> plan = FindLocked(name);
  selector_->MakeMember(*plan);  // Whoever asks has such a tensor.
  return ToWanted(selector_->FormNow(*plan).get());
}

internal::Wanted Recorder::WantedOf(
    std::string_view name, std::span<const std::string_view> collections) {
  const base::MutexLock lock(mu_);
  std::shared_ptr<TensorPlan> plan;
  return ToWanted(JoinLocked(name, collections, plan).get());
}

std::shared_ptr<const void> Recorder::Reserve(
    std::span<const std::string_view> names, uint64_t bytes, bool waits) {
  if (!Writes()) return nullptr;
  const auto attempt = [&] { return pool_.TryLend(bytes); };
  if (waits ? WithRoom(attempt) : attempt()) {
    return std::make_shared<const Room>(shared_pool_, bytes);
  }
  if (waits) {
    for (const std::string_view name : names) CountFull("tensor", name);
  }
  return nullptr;
}

void Recorder::TakeArriving(const internal::ArrivingTensor& tensor,
                            CapturedTensor& captured) {
  const bool is_empty = ViewOf(tensor).size() == 0;
  if (!tensor.content.empty()) {
    captured.content =
        std::make_shared<const Content>(tensor.content, tensor.owner);
  }
  if (!tensor.content.empty() || captured.form == nullptr ||
      captured.form->shape || is_empty) {
    captured.shape.assign(tensor.shape.begin(), tensor.shape.end());
  }
  if (!tensor.content.empty() || !tensor.parts.empty()) {
    captured.arriving =
        std::make_shared<const Arriving>(Arriving{.arrival = tensor.arrival,
                                                  .parts = tensor.parts,
                                                  .owner = tensor.owner});
  }
}

void Recorder::SaveArriving(std::string_view name,
                            const internal::ArrivingTensor& tensor) {
  if (tensor.for_next_step) return SaveArrivingForNextStep(name, tensor);
  CapturedTensor captured;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    if (tensor.step && *tensor.step != begun_.step) {
      return CountOverLocked(name, *tensor.step);
    }
    if (tensor.collections) {
      std::shared_ptr<TensorPlan> plan;
      captured.form = JoinLocked(name, ViewsOf(*tensor.collections), plan);
      captured.plan = std::move(plan);
      if (captured.form == nullptr) return;
    } else if (!ChooseLocked(name, captured)) {
      return CountLateLocked(*FindLocked(name));
    }
    step = begun_.step;
    const TensorView view = ViewOf(tensor);
    if (!capturer_.Describe(name, view, captured)) return;
    const bool is_empty = view.size() == 0;
    const bool has_bytes = !tensor.content.empty() || is_empty;
    captured.has_raw =
        has_bytes && capturer_.MayKeepRaw(captured, tensor.content.size());
    TakeArriving(tensor, captured);
    // Of what has no elements the core knows everything.
    if (is_empty && !captured.has_raw && captured.NeedsDigest()) {
      captured.digest = MakeDigest(view, *captured.form);
    }
    if (!captured.has_raw && !captured.form->shape && !captured.digest &&
        captured.arriving == nullptr) {
      return;
    }
    if (TryAddLocked(captured)) return;
  }
  AddCaptured(captured, step);
}

void Recorder::SaveArrivingForNextStep(std::string_view name,
                                       const internal::ArrivingTensor& tensor) {
  if (!MayWait(name, tensor.content.size())) return;
  WaitingTensor waiting;
  waiting.name = name;
  waiting.collections = tensor.collections.value_or(std::vector<std::string>());
  if (!capturer_.Describe(name, ViewOf(tensor), waiting.captured)) return;
  TakeArriving(tensor, waiting.captured);
  KeepWaiting(std::move(waiting));
}

}  // namespace smdebug::hook
