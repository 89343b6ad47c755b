#include "python/src/callbacks.h"

#include <utility>

#include <fmt/format.h>

namespace nb = nanobind;

namespace smdebug::python {
namespace {

// A structure that holds itself ends here.
constexpr int kDeepest = 32;

// A module that runs more often than this within a step has its later tensors
// looked up.
constexpr size_t kMostNames = 64;

}  // namespace

void NumberedNames::Save(TensorHook& hook, int64_t number, nb::handle tensor) {
  const auto i = static_cast<size_t>(number);
  if (i < names_.size()) return hook.Save(names_[i], tensor);
  std::string name = fmt::format("{}{}", prefix_, number);
  if (i >= kMostNames) return hook.Save(name, tensor);
  hook.Save(names_.emplace_back(std::move(name)), tensor);
}

ForwardCallback::ForwardCallback(nb::object hook, std::string name,
                                 std::string input_prefix,
                                 std::string output_prefix,
                                 nb::object recomputing)
    : owner_(std::move(hook)),
      hook_(nb::cast<TensorHook&>(owner_)),
      name_(std::move(name)),
      input_(std::move(input_prefix)),
      output_(std::move(output_prefix)),
      recomputing_(std::move(recomputing)) {}

void ForwardCallback::operator()(nb::handle args, nb::handle kwargs,
                                 nb::handle output) {
  if (hook_.core().IsIdle()) return;
  hook_.Try(name_, [&] { Save(args, kwargs, output); });
}

void ForwardCallback::Save(nb::handle args, nb::handle kwargs,
                           nb::handle output) {
  if (!recomputing_.is_none() && nb::cast<int64_t>(recomputing_()) != -1) {
    return;
  }
  if (step_ != hook_.steps_begun()) {
    step_ = hook_.steps_begun();
    inputs_ = 0;
    outputs_ = 0;
  }
  SaveAll(args, input_, inputs_);
  if (kwargs.is_valid() && PyDict_Size(kwargs.ptr()) > 0) {
    Walk(kwargs, Pass::kOther, /*in_dict=*/false, 0, input_, inputs_);
  }
  SaveAll(output, output_, outputs_);
}

void ForwardCallback::SaveAll(nb::handle values, NumberedNames& names,
                              int64_t& count) {
  Walk(values, Pass::kPlain, /*in_dict=*/false, 0, names, count);
  Walk(values, Pass::kOther, /*in_dict=*/false, 0, names, count);
}

void ForwardCallback::Walk(nb::handle value, Pass pass, bool in_dict, int depth,
                           NumberedNames& names, int64_t& count) {
  PyObject* object = value.ptr();
  if (depth > kDeepest) return;
  if (PyTuple_Check(object) || PyList_Check(object)) {
    const auto items = nb::borrow<nb::sequence>(value);
    for (const nb::handle item : items) {
      Walk(item, pass, in_dict, depth + 1, names, count);
    }
    return;
  }
  if (PyDict_Check(object)) {
    if (pass == Pass::kPlain) return;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &item) != 0) {
      Walk(nb::borrow(item), pass, /*in_dict=*/true, depth + 1, names, count);
    }
    return;
  }
  if (!hook_.borrower().IsTensor(value)) return;
  const bool plain = !in_dict && hook_.borrower().IsPlainTensor(value);
  if (plain != (pass == Pass::kPlain)) return;
  names.Save(hook_, count++, value);
}

GradientCallback::GradientCallback(nb::object hook, std::string name)
    : owner_(std::move(hook)),
      hook_(nb::cast<TensorHook&>(owner_)),
      name_(std::move(name)) {}

void GradientCallback::operator()(nb::handle gradient) {
  if (!hook_.core().IsIdle()) hook_.SaveGradient(name_, gradient);
}

}  // namespace smdebug::python
