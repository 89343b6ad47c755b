#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
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

// Step, mode, step in the mode, worker, tensor, value, reductions by name.
using Row = std::tuple<int64_t, int, int64_t, std::string, std::string,
                       std::optional<double>, std::map<std::string, double>>;

std::vector<Row> Rows(const OwnTrial& trial, std::vector<std::string> tensors,
                      int mode, std::optional<std::string> worker,
                      const std::vector<std::string>& reductions) {
  query::RowQuery query = {.tensors = std::move(tensors),
                           .mode = ModeFrom(mode),
                           .worker = std::move(worker)};
  for (const std::string& name : reductions) {
    query.reductions.push_back(ReductionFrom(name));
  }
  std::vector<Row> rows;
  for (query::Row& row :
       CallCore([&] { return query::ReadRows(*trial, query); })) {
    std::map<std::string, double> by_name;
    for (const auto& [reduction, value] : row.reductions) {
      by_name.emplace(ReductionName(reduction), value);
    }
    rows.emplace_back(row.id.step, static_cast<int>(row.id.mode),
                      row.id.mode_step, std::move(row.worker),
                      std::move(row.tensor), row.value, std::move(by_name));
  }
  return rows;
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
  m.def("rows", &Rows, "trial"_a, "tensors"_a, "mode"_a, "worker"_a.none(),
        "reductions"_a,
        "(step, mode, step in the mode, worker, tensor, value, reductions by "
        "name) of each.");
  m.def("glance", &Glance, "tensor"_a, "most_steps"_a, "most_bytes"_a,
        "What was read of a tensor, and the numbers.");
}

}  // namespace smdebug::python
