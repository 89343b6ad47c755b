// What a Recorder does with the tensors and scalars of a step.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/clock.h"
#include "src/hook/recorder.h"
#include "src/index/step_index.h"

namespace smdebug::hook {
namespace {

// A batch goes to the writer when it holds this much, or at the step's end.
constexpr uint64_t kBatchBytes = uint64_t{1} << 20;
constexpr size_t kBatchTensors = 4096;

// What is no larger is captured without letting the lock go.
constexpr uint64_t kSmallBytes = uint64_t{16} << 10;

// Tensors that wait for the next step.
constexpr size_t kMostWaiting = 10'000;

std::string_view OriginalName(std::string_view /*name*/) { return {}; }
std::string_view OriginalName(const TensorName& name) {
  return name.original_name();
}

}  // namespace

std::shared_ptr<TensorPlan> Recorder::FindLocked(std::string_view name) {
  std::shared_ptr<TensorPlan> plan = selector_->Find(name);
  if (std::exchange(plan->is_refused, false)) SkipReserved(name);
  return plan;
}

const std::shared_ptr<TensorPlan>& Recorder::FindLocked(TensorName& name) {
  if (name.generation_ != selector_->generation()) {
    name.plan_ = FindLocked(std::string_view(name.text_));
    name.generation_ = selector_->generation();
  }
  return name.plan_;
}

bool Recorder::SkipReserved(std::string_view name) {
  if (!config::IsReservedName(name)) return false;
  Skip(name,
       "has 'smdebug/reductions/' in its name, which is kept for "
       "reductions; it needs another name");
  return true;
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
  captured.original_name = OriginalName(name);
  return true;
}

template <typename Attempt>
bool Recorder::WithRoom(const Attempt& attempt) {
  return attempt() || AwaitRoom(attempt);
}

template <typename Attempt>
bool Recorder::AwaitRoom(const Attempt& attempt) {
  // Once the writer was found stuck, nobody waits until it moves again.
  const std::atomic<uint64_t>& progress = writer_->progress();
  if (progress.load() == stuck_at_.load() || !Writes()) return false;
  const Writer::Haste haste(writer_.get());
  // What is held back must reach the writer, or no room comes.
  HandOver();
  if (runtime_.on_full == OnFull::kDrop) return attempt();
  const auto begin = std::chrono::steady_clock::now();
  bool found = false;
  while (!found) {
    const uint64_t seen = pool_.returns();
    found = attempt();
    if (found) break;
    if (!pool_.WaitForReturn(seen, runtime_.stuck_after, progress)) {
      stuck_at_.store(progress.load());
      break;
    }
  }
  tally_.AddStall(std::chrono::steady_clock::now() - begin);
  return found;
}

void Recorder::CountFull(std::string_view kind, std::string_view name) {
  tally_.AddDropped(
      1, "full",
      fmt::format("{} '{}' was dropped: the buffer of {} MB is full", kind,
                  name, runtime_.buffer_bytes >> 20));
}

bool Recorder::PayLocked(uint64_t bytes) {
  const uint64_t needed = batch_.held + bytes;
  if (credit_.bytes() < needed) {
    const uint64_t missing = needed - credit_.bytes();
    const uint64_t more = std::min(kMostCredit, runtime_.buffer_bytes / 256);
    if (!pool_.TryReserve(missing + more, credit_) &&
        !pool_.TryReserve(missing, credit_)) {
      return false;
    }
  }
  return true;
}

template <typename Capture>
bool Recorder::CaptureAndAdd(CapturedTensor& captured, int64_t step,
                             const Capture& capture) {
  Taken taken = Taken::kNoRoom;
  const auto take = [&] {
    taken = capture();
    return taken != Taken::kNoRoom;
  };
  if (!WithRoom(take)) {
    CountFull("tensor", captured.plan->name);
    return false;
  }
  return taken != Taken::kNothing && AddCaptured(captured, step);
}

bool Recorder::AddCaptured(CapturedTensor& captured, int64_t step) {
  const auto plan = captured.plan;  // Outlives `captured`.
  bool added = false;
  const auto add = [&] {
    const base::MutexLock lock(mu_);
    if (step == begun_.step && open_) return added = TryAddLocked(captured);
    CountOverLocked(plan->name, step);
    return true;
  };
  if (!WithRoom(add)) CountFull("tensor", plan->name);
  return added;
}

void Recorder::CountOverLocked(std::string_view name, int64_t step) {
  tally_.AddDropped(
      1, "late",
      fmt::format("tensor '{}' of step {} came after the step had ended", name,
                  step));
}

bool Recorder::TakeSmallLocked(const TensorView& tensor,
                               const CapturedTensor* twin,
                               CapturedTensor& captured) {
  if (tensor.dtype == DType::kString || tensor.byte_size() > kSmallBytes) {
    return false;
  }
  const Taken taken = capturer_.Capture(tensor, twin, captured);
  if (taken == Taken::kNothing) return true;
  if (taken == Taken::kAll && TryAddLocked(captured)) return true;
  captured.content.reset();  // There may be no room beside it.
  captured.same_as.reset();
  return false;
}

template <typename Name>
void Recorder::SaveNamed(Name& name, const TensorView& tensor) {
  CapturedTensor captured;
  std::shared_ptr<const CapturedTensor> twin;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    if (!ChooseLocked(name, captured))
      return CountLateLocked(*FindLocked(name));
    step = counter_.step();
    twin = recent_.Find(tensor);
    if (TakeSmallLocked(tensor, twin.get(), captured)) return;
  }
  CaptureAndAdd(captured, step, [&] {
    const Taken taken = capturer_.Capture(tensor, twin.get(), captured);
    twin.reset();  // It is of no use any more, and holds a buffer.
    return taken;
  });
}

void Recorder::SaveAs(std::span<const std::string_view> names,
                      const TensorView& tensor) {
  CapturedTensor first;  // Without form; empty until something was copied.
  for (const std::string_view name : names) {
    CapturedTensor captured;
    int64_t step = 0;
    {
      const base::MutexLock lock(mu_);
      if (!ChooseLocked(name, captured)) {
        CountLateLocked(*FindLocked(name));
        continue;
      }
      step = counter_.step();
    }
    std::shared_ptr<const Content> copied;
    const std::shared_ptr<const TensorPlan> plan = captured.plan;
    const bool added = CaptureAndAdd(captured, step, [&] {
      if (first.content != nullptr) {
        return capturer_.CaptureAgain(tensor, first, captured);
      }
      const Taken taken = capturer_.Capture(tensor, nullptr, captured);
      captured.is_shared = true;
      copied = captured.content;
      return taken;
    });
    if (added && copied != nullptr) {
      first.plan = plan;
      first.content = std::move(copied);
    }
  }
}

void Recorder::SaveTensor(std::string_view name, const TensorView& tensor,
                          std::span<const std::string_view> collections) {
  CapturedTensor captured;
  std::shared_ptr<const CapturedTensor> twin;
  int64_t step = 0;
  {
    const base::MutexLock lock(mu_);
    std::shared_ptr<TensorPlan> plan;
    captured.form = JoinLocked(name, collections, plan);
    if (captured.form == nullptr) return;
    captured.plan = std::move(plan);
    step = begun_.step;
    twin = recent_.Find(tensor);
    if (TakeSmallLocked(tensor, twin.get(), captured)) return;
  }
  CaptureAndAdd(captured, step, [&] {
    const Taken taken = capturer_.Capture(tensor, twin.get(), captured);
    twin.reset();
    return taken;
  });
}

std::shared_ptr<const Form> Recorder::JoinLocked(
    std::string_view name, std::span<const std::string_view> collections,
    std::shared_ptr<TensorPlan>& plan) {
  if (!Writes() || SkipReserved(name)) return nullptr;
  if (closed_) {
    CountClosed("tensor", name);
    return nullptr;
  }
  if (!open_) {
    tally_.AddDropped(1, "late",
                      fmt::format("tensor '{}' was saved while no step was "
                                  "open; begin a step first",
                                  name));
    return nullptr;
  }
  return selector_->Join(name, collections, begun_, plan);
}

void Recorder::CountLate(std::string_view name) {
  const base::MutexLock lock(mu_);
  CountLateLocked(*FindLocked(name));
}

void Recorder::CountLateLocked(const TensorPlan& tensor) {
  if (closed_) {
    // What no collection holds is saved at no step.
    if (!tensor.collections.empty()) CountClosed("tensor", tensor.name);
  } else if (!open_ && selector_->WasDue(tensor)) {
    tally_.AddDropped(
        1, "ended",
        fmt::format("tensor '{}' came after step {} had ended and before the "
                    "next one began",
                    tensor.name, ended_.step));
  }
}

void Recorder::CountClosed(std::string_view kind, std::string_view name) {
  tally_.AddDropped(
      1, "late",
      fmt::format("{} '{}' was saved after the hook was closed", kind, name));
}

void Recorder::SaveTensorForNextStep(
    std::string_view name, const TensorView& tensor,
    std::span<const std::string_view> collections) {
  if (!MayWait(name, tensor.byte_size())) return;
  WaitingTensor waiting;
  waiting.name = name;
  waiting.collections.assign(collections.begin(), collections.end());
  Taken taken = Taken::kNoRoom;
  const auto take = [&] {
    taken = capturer_.Copy(name, tensor, waiting.captured);
    return taken != Taken::kNoRoom;
  };
  if (!WithRoom(take)) return CountFull("tensor", name);
  if (taken == Taken::kAll) KeepWaiting(std::move(waiting));
}

bool Recorder::MayWait(std::string_view name, uint64_t bytes) {
  const base::MutexLock lock(mu_);
  if (!Writes() || SkipReserved(name)) return false;
  if (closed_) {
    CountClosed("tensor", name);
    return false;
  }
  if (waiting_.size() >= kMostWaiting) {
    Skip(name, "waits for a step, as too many others do");
    return false;
  }
  // The other half is left for what is on its way to the writer, or no room
  // would ever come.
  const uint64_t half = runtime_.buffer_bytes / 2;
  if (bytes <= half && waiting_bytes_ <= half - bytes) return true;
  tally_.AddDropped(
      1, "waiting",
      fmt::format("tensor '{}' of {} bytes was dropped: what waits for a step "
                  "has half of the buffer of {} MB (SMDEBUG_BUFFER_MB), of "
                  "which {} bytes are taken",
                  name, bytes, runtime_.buffer_bytes >> 20, waiting_bytes_));
  return false;
}

void Recorder::KeepWaiting(WaitingTensor waiting) {
  const auto reserve = [&] {
    return pool_.TryReserve(HeldBytes(waiting.captured) + sizeof(waiting),
                            waiting.room);
  };
  if (!WithRoom(reserve)) return CountFull("tensor", waiting.name);
  const base::MutexLock lock(mu_);
  waiting_bytes_ += waiting.captured.bytes().size();
  waiting_.push_back(std::move(waiting));
}

void Recorder::SaveScalar(
    std::string_view name, double value, const ScalarOptions& options,
    std::shared_ptr<const internal::ArrivingScalar> arriving) {
  if (options.step && *options.step < 0) {
    const ConfigError error("step", std::to_string(*options.step),
                            "a whole number of at least 0");
    const std::string scalar = fmt::format("{}{}", index::kScalarPrefix, name);
    if (fail_open_.LeaveOut(scalar, error.what())) throw error;
    return;
  }
  if (SkipReserved(name)) return;
  CapturedScalar scalar = {
      .name = fmt::format("{}{}", index::kScalarPrefix, name),
      .value = value,
      .wall_time = options.timestamp ? *options.timestamp : base::WallSeconds(),
      .is_metric = options.sm_metric,
      .arriving = std::move(arriving)};
  bool has_begun = true;
  const auto add = [&] {
    const base::MutexLock lock(mu_);
    if (writer_ == nullptr) return true;
    if (closed_ || writer_->silent()) {
      CountClosed("scalar", name);
      return true;
    }
    has_begun = counter_.step() >= 0;
    if (options.step && *options.step > counter_.step()) {
      // The other half is left for what is on its way to the writer, or no
      // room would ever come.
      if (later_room_.bytes() >= runtime_.buffer_bytes / 2) {
        CountFull("scalar", name);
        return true;
      }
      // Which mode it is of shows when it comes.
      scalar.stamp = {*options.step, Mode::kGlobal, *options.step};
      return TryKeepLocked(scalar);
    }
    scalar.stamp =
        options.step ? history_.At(*options.step) : counter_.ForScalar();
    if (!TryAddLocked(scalar)) return false;
    // Of a step that has ended.
    if (!open_ || options.step) run::NoteNews();
    // Steps that last long stay bounded.
    const auto limit = static_cast<size_t>(runtime_.scalar_limit);
    if (has_begun && (batch_.scalars.size() >= limit || writer_->IsHurried())) {
      SubmitLocked(/*last_of_step=*/false);
    }
    return true;
  };
  if (add()) return;
  // Nothing is written before the first step, so no room would come.
  if (!has_begun || !AwaitRoom(add)) CountFull("scalar", name);
}

bool Recorder::TryAddLocked(CapturedScalar& scalar) {
  const uint64_t bytes = HeldBytes(scalar);
  if (!PayLocked(bytes)) return false;
  batch_.held += bytes;
  batch_.scalars.push_back(std::move(scalar));
  return true;
}

bool Recorder::TryKeepLocked(CapturedScalar& scalar) {
  if (!pool_.TryReserve(HeldBytes(scalar), later_room_)) return false;
  later_.emplace(scalar.stamp.step, std::move(scalar));
  return true;
}

void Recorder::AddFirstLaterLocked(Stamp stamp) {
  CapturedScalar scalar = std::move(later_.begin()->second);
  later_.erase(later_.begin());
  scalar.stamp = stamp;
  const uint64_t bytes = HeldBytes(scalar);
  credit_.Merge(later_room_.Split(bytes));
  batch_.held += bytes;
  batch_.scalars.push_back(std::move(scalar));
}

void Recorder::TakeLaterLocked() {
  while (!later_.empty() && later_.begin()->first <= begun_.step) {
    AddFirstLaterLocked(history_.At(later_.begin()->first));
  }
}

void Recorder::TakeAllLaterLocked() {
  // Where the hook has begun no step, those of the callers are all there are.
  if (begun_.step < 0 && !later_.empty())
    begun_ = later_.rbegin()->second.stamp;
  while (!later_.empty()) AddFirstLaterLocked(later_.begin()->second.stamp);
}

void Recorder::NumberScalarsLocked() {
  StepCounter steps;
  std::set<std::string_view> names;  // Of the step.
  for (CapturedScalar& scalar : batch_.scalars) {
    const bool is_next = steps.step() < 0 || scalar.stamp.mode != steps.mode();
    if (is_next || !names.insert(scalar.name).second) {
      steps.SetMode(scalar.stamp.mode);
      steps.Advance();
      names = {scalar.name};
    }
    scalar.stamp = steps.current();
  }
  if (!batch_.scalars.empty()) begun_ = steps.current();
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
    const uint64_t held = waiting.room.bytes();
    credit_.Merge(std::move(waiting.room));
    AddLocked(std::move(captured), held);
  }
}

bool Recorder::TryAddLocked(CapturedTensor& captured) {
  const uint64_t held = HeldBytes(captured);
  if (!PayLocked(held)) return false;
  AddLocked(std::move(captured), held);
  return true;
}

void Recorder::AddLocked(CapturedTensor&& captured, uint64_t held) {
  recent_.Add(captured);
  batch_.bytes += captured.bytes().size();
  batch_.held += held;
  batch_.tensors.push_back(std::move(captured));
  if (batch_.bytes >= kBatchBytes || batch_.tensors.size() >= kBatchTensors ||
      writer_->IsHurried()) {
    SubmitLocked(/*last_of_step=*/false);
  }
}

}  // namespace smdebug::hook
