#include "python/src/seen_module.h"

#include <cstddef>
#include <unordered_set>
#include <utility>

#include "python/src/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

// An attribute that lies in the object itself, as those of modules do. Asking
// the class first, as Python does, takes longer.
nb::object Own(nb::handle object, nb::handle name) {
  PyObject* dict = PyObject_GenericGetDict(object.ptr(), nullptr);
  if (dict != nullptr) {
    const auto owner = nb::steal(dict);
    PyObject* value = PyDict_GetItemWithError(dict, name.ptr());
    if (value != nullptr) return nb::borrow(value);
  }
  PyErr_Clear();
  return nb::getattr(object, name);
}

// Calls `visit(key, value)` for what is in a dict, or in what is like one, but
// for None, until it gives false.
template <typename Visit>
bool ForEach(nb::handle dict, const Visit& visit) {
  if (PyDict_CheckExact(dict.ptr())) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict.ptr(), &position, &key, &value) != 0) {
      if (value == Py_None) continue;
      // Python code may run meanwhile, and change the dict.
      if (!visit(nb::borrow(key), nb::borrow(value))) return false;
    }
    return true;
  }
  PyObject* items = PyMapping_Items(dict.ptr());
  if (items == nullptr) throw nb::python_error();
  for (const nb::handle item : nb::steal<nb::list>(items)) {
    const auto pair = nb::cast<nb::tuple>(item);
    const nb::object value = pair[1];
    if (!value.is_none() && !visit(nb::object(pair[0]), value)) return false;
  }
  return true;
}

bool IsSame(nb::handle one, nb::handle other) {
  if (one.is(other)) return true;
  const int same = PyObject_RichCompareBool(one.ptr(), other.ptr(), Py_EQ);
  if (same < 0) throw nb::python_error();
  return same == 1;
}

}  // namespace

// Whether what comes is what was seen.
class SeenModule::Comparison {
 public:
  explicit Comparison(const std::vector<Part>& parts) : parts_(parts) {}

  bool Parameter(nb::handle name, nb::handle parameter) {
    const Part* part = Next(name, parameter);
    if (part == nullptr || part->type != Py_TYPE(parameter.ptr())) return false;
    if (part->is_first) parameters_.append(parameter);
    return true;
  }

  // Sets whether what is in the module comes next.
  bool Module(nb::handle name, nb::handle module, bool& is_first) {
    const Part* part = Next(name, module);
    if (part == nullptr) return false;
    is_first = part->is_first;
    return !is_first || part->reference().is(module);
  }

  bool IsAtEnd() const { return next_ == parts_.size(); }
  nb::list parameters() const { return parameters_; }

 private:
  const Part* Next(nb::handle name, nb::handle object) {
    if (next_ == parts_.size()) return nullptr;
    const Part& part = parts_[next_++];
    const bool fits = part.object == object.ptr() && IsSame(part.name, name);
    return fits ? &part : nullptr;
  }

  const std::vector<Part>& parts_;
  size_t next_ = 0;
  nb::list parameters_;
};

// Takes down what comes.
class SeenModule::Note {
 public:
  Note(nb::handle parameter_type, SeenModule& seen)
      : parameter_type_(parameter_type), seen_(seen) {}

  bool Parameter(nb::object name, nb::handle parameter) {
    seen_.is_plain_ &= parameter_type_.is(parameter.type());
    seen_.parts_.push_back({.object = parameter.ptr(),
                            .type = Py_TYPE(parameter.ptr()),
                            .name = std::move(name),
                            .is_first = IsFirst(parameter)});
    return true;
  }

  bool Module(nb::object name, nb::handle module, bool& is_first) {
    is_first = IsFirst(module);
    seen_.parts_.push_back(
        {.object = module.ptr(),
         .name = std::move(name),
         .reference = is_first ? nb::object(nb::weakref(module)) : nb::object(),
         .is_first = is_first});
    return true;
  }

 private:
  bool IsFirst(nb::handle object) { return known_.insert(object.ptr()).second; }

  const nb::handle parameter_type_;
  SeenModule& seen_;
  std::unordered_set<const PyObject*> known_;
};

SeenModule::SeenModule(nb::handle module, nb::handle parameter_type,
                       bool with_parameters)
    : with_parameters_(with_parameters) {
  bool is_first = false;
  Note note(parameter_type, *this);
  note.Module(nb::none(), module, is_first);
  Walk(module, note);
}

template <typename Visitor>
bool SeenModule::Walk(nb::handle module, Visitor& visitor) const {
  static PyObject* const kParameters =
      PyUnicode_InternFromString("_parameters");
  static PyObject* const kModules = PyUnicode_InternFromString("_modules");
  const auto parameter = [&](nb::object name, nb::object value) {
    return visitor.Parameter(std::move(name), value);
  };
  const auto child = [&](nb::object name, nb::object value) {
    bool is_first = false;
    if (!visitor.Module(std::move(name), value, is_first)) return false;
    return !is_first || Walk(value, visitor);
  };
  return (!with_parameters_ || ForEach(Own(module, kParameters), parameter)) &&
         ForEach(Own(module, kModules), child);
}

nb::object SeenModule::Look(nb::handle module) const {
  bool is_first = false;
  Comparison comparison(parts_);
  if (comparison.Module(nb::none(), module, is_first) &&
      Walk(module, comparison) && comparison.IsAtEnd()) {
    return comparison.parameters();
  }
  return nb::none();
}

void InitSeenModule(nb::module_& m) {
  nb::class_<SeenModule>(m, "SeenModule")
      .def(nb::init<nb::handle, nb::handle, bool>(), "module"_a,
           "parameter_type"_a, "with_parameters"_a)
      .def("look", &SeenModule::Look, "module"_a,
           nb::sig("def look(self, module: object) -> list | None"),
           "The parameters in `module`; None if it has changed.")
      .def_prop_ro("is_plain", &SeenModule::is_plain,
                   "Whether all parameters were of the class itself.");
}

}  // namespace smdebug::python
