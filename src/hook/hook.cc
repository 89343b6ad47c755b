#include "smdebug/hook.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/internal/arriving.h"
#include "src/hook/recorder.h"

namespace smdebug {

Worker Worker::OfRank(int64_t rank, int64_t count) {
  if (rank < 0 || rank >= count) {
    throw ConfigError("rank", std::to_string(rank),
                      fmt::format("0 to {}", count - 1));
  }
  return {.name = fmt::format("worker_{}", rank),
          .count = count,
          .is_chief = rank == 0};
}

Hook::Hook(HookConfig config, const Worker& worker, RuntimeOptions runtime)
    : Hook(std::move(config), worker, runtime, nullptr, nullptr) {}

Hook::Hook(HookConfig config, const Worker& worker, RuntimeOptions runtime,
           std::shared_ptr<Storage> storage,
           std::shared_ptr<Storage> tensorboard)
    : recorder_(std::make_unique<hook::Recorder>(std::move(config), worker,
                                                 runtime, std::move(storage),
                                                 std::move(tensorboard))) {}

std::shared_ptr<void> Hook::CheckOutDir(const HookConfig& config,
                                        const Worker& worker) {
  return hook::Recorder::CheckOutDir(config, worker);
}

std::unique_ptr<Hook> Hook::FromJsonFile(std::string_view path,
                                         Framework framework,
                                         const Worker& worker) {
  return std::make_unique<Hook>(LoadHookConfig(HookConfigPath(path), framework),
                                worker);
}

Hook::~Hook() {
  try {
    // A hook that goes while an exception passes has seen its job fail.
    Close(std::uncaught_exceptions() > exceptions_ ? Ending::kFailed
                                                   : Ending::kFinished);
  } catch (const std::exception&) {
    // A strict hook reports by Close(); a destructor cannot.
  }
  // The thread of a stuck writer, or the parent's thread and locks seen from a
  // forked child, still need what they point at.
  if (recorder_->InChild() || recorder_->stuck())
    static_cast<void>(recorder_.release());
}

void Hook::Configure(HookConfig config) {
  recorder_->Configure(std::move(config));
}

void Hook::SetCollection(const Collection& collection) {
  recorder_->SetCollection(collection);
}

std::optional<Collection> Hook::GetCollection(std::string_view name) const {
  return recorder_->GetCollection(name);
}

void Hook::AddHints(std::span<const std::string> hints) {
  recorder_->Guard("call", [&] { recorder_->AddHints(hints); });
}

void Hook::Observe(std::shared_ptr<StepObserver> observer) {
  recorder_->Observe(std::move(observer));
}

void Hook::SetMode(Mode mode) {
  recorder_->Guard("call", [&] { recorder_->SetMode(mode); });
}

void Hook::BeginStep() {
  recorder_->Guard("call", [&] { recorder_->BeginStep(std::nullopt); });
}

void Hook::BeginStep(int64_t step) {
  recorder_->Guard("call", [&] { recorder_->BeginStep(step); });
}

bool Hook::BeginIdleStep() {
  bool begun = true;  // In a forked child there is never work to do.
  recorder_->Guard("call", [&] { begun = recorder_->BeginIdleStep(); });
  return begun;
}

void Hook::EndStep() {
  recorder_->Guard("call", [&] { recorder_->EndStep(); });
}

bool Hook::Flush(std::optional<std::chrono::milliseconds> timeout) {
  bool is_flushed = false;
  recorder_->Guard("call", [&] { is_flushed = recorder_->Flush(timeout); });
  return is_flushed;
}

bool Hook::StepIsDue() const noexcept { return recorder_->StepIsDue(); }

bool Hook::IsDue(std::string_view name) {
  if (!recorder_->StepIsDue()) return false;
  bool due = false;
  recorder_->Guard("call", [&] { due = recorder_->IsDue(name); });
  return due;
}

bool Hook::IsDue(TensorName& name) {
  if (!recorder_->StepIsDue()) return false;
  bool due = false;
  recorder_->Guard("call", [&] { due = recorder_->IsDue(name); });
  return due;
}

bool Hook::Offer(std::string_view name) {
  if (recorder_->IsLate()) CountLate(name);
  return IsDue(name);
}

bool Hook::Offer(TensorName& name) {
  if (recorder_->IsLate()) CountLate(name.text());
  return IsDue(name);
}

bool Hook::IsIdle() const noexcept {
  return recorder_->IsIdle() || recorder_->InChild();
}

bool Hook::AnyIsDue(std::string_view prefix) {
  if (!recorder_->StepIsDue()) return false;
  bool due = false;
  recorder_->Guard("call", [&] { due = recorder_->AnyIsDue(prefix); });
  return due;
}

uint64_t Hook::due_key() const {
  return recorder_->StepIsDue() ? recorder_->due_key() : 0;
}

void Hook::CountLate(std::string_view name) {
  recorder_->Guard("call", [&] { recorder_->CountLate(name); });
}

void Hook::Save(std::string_view name, const TensorView& tensor) {
  if (recorder_->IsIdle()) return;
  if (recorder_->IsLate()) return CountLate(name);
  recorder_->Guard("capture", [&] { recorder_->Save(name, tensor); });
}

void Hook::Save(TensorName& name, const TensorView& tensor) {
  if (recorder_->IsIdle()) return;
  if (recorder_->IsLate()) return CountLate(name.text());
  recorder_->Guard("capture", [&] { recorder_->Save(name, tensor); });
}

void Hook::SaveAs(std::span<const std::string_view> names,
                  const TensorView& tensor) {
  if (recorder_->IsIdle()) return;
  if (recorder_->IsLate()) {
    for (const std::string_view name : names) CountLate(name);
    return;
  }
  recorder_->Guard("capture", [&] { recorder_->SaveAs(names, tensor); });
}

void Hook::SaveTensor(std::string_view name, const TensorView& tensor,
                      std::span<const std::string_view> collections) {
  recorder_->Guard("capture",
                   [&] { recorder_->SaveTensor(name, tensor, collections); });
}

void Hook::SaveTensorForNextStep(
    std::string_view name, const TensorView& tensor,
    std::span<const std::string_view> collections) {
  recorder_->Guard("capture", [&] {
    recorder_->SaveTensorForNextStep(name, tensor, collections);
  });
}

void Hook::SaveScalar(std::string_view name, double value,
                      const ScalarOptions& options) {
  recorder_->Guard("capture",
                   [&] { recorder_->SaveScalar(name, value, options); });
}

internal::Wanted Hook::WantedOf(std::string_view name) {
  internal::Wanted wanted;
  if (!recorder_->StepIsDue()) return wanted;
  recorder_->Guard("call", [&] { wanted = recorder_->WantedOf(name); });
  return wanted;
}

internal::Wanted Hook::WantedOf(std::string_view name,
                                std::span<const std::string_view> collections) {
  internal::Wanted wanted;
  recorder_->Guard("call",
                   [&] { wanted = recorder_->WantedOf(name, collections); });
  return wanted;
}

std::shared_ptr<const void> Hook::Reserve(
    std::span<const std::string_view> names, uint64_t bytes, bool waits) {
  std::shared_ptr<const void> room;
  recorder_->Guard("capture",
                   [&] { room = recorder_->Reserve(names, bytes, waits); });
  return room;
}

void Hook::SaveArriving(std::string_view name,
                        const internal::ArrivingTensor& tensor) {
  recorder_->Guard("capture", [&] { recorder_->SaveArriving(name, tensor); });
}

void Hook::SaveArriving(std::string_view name,
                        const internal::ArrivingScalar& scalar,
                        const ScalarOptions& options) {
  recorder_->Guard("capture", [&] {
    recorder_->SaveScalar(
        name, 0, options,
        std::make_shared<const internal::ArrivingScalar>(scalar));
  });
}

int64_t Hook::step() const { return recorder_->counter().step(); }
Mode Hook::mode() const { return recorder_->counter().mode(); }
int64_t Hook::mode_step(Mode mode) const {
  return recorder_->counter().mode_step(mode);
}
HookStats Hook::stats() const { return recorder_->stats(); }
const HookConfig& Hook::config() const noexcept { return recorder_->config(); }

const std::string& Hook::worker() const noexcept { return recorder_->worker(); }

std::shared_ptr<Storage> Hook::storage() const noexcept {
  return recorder_->storage();
}

void Hook::Skip(std::string_view name, std::string_view reason) {
  recorder_->Guard("call", [&] { recorder_->Skip(name, reason); });
}

bool Hook::LeaveOut(std::string_view name, std::string_view reason) {
  bool is_strict = false;
  recorder_->Guard("call",
                   [&] { is_strict = recorder_->LeaveOut(name, reason); });
  return is_strict;
}

const std::string& Hook::run_id() const noexcept { return recorder_->run_id(); }

void Hook::Close() { Close(Ending::kFinished); }

void Hook::Close(Ending ending, std::string_view reason) {
  recorder_->Guard("close", [&] { recorder_->Close(ending, reason); });
}

void Hook::Abandon() {
  recorder_->Guard("close", [&] { recorder_->Close(std::nullopt, {}); });
}

}  // namespace smdebug
