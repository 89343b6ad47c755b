#pragma once

#include <vector>

#include <nanobind/nanobind.h>

namespace smdebug::python {

// What was in a module of PyTorch at a moment: the modules and parameters, by
// the names that they had there. Tells in microseconds whether that is still
// so, since it makes nothing of Python but the list it returns.
//
// Keeps none of them alive; of parameters it knows no more than where they are,
// for PyTorch refuses to swap the contents of those with weak references. Where
// another has taken the place of one that is gone, unseen in between, it is
// taken for the same. Does not change. Needs the GIL.
class SeenModule {
 public:
  // `parameter_type` is the class of ordinary parameters.
  SeenModule(nanobind::handle module, nanobind::handle parameter_type,
             bool with_parameters);

  // The parameters in `module`, each once, in the order of its
  // named_parameters(). None if anything in it is not what it was.
  nanobind::object Look(nanobind::handle module) const;

  // Whether the parameters were all of the ordinary class.
  bool is_plain() const noexcept { return is_plain_; }

 private:
  // A parameter or a module where it occurs. Not of its first place if it is in
  // several.
  struct Part {
    const PyObject* object = nullptr;
    const PyTypeObject* type = nullptr;
    nanobind::object name = {};
    nanobind::object reference = {};  // A weak one, of a module.
    bool is_first = true;
  };
  class Comparison;
  class Note;

  template <typename Visitor>
  bool Walk(nanobind::handle module, Visitor& visitor) const;

  const bool with_parameters_;
  bool is_plain_ = true;
  std::vector<Part> parts_;  // In the order in which they are come by.
};

}  // namespace smdebug::python
