#include <chrono>
#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "smdebug/trial.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using OptionalWorker = std::optional<std::string>;
using Released = nb::call_guard<nb::gil_scoped_release>;

WorkerName NameOf(const OptionalWorker& worker) {
  return worker ? WorkerName(*worker) : std::nullopt;
}

std::unique_ptr<Trial> OpenTrial(const std::string& path,
                                 const std::string& name,
                                 std::optional<int64_t> begin,
                                 std::optional<int64_t> end) {
  TrialOptions options = TrialOptions::FromEnvironment();
  options.name = name;
  options.begin_step = begin;
  options.end_step = end;
  // In slices, so that an interrupt is seen while the run does not appear.
  return Trial::Open(path, options);
}

std::vector<std::string> TensorNames(Trial& trial, std::optional<int64_t> step,
                                     int mode, std::vector<std::string> regexes,
                                     std::optional<std::string> collection) {
  return trial.TensorNames({.step = step,
                            .mode = ModeFrom(mode),
                            .regexes = std::move(regexes),
                            .collection = std::move(collection)});
}

Reduction ReductionFrom(const std::string& name, bool abs) {
  const auto reduction = ParseReduction(name);
  if (!reduction) {
    throw ConfigError("reduction", name,
                      "min, max, mean, median, std, variance, sum, prod, l1 or "
                      "l2");
  }
  return {reduction->op, reduction->abs || abs};
}

// Runs `call` without the GIL.
template <typename Call>
auto Unlocked(Call call) {
  const nb::gil_scoped_release released;
  return call();
}

void BindTensor(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor")
      .def_prop_ro("name", &Tensor::name)
      .def_prop_ro("original_name", &Tensor::original_name)
      .def(
          "steps",
          [](const Tensor& t, int mode, bool incomplete) {
            return t.Steps(ModeFrom(mode), incomplete);
          },
          "mode"_a, "incomplete"_a, Released())
      .def(
          "value",
          [](const Tensor& t, int64_t step, int mode,
             const OptionalWorker& worker) {
            return ArrayFrom(Unlocked(
                [&] { return t.At(step, ModeFrom(mode), NameOf(worker)); }));
          },
          "step"_a, "mode"_a, "worker"_a.none())
      .def(
          "values",
          [](const Tensor& t, int mode, const OptionalWorker& worker) {
            const auto values = Unlocked(
                [&] { return t.Values(ModeFrom(mode), NameOf(worker)); });
            nb::dict by_step;
            for (const auto& [step, value] : values) {
              by_step[nb::int_(step)] = ArrayFrom(value);
            }
            return by_step;
          },
          "mode"_a, "worker"_a.none())
      .def(
          "reduction_value",
          [](const Tensor& t, int64_t step, const std::string& name, int mode,
             const OptionalWorker& worker, bool abs) {
            const Reduction reduction = ReductionFrom(name, abs);
            return ArrayFrom(Unlocked([&] {
              return t.ReductionValue(step, reduction, ModeFrom(mode),
                                      NameOf(worker));
            }));
          },
          "step"_a, "name"_a, "mode"_a, "worker"_a.none(), "abs"_a)
      .def(
          "reduction_values",
          [](const Tensor& t, int64_t step, int mode,
             const OptionalWorker& worker) {
            const auto values = Unlocked([&] {
              return t.ReductionValues(step, ModeFrom(mode), NameOf(worker));
            });
            nb::dict by_name;
            for (const auto& [reduction, value] : values) {
              const std::string_view name = OpName(reduction.op);
              by_name[nb::make_tuple(nb::str(name.data(), name.size()),
                                     reduction.abs)] = ArrayFrom(value);
            }
            return by_name;
          },
          "step"_a, "mode"_a, "worker"_a.none())
      .def(
          "shape",
          [](const Tensor& t, int64_t step, int mode,
             const OptionalWorker& worker) {
            return TupleFrom(Unlocked(
                [&] { return t.Shape(step, ModeFrom(mode), NameOf(worker)); }));
          },
          "step"_a, "mode"_a, "worker"_a.none())
      .def(
          "workers",
          [](const Tensor& t, int64_t step, int mode) {
            return t.Workers(step, ModeFrom(mode));
          },
          "step"_a, "mode"_a, Released())
      .def(
          "prev_steps",
          [](const Tensor& t, int64_t step, size_t count, int mode) {
            return t.PrevSteps(step, count, ModeFrom(mode));
          },
          "step"_a, "count"_a, "mode"_a, Released());
}

}  // namespace

void InitTrial(nb::module_& m) {
  InitConvert(m);
  BindTensor(m);
  nb::class_<Trial>(m, "Trial")
      .def(nb::new_(&OpenTrial), "path"_a, "name"_a, "begin"_a.none(),
           "end"_a.none(), Released())
      .def_prop_ro("name", &Trial::name)
      .def_prop_ro("path", &Trial::path)
      .def("tensor_names", &TensorNames, "step"_a.none(), "mode"_a, "regexes"_a,
           "collection"_a.none(), Released())
      .def("has_tensor", &Trial::HasTensor, "name"_a, Released())
      .def("tensor", &Trial::tensor, "name"_a, nb::keep_alive<0, 1>(),
           Released());
}

}  // namespace smdebug::python
