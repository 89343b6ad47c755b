#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/convert.h"
#include "python/src/core_call.h"
#include "smdebug/internal/xgboost_data.h"
#include "smdebug/internal/xgboost_importance.h"
#include "smdebug/internal/xgboost_text.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

nb::dict TreeColumns(const std::vector<std::string>& dumps,
                     int64_t first_tree) {
  const XgboostTrees trees = CallCore([&] {
    const std::vector<std::string_view> texts(dumps.begin(), dumps.end());
    return ParseXgboostTrees(texts, first_tree);
  });
  nb::dict columns;
  columns["Tree"] = nb::cast(trees.tree);
  columns["Node"] = nb::cast(trees.node);
  columns["ID"] = nb::cast(trees.id);
  columns["Feature"] = nb::cast(trees.feature);
  columns["Split"] = nb::cast(trees.split);
  columns["Yes"] = nb::cast(trees.yes);
  columns["No"] = nb::cast(trees.no);
  columns["Missing"] = nb::cast(trees.missing);
  columns["Gain"] = nb::cast(trees.gain);
  columns["Cover"] = nb::cast(trees.cover);
  columns["Category"] = nb::cast(trees.category);
  return columns;
}

// A NumPy array over `items`; None if there are none.
template <typename T>
nb::object ArrayOf(DType dtype, std::vector<T> items,
                   std::vector<int64_t> shape = {}) {
  if (items.empty()) return nb::none();
  if (shape.empty()) shape = {static_cast<int64_t>(items.size())};
  const auto kept = std::make_shared<std::vector<T>>(std::move(items));
  return ArrayFrom({dtype, shape, std::as_bytes(std::span(*kept)), kept});
}

nb::tuple ReadData(const std::string& key, const std::string& path,
                   const std::string& content_type) {
  XgboostData data =
      CallCore([&] { return ReadXgboostData(key, path, content_type); });
  const auto rows = static_cast<int64_t>(data.labels.size());
  std::vector<int64_t> shape;
  if (data.starts.empty()) shape = {rows, data.width};
  return nb::make_tuple(
      ArrayOf(DType::kFloat32, std::move(data.values), std::move(shape)),
      ArrayOf(DType::kFloat32, std::move(data.labels)),
      ArrayOf(DType::kFloat32, std::move(data.weights)),
      ArrayOf(DType::kInt64, std::move(data.columns)),
      ArrayOf(DType::kInt64, std::move(data.starts)),
      nb::make_tuple(rows, data.width));
}

}  // namespace

void InitXgboost(nb::module_& m) {
  nb::class_<XgboostImportance>(
      m, "XgboostImportance",
      "Saves the importance of features; see Hook.save_importance().")
      .def(
          "__init__",
          [](XgboostImportance* self, uintptr_t score) {
            new (self)
                XgboostImportance(reinterpret_cast<XgboostFeatureScore>(score));
          },
          "score"_a, "By the address of XGBoosterFeatureScore().");
  m.def(
      "xgboost_importance_types",
      [] {
        return std::vector<std::string>(XgboostImportance::kTypes.begin(),
                                        XgboostImportance::kTypes.end());
      },
      "The types of importance that are saved of a feature.");
  m.def(
      "read_xgboost_data", &ReadData, "key"_a, "path"_a, "content_type"_a,
      "Values, labels, weights, columns, starts and shape of a data set in a\n"
      "file; None for what it has none of. Columns and starts are those of a\n"
      "sparse table.");
  m.def("xgboost_trees", &TreeColumns, "dumps"_a, "first_tree"_a,
        "The nodes of XGBoost's text dumps of trees: a list per column.");
}

}  // namespace smdebug::python
