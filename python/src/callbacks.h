#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include "python/src/tensor_hook.h"

// What a framework calls while it trains. Python objects that can be called,
// without Python code of their own. They raise nothing: see Hook::Try().
namespace smdebug::python {

// "<prefix>0", "<prefix>1" and so on. Needs the GIL.
class NumberedNames {
 public:
  explicit NumberedNames(std::string prefix) : prefix_(std::move(prefix)) {}

  // Saves `tensor` under the name of that number, which is not above all those
  // before by more than one.
  void Save(TensorHook& hook, int64_t number, nanobind::handle tensor);

 private:
  const std::string prefix_;
  // The first ones. Stay where they are: others may be saving meanwhile.
  std::deque<TensorName> names_;
};

// Saves the inputs and outputs of one module as <input prefix><i> and <output
// prefix><i>. i counts the tensors over all calls within a step.
//
// Tensors are found in tuples and lists, however deep. After those of the
// framework's own class, which smdebug 1.0 sees, come the others: of classes
// below it, in dicts, and among the keyword arguments.
class ForwardCallback {
 public:
  // What fails is told of `name`. `recomputing` is asked before each call and
  // tells, by a number that is not -1, that the framework runs the module again
  // only to get its gradients.
  ForwardCallback(nanobind::object hook, std::string name,
                  std::string input_prefix, std::string output_prefix,
                  nanobind::object recomputing);

  void operator()(nanobind::handle args, nanobind::handle kwargs,
                  nanobind::handle output);

 private:
  // Which tensors are meant: the plain ones where smdebug 1.0 looks, or the
  // rest.
  enum class Pass : uint8_t { kPlain, kOther };

  void Save(nanobind::handle args, nanobind::handle kwargs,
            nanobind::handle output);
  void SaveAll(nanobind::handle values, NumberedNames& names, int64_t& count);
  void Walk(nanobind::handle value, Pass pass, bool in_dict, int depth,
            NumberedNames& names, int64_t& count);

  const nanobind::object owner_;  // Keeps hook_ alive.
  TensorHook& hook_;
  const std::string name_;
  NumberedNames input_;
  NumberedNames output_;
  const nanobind::object recomputing_;
  uint64_t step_ = 0;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
};

// Saves the gradient that it is called with under a name.
class GradientCallback {
 public:
  GradientCallback(nanobind::object hook, std::string name);
  void operator()(nanobind::handle gradient);

 private:
  const nanobind::object owner_;  // Keeps hook_ alive.
  TensorHook& hook_;
  TensorName name_;
};

}  // namespace smdebug::python
