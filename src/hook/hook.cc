#include "smdebug/hook.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/internal/arriving.h"
#include "src/hook/recorder.h"
#include "src/hook/workers.h"

namespace smdebug {
namespace {

std::string_view TextOf(std::string_view name) { return name; }
std::string_view TextOf(const TensorName& name) { return name.text(); }

}  // namespace

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

std::unique_ptr<Hook> Hook::OfWorkers(HookConfig config,
                                      std::span<const Worker> workers,
                                      RuntimeOptions runtime,
                                      const std::shared_ptr<Storage>& storage,
                                      std::shared_ptr<Storage> tensorboard) {
  hook::Check(workers);
  if (config.include_workers == IncludeWorkers::kAll) {
    runtime.buffer_bytes /= workers.size();
  }
  auto made = std::make_unique<Hook>(config, workers.front(), runtime, storage,
                                     std::move(tensorboard));
  config.export_tensorboard = false;
  config.tensorboard_dir.clear();
  try {
    for (const Worker& worker : workers.subspan(1)) {
      made->others_.push_back(std::make_unique<hook::Recorder>(
          config, worker, runtime, storage, nullptr));
    }
  } catch (...) {
    made->Abandon();  // The next start finds no run that has failed.
    throw;
  }
  return made;
}

template <typename Body>
void Hook::ForEach(std::string_view kind, const Body& body) {
  if (others_.empty()) {
    recorder_->Guard(kind, [&] { body(*recorder_); });
    return;
  }
  std::exception_ptr thrown;  // By a strict hook; the others go on.
  const auto call = [&](hook::Recorder& one) {
    try {
      one.Guard(kind, [&] { body(one); });
    } catch (...) {
      if (thrown == nullptr) thrown = std::current_exception();
    }
  };
  call(*recorder_);
  for (const auto& other : others_) call(*other);
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

template <typename Predicate>
bool Hook::AnyOf(const Predicate& is_so) const {
  return is_so(*recorder_) ||
         std::ranges::any_of(others_,
                             [&](const auto& other) { return is_so(*other); });
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
  const auto let_go = [](std::unique_ptr<hook::Recorder>& recorder) {
    if (recorder->InChild() || recorder->stuck())
      static_cast<void>(recorder.release());
  };
  let_go(recorder_);
  std::ranges::for_each(others_, let_go);
}

hook::Recorder* Hook::Find(size_t worker, std::string_view name) {
  if (worker == 0) return recorder_.get();
  if (worker <= others_.size()) return others_[worker - 1].get();
  const ConfigError error("worker", std::to_string(worker),
                          fmt::format("0 to {}", others_.size()));
  if (LeaveOut(name, error.what())) throw error;
  return nullptr;
}

void Hook::Configure(HookConfig config) {
  for (const auto& other : others_) other->Configure(config);
  recorder_->Configure(std::move(config));
}

void Hook::SetCollection(const Collection& collection) {
  recorder_->SetCollection(collection);
  for (const auto& other : others_) other->SetCollection(collection);
}

std::optional<Collection> Hook::GetCollection(std::string_view name) const {
  return recorder_->GetCollection(name);
}

std::vector<Collection> Hook::Collections() const {
  return recorder_->Collections();
}

void Hook::AddHints(std::span<const std::string> hints) {
  ForEach("call", [&](hook::Recorder& one) { one.AddHints(hints); });
}

void Hook::Observe(std::shared_ptr<StepObserver> observer) {
  recorder_->Observe(std::move(observer));
}

void Hook::SetMode(Mode mode) {
  ForEach("call", [&](hook::Recorder& one) { one.SetMode(mode); });
}

void Hook::BeginStep() {
  ForEach("call", [](hook::Recorder& one) { one.BeginStep(std::nullopt); });
}

void Hook::BeginStep(int64_t step) {
  ForEach("call", [&](hook::Recorder& one) { one.BeginStep(step); });
}

bool Hook::BeginIdleStep() {
  bool begun = true;  // In a forked child there is never work to do.
  if (others_.empty()) {
    recorder_->Guard("call", [&] { begun = recorder_->BeginIdleStep(); });
    return begun;
  }
  ForEach("call", [&](hook::Recorder& one) { begun &= !one.NextIsDue(); });
  if (begun) BeginStep();
  return begun;
}

void Hook::EndStep() {
  ForEach("call", [](hook::Recorder& one) { one.EndStep(); });
}

bool Hook::Flush(std::optional<std::chrono::milliseconds> timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  size_t flushed = 0;
  ForEach("call", [&](hook::Recorder& one) {
    std::optional<std::chrono::milliseconds> left = timeout;
    if (left) {
      left = std::max(std::chrono::milliseconds(0),
                      *left - std::chrono::floor<std::chrono::milliseconds>(
                                  Clock::now() - begin));
    }
    if (one.Flush(left)) ++flushed;
  });
  return flushed == 1 + others_.size();
}

bool Hook::StepIsDue() const noexcept {
  return AnyOf([](const hook::Recorder& one) { return one.StepIsDue(); });
}

bool Hook::IsDue(std::string_view name) {
  if (!StepIsDue()) return false;
  bool due = false;
  ForEach("call", [&](hook::Recorder& one) {
    due = due || (one.StepIsDue() && one.IsDue(name));
  });
  return due;
}

bool Hook::IsDue(TensorName& name) {
  if (!others_.empty()) return IsDue(std::string_view(name.text()));
  if (!recorder_->StepIsDue()) return false;
  bool due = false;
  recorder_->Guard("call", [&] { due = recorder_->IsDue(name); });
  return due;
}

bool Hook::Offer(std::string_view name) {
  CountIfLate(name);
  return IsDue(name);
}

bool Hook::Offer(TensorName& name) {
  CountIfLate(name.text());
  return IsDue(name);
}

bool Hook::IsIdle() const noexcept {
  return recorder_->InChild() ||
         !AnyOf([](const hook::Recorder& one) { return !one.IsIdle(); });
}

bool Hook::AnyIsDue(std::string_view prefix) {
  if (!StepIsDue()) return false;
  bool due = false;
  ForEach("call", [&](hook::Recorder& one) {
    due = due || (one.StepIsDue() && one.AnyIsDue(prefix));
  });
  return due;
}

uint64_t Hook::due_key() const {
  uint64_t key = 0;
  AnyOf([&](const hook::Recorder& one) {
    if (one.StepIsDue()) key = one.due_key();
    return key != 0;
  });
  return key;
}

void Hook::CountIfLate(std::string_view name) {
  if (!AnyOf([](const hook::Recorder& one) { return one.IsLate(); })) return;
  ForEach("call", [&](hook::Recorder& one) {
    if (one.IsLate()) one.CountLate(name);
  });
}

template <typename Name>
void Hook::SaveIn(hook::Recorder& recorder, Name& name,
                  const TensorView& tensor) {
  if (recorder.IsIdle()) return;
  if (recorder.IsLate()) {
    recorder.Guard("call", [&] { recorder.CountLate(TextOf(name)); });
  } else {
    recorder.Guard("capture", [&] { recorder.Save(name, tensor); });
  }
}

void Hook::Save(std::string_view name, const TensorView& tensor) {
  if (recorder_->IsIdle() && others_.empty()) return;
  SaveIn(*recorder_, name, tensor);
  for (const auto& other : others_) SaveIn(*other, name, tensor);
}

void Hook::Save(TensorName& name, const TensorView& tensor) {
  if (recorder_->IsIdle() && others_.empty()) return;
  SaveIn(*recorder_, name, tensor);
  // What it keeps is of one recorder.
  for (const auto& other : others_) {
    if (other->IsIdle()) continue;
    TensorName again(name.text(), name.original_name());
    SaveIn(*other, again, tensor);
  }
}

void Hook::Save(std::string_view name, const TensorView& tensor,
                const SaveOptions& options) {
  if (IsIdle()) return;
  const auto save = [&](auto& as) {
    if (!options.worker) return Save(as, tensor);
    if (hook::Recorder* const one = Find(*options.worker, name)) {
      SaveIn(*one, as, tensor);
    }
  };
  if (options.original_name.empty()) return save(name);
  TensorName once{std::string(name), std::string(options.original_name)};
  save(once);
}

void Hook::SaveAs(std::span<const std::string_view> names,
                  const TensorView& tensor) {
  for (const std::string_view name : names) CountIfLate(name);
  ForEach("capture", [&](hook::Recorder& one) {
    if (one.StepIsDue()) one.SaveAs(names, tensor);
  });
}

void Hook::SaveTensor(std::string_view name, const TensorView& tensor,
                      std::span<const std::string_view> collections) {
  ForEach("capture", [&](hook::Recorder& one) {
    one.SaveTensor(name, tensor, collections);
  });
}

void Hook::SaveTensorForNextStep(
    std::string_view name, const TensorView& tensor,
    std::span<const std::string_view> collections) {
  ForEach("capture", [&](hook::Recorder& one) {
    one.SaveTensorForNextStep(name, tensor, collections);
  });
}

void Hook::SaveScalar(std::string_view name, double value,
                      const ScalarOptions& options) {
  const auto save = [&](hook::Recorder& one) {
    one.SaveScalar(name, value, options);
  };
  if (!options.worker) return ForEach("capture", save);
  if (hook::Recorder* const one = Find(*options.worker, name)) {
    one->Guard("capture", [&] { save(*one); });
  }
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
  ForEach("capture",
          [&](hook::Recorder& one) { one.SaveArriving(name, tensor); });
}

void Hook::SaveArriving(std::string_view name,
                        const internal::ArrivingScalar& scalar,
                        const ScalarOptions& options) {
  ForEach("capture", [&](hook::Recorder& one) {
    one.SaveScalar(name, 0, options,
                   std::make_shared<const internal::ArrivingScalar>(scalar));
  });
}

int64_t Hook::step() const { return recorder_->counter().step(); }
Mode Hook::mode() const { return recorder_->counter().mode(); }
int64_t Hook::mode_step(Mode mode) const {
  return recorder_->counter().mode_step(mode);
}
HookStats Hook::stats() const {
  HookStats stats = recorder_->stats();
  for (const auto& other : others_) stats += other->stats();
  return stats;
}
const HookConfig& Hook::config() const noexcept { return recorder_->config(); }

const std::string& Hook::worker() const noexcept { return recorder_->worker(); }

std::vector<std::string> Hook::workers() const {
  std::vector<std::string> names = {recorder_->worker()};
  for (const auto& other : others_) names.push_back(other->worker());
  return names;
}

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
  ForEach("close", [&](hook::Recorder& one) { one.Close(ending, reason); });
}

void Hook::Abandon() {
  ForEach("close", [](hook::Recorder& one) { one.Close(std::nullopt, {}); });
}

}  // namespace smdebug
