#include <optional>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "python/src/core_call.h"
#include "smdebug/trial.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using OptionalWorker = std::optional<std::string>;
using InCore = nb::call_guard<CoreCall>;

WorkerName NameOf(const OptionalWorker& worker) {
  return worker ? WorkerName(*worker) : std::nullopt;
}

// ("mean", True) for the mean of the absolute values.
nb::tuple KeyOf(Reduction reduction) {
  const std::string_view name = OpName(reduction.op);
  return nb::make_tuple(nb::str(name.data(), name.size()), reduction.abs);
}

nb::object ValueAt(const Tensor& tensor, int64_t step, int mode,
                   const OptionalWorker& worker) {
  return ArrayFrom(CallCore(
      [&] { return tensor.At(step, ModeFrom(mode), NameOf(worker)); }));
}

nb::dict Values(const Tensor& tensor, int mode, const OptionalWorker& worker) {
  const auto values =
      CallCore([&] { return tensor.Values(ModeFrom(mode), NameOf(worker)); });
  nb::dict by_step;
  for (const auto& [step, value] : values) {
    by_step[nb::int_(step)] = ArrayFrom(value);
  }
  return by_step;
}

double ReductionValue(const Tensor& tensor, int64_t step,
                      const std::string& name, int mode,
                      const OptionalWorker& worker, bool abs) {
  const Reduction reduction = ReductionFrom(name, abs);
  return CallCore([&] {
    return tensor.ReductionValue(step, reduction, ModeFrom(mode),
                                 NameOf(worker));
  });
}

nb::dict ReductionValues(const Tensor& tensor, int64_t step, int mode,
                         const OptionalWorker& worker) {
  const auto values = CallCore([&] {
    return tensor.ReductionValues(step, ModeFrom(mode), NameOf(worker));
  });
  nb::dict by_key;
  for (const auto& [reduction, value] : values) {
    by_key[KeyOf(reduction)] = value;
  }
  return by_key;
}

nb::tuple ShapeAt(const Tensor& tensor, int64_t step, int mode,
                  const OptionalWorker& worker) {
  return TupleFrom(CallCore(
      [&] { return tensor.Shape(step, ModeFrom(mode), NameOf(worker)); }));
}

nb::dict Shapes(const Tensor& tensor, int mode, const OptionalWorker& worker) {
  const auto shapes =
      CallCore([&] { return tensor.Shapes(ModeFrom(mode), NameOf(worker)); });
  nb::dict by_step;
  for (const auto& [step, shape] : shapes) {
    by_step[nb::int_(step)] = TupleFrom(shape);
  }
  return by_step;
}

nb::object Counts(const Tensor& tensor, int64_t step, int mode,
                  const OptionalWorker& worker) {
  const auto counts = CallCore(
      [&] { return tensor.Counts(step, ModeFrom(mode), NameOf(worker)); });
  if (!counts) return nb::none();
  nb::dict numbers;
  numbers["count"] = counts->count;
  numbers["nan"] = counts->nan;
  numbers["pos_inf"] = counts->pos_inf;
  numbers["neg_inf"] = counts->neg_inf;
  numbers["zero"] = counts->zero;
  return numbers;
}

// (bytes of the value or None, the keys of the reductions).
nb::tuple SavedAt(const Tensor& tensor, int64_t step, int mode,
                  const OptionalWorker& worker) {
  const Tensor::Saved saved = CallCore(
      [&] { return tensor.SavedAt(step, ModeFrom(mode), NameOf(worker)); });
  nb::list reductions;
  for (const Reduction reduction : saved.reductions) {
    reductions.append(KeyOf(reduction));
  }
  return nb::make_tuple(
      saved.value ? std::optional(saved.value_bytes) : std::nullopt,
      reductions);
}

std::vector<int64_t> Steps(const Tensor& tensor, int mode, bool incomplete) {
  return tensor.Steps(ModeFrom(mode), incomplete);
}

std::vector<std::string> Workers(const Tensor& tensor, int64_t step, int mode) {
  return tensor.Workers(step, ModeFrom(mode));
}

std::vector<int64_t> PrevSteps(const Tensor& tensor, int64_t step, size_t count,
                               int mode) {
  return tensor.PrevSteps(step, count, ModeFrom(mode));
}

}  // namespace

void InitTensor(nb::module_& m) {
  InitConvert(m);
  nb::class_<Tensor>(m, "Tensor")
      .def_prop_ro("name", &Tensor::name)
      .def_prop_ro("original_name", &Tensor::original_name, InCore())
      .def("steps", &Steps, "mode"_a, "incomplete"_a, InCore())
      .def("value", &ValueAt, "step"_a, "mode"_a, "worker"_a.none())
      .def("values", &Values, "mode"_a, "worker"_a.none())
      .def("reduction_value", &ReductionValue, "step"_a, "name"_a, "mode"_a,
           "worker"_a.none(), "abs"_a)
      .def("reduction_values", &ReductionValues, "step"_a, "mode"_a,
           "worker"_a.none())
      .def("shape", &ShapeAt, "step"_a, "mode"_a, "worker"_a.none())
      .def("shapes", &Shapes, "mode"_a, "worker"_a.none())
      .def("counts", &Counts, "step"_a, "mode"_a, "worker"_a.none())
      .def("saved", &SavedAt, "step"_a, "mode"_a, "worker"_a.none())
      .def("workers", &Workers, "step"_a, "mode"_a, InCore())
      .def("prev_steps", &PrevSteps, "step"_a, "count"_a, "mode"_a, InCore());
}

}  // namespace smdebug::python
