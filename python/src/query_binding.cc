#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "python/src/core_call.h"
#include "python/src/trial_binding.h"
#include "smdebug/query.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

// A NumPy array of these numbers, which it keeps.
template <typename T>
nb::object Column(std::vector<T> numbers) {
  auto* kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()},
                                                owner)
      .cast();
}

nb::dict Table(const OwnTrial& trial, std::vector<std::string> tensors,
               int mode, std::optional<std::string> worker,
               const std::vector<std::string>& reductions) {
  query::TableQuery query = {.tensors = std::move(tensors),
                             .mode = ModeFrom(mode),
                             .worker = std::move(worker)};
  for (const std::string& name : reductions) {
    query.reductions.push_back(ReductionFrom(name));
  }
  query::Table table =
      CallCore([&] { return query::ReadTable(*trial, query); });
  std::vector<std::string> modes;
  for (const Mode each : kModes) modes.emplace_back(ModeName(each));
  std::vector<uint32_t> mode_places;
  mode_places.reserve(table.size());
  for (const Mode each : table.modes) {
    mode_places.push_back(static_cast<uint32_t>(ModeIndex(each)));
  }
  nb::dict columns;
  columns["step"] = Column(std::move(table.steps));
  columns["mode"] = nb::make_tuple(Column(std::move(mode_places)), modes);
  columns["mode_step"] = Column(std::move(table.mode_steps));
  columns["worker"] =
      nb::make_tuple(Column(std::move(table.workers)), table.worker_names);
  columns["tensor"] =
      nb::make_tuple(Column(std::move(table.tensors)), table.tensor_names);
  columns["value"] = Column(std::move(table.values));
  for (query::Table::Column& column : table.reductions) {
    columns[ReductionName(column.reduction).c_str()] =
        Column(std::move(column.numbers));
  }
  return columns;
}

std::pair<std::string, std::vector<double>> Glance(const Tensor& tensor,
                                                   size_t most_steps,
                                                   int64_t most_bytes) {
  query::Glance glance =
      CallCore([&] { return query::GlanceAt(tensor, most_steps, most_bytes); });
  return {std::move(glance.what), std::move(glance.series.values)};
}

}  // namespace

void InitQuery(nb::module_& m) {
  m.def("table", &Table, "trial"_a, "tensors"_a, "mode"_a, "worker"_a.none(),
        "reductions"_a,
        "Columns by name, in their order: numbers, or places and the names "
        "there.");
  m.def("glance", &Glance, "tensor"_a, "most_steps"_a, "most_bytes"_a,
        "What was read of a tensor, and the numbers.");
}

}  // namespace smdebug::python
