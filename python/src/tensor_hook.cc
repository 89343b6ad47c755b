#include "python/src/tensor_hook.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "python/src/bindings.h"
#include "python/src/gil.h"

namespace nb = nanobind;

namespace smdebug::python {
namespace {

// The text of a Python string, which the string keeps alive.
std::string_view TextOf(nb::handle text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (utf8 == nullptr) throw nb::python_error();
  return {utf8, static_cast<size_t>(size)};
}

}  // namespace

std::string ReasonOf(const nb::python_error& error) {
  std::string reason = nb::type_name(error.type()).c_str();
  PyObject* text = PyObject_Str(error.value().ptr());
  if (text != nullptr) {
    reason += fmt::format(": {}", nb::steal<nb::str>(text).c_str());
  } else {
    PyErr_Clear();
  }
  return fmt::format("{}\n{}", reason, error.what());
}

TensorHook::TensorHook(HookConfig config, std::span<const Worker> workers,
                       nb::tuple types, nb::tuple differs, nb::object describe)
    : core_(Hook::OfWorkers(std::move(config), workers)),
      borrower_(std::move(types), std::move(differs), std::move(describe)) {}

void TensorHook::TakeElsewhere(nb::object taker, bool takes_all) {
  take_ = taker.attr("take");
  gather_ = taker.attr("gather");
  settle_ = taker.attr("settle");
  lock_ = taker.attr("lock");
  process_ = getpid();
  takes_all_ = takes_all;
}

// Delegates, so that the lock is released if something is thrown.
TensorHook::Settled::Settled(TensorHook& hook, bool is_urgent) : Settled() {
  // A thread that is not there in a forked child may have the lock.
  if (!hook.has_ever_taken_ || getpid() != hook.process_) return;
  hook.Try("tensors on a device", [&] {
    hook.lock_.attr("acquire")();
    lock_ = hook.lock_;
    if (!hook.has_taken_) return;
    hook.has_taken_ = false;
    if (nb::cast<bool>(hook.settle_(is_urgent))) hook.has_taken_ = true;
  });
}

TensorHook::Settled::~Settled() {
  if (!lock_.is_valid()) return;
  const nb::object done =
      nb::steal(PyObject_CallMethod(lock_.ptr(), "release", nullptr));
  if (!done.is_valid()) PyErr_WriteUnraisable(lock_.ptr());
}

bool TensorHook::IsTaken(std::string_view name, nb::handle tensor,
                         const Manner& manner) {
  bool is_taken = true;  // What has failed is counted.
  Try(name, [&] {
    const nb::object collections = manner.collections == nullptr
                                       ? nb::none()
                                       : nb::cast(*manner.collections);
    has_ever_taken_ = true;
    is_taken =
        nb::cast<bool>(take_(nb::str(name.data(), name.size()), tensor,
                             collections, manner.next_step, manner.is_stable));
  });
  // Also if it failed, perhaps in the next thing. Not before the call, in which
  // another thread may settle.
  has_taken_ = true;
  return is_taken;
}

bool TensorHook::BorrowOrOffer(std::string_view name, nb::handle tensor,
                               BorrowedTensor& borrowed, const Manner& manner) {
  if (!takes_all_ && borrower_.BorrowAtHand(tensor, borrowed)) return true;
  if (take_.is_valid() && IsTaken(name, tensor, manner)) return false;
  return Borrow(name, tensor, borrowed);
}

bool TensorHook::BeginStep(std::optional<int64_t> number) {
  ++steps_begun_;
  {
    const auto settled = Settle(/*is_urgent=*/false);
    const GilRelease released;
    if (number) {
      core_->BeginStep(*number);
    } else {
      core_->BeginStep();
    }
  }
  if (!core_->StepIsDue()) return false;
  RelayLog();
  return true;
}

bool TensorHook::BeginIdleStep() {
  const auto settled = Settle(/*is_urgent=*/false);
  if (!core_->BeginIdleStep()) return false;
  ++steps_begun_;
  return true;
}

bool TensorHook::Borrow(std::string_view name, nb::handle tensor,
                        BorrowedTensor& borrowed) {
  std::string why;
  // Python code of the tensor's class may raise anything.
  if (!Try(name, [&] { why = borrower_.Borrow(tensor, borrowed); })) {
    return false;
  }
  if (!why.empty()) core_->Skip(name, why);
  return why.empty();
}

void TensorHook::Save(std::string_view name, nb::handle tensor) {
  SaveNamed(name, name, tensor);
}

void TensorHook::Save(TensorName& name, nb::handle tensor) {
  SaveNamed(name, name.text(), tensor);
}

void TensorHook::Save(std::string_view name, nb::handle tensor,
                      const SaveOptions& options) {
  SaveNamed(name, name, tensor, options);
}

void TensorHook::SaveGradient(TensorName& name, nb::handle gradient) {
  if (!unscale_.is_valid()) return Save(name, gradient);
  if (!core_->Offer(name)) return;
  nb::object unscaled;
  if (!Try(name.text(), [&] { unscaled = unscale_(gradient); })) return;
  if (nb::isinstance<nb::str>(unscaled)) {
    core_->Skip(name.text(), TextOf(unscaled));
  } else {
    Save(name, unscaled);
  }
}

template <typename Name, typename... Options>
void TensorHook::SaveNamed(Name& name, std::string_view text, nb::handle tensor,
                           const Options&... options) {
  if (!core_->Offer(name)) return;
  BorrowedTensor borrowed;
  if (!BorrowOrOffer(text, tensor, borrowed, {})) return;
  const GilRelease released;
  core_->Save(name, borrowed.view(), options...);
}

void TensorHook::SaveMany(TensorNames& names, nb::list tensors) {
  if (names.size() != tensors.size()) {
    throw nb::value_error("as many names as tensors are needed");
  }
  if (core_->IsIdle()) return;
  std::vector<TensorName*> due_names;
  std::vector<BorrowedTensor> due;
  due_names.reserve(names.size());
  due.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    TensorName& name = names[i];
    if (!core_->Offer(name)) continue;
    BorrowedTensor borrowed;
    if (!BorrowOrOffer(name.text(), tensors[i], borrowed,
                       {.is_stable = true})) {
      continue;
    }
    due_names.push_back(&name);
    due.push_back(std::move(borrowed));
  }
  if (has_taken_) Try("tensors on a device", [&] { gather_(); });
  const GilRelease released;
  for (size_t i = 0; i < due.size(); ++i) {
    core_->Save(*due_names[i], due[i].view());
  }
}

void TensorHook::SaveAs(nb::list names, nb::handle tensor) {
  if (core_->IsIdle()) return;
  std::vector<std::string_view> due;
  for (const nb::handle text : names) {
    const std::string_view name = TextOf(text);
    if (core_->Offer(name)) due.push_back(name);
  }
  BorrowedTensor borrowed;
  if (due.empty() || !Borrow(due.front(), tensor, borrowed)) return;
  const GilRelease released;
  core_->SaveAs(due, borrowed.view());
}

void TensorHook::SaveItems(TensorNames& names, nb::handle tensor) {
  if (core_->IsIdle() || names.size() == 0) return;
  BorrowedTensor borrowed;
  if (Borrow(names[0].text(), tensor, borrowed)) {
    SaveEach(names, borrowed.view());
  }
}

void TensorHook::SaveNumbers(TensorNames& names,
                             const std::vector<double>& numbers) {
  const int64_t shape[] = {static_cast<int64_t>(numbers.size())};
  SaveEach(names, ViewOf<double>(numbers, shape));
}

void TensorHook::SaveEach(TensorNames& names, const TensorView& all) {
  if (all.shape.size() != 1 || all.dtype == DType::kString ||
      static_cast<size_t>(all.shape[0]) != names.size()) {
    throw nb::value_error("as many names as numbers are needed");
  }
  const GilRelease released;
  const int64_t stride = all.strides.empty() ? 1 : all.strides[0];
  const auto width = stride * static_cast<int64_t>(ItemSize(all.dtype));
  constexpr int64_t kShape[] = {1};
  const auto* item = static_cast<const std::byte*>(all.data);
  for (size_t i = 0; i < names.size(); ++i) {
    core_->Save(names[i], {item, all.dtype, kShape, {}});
    item += width;
  }
}

bool TensorHook::SaveImportance(XgboostImportance& importance,
                                uintptr_t booster) {
  const GilRelease released;
  return importance.Save(*core_, reinterpret_cast<void*>(booster));
}

void TensorHook::SaveTensor(std::string_view name, nb::handle tensor,
                            const std::vector<std::string>& collections,
                            bool next_step) {
  BorrowedTensor borrowed;
  if (!BorrowOrOffer(name, tensor, borrowed,
                     {.collections = &collections, .next_step = next_step})) {
    return;
  }
  const std::vector<std::string_view> views(collections.begin(),
                                            collections.end());
  const GilRelease released;
  if (next_step) {
    core_->SaveTensorForNextStep(name, borrowed.view(), views);
  } else {
    core_->SaveTensor(name, borrowed.view(), views);
  }
}

std::vector<bool> TensorHook::AreDue(nb::list names) {
  std::vector<bool> due;
  due.reserve(names.size());
  for (const nb::handle name : names) due.push_back(core_->IsDue(TextOf(name)));
  return due;
}

std::vector<bool> TensorHook::PrefixesAreDue(nb::list prefixes) {
  std::vector<bool> due;
  due.reserve(prefixes.size());
  for (const nb::handle prefix : prefixes) {
    due.push_back(core_->AnyIsDue(TextOf(prefix)));
  }
  return due;
}

}  // namespace smdebug::python
