// The input is a data set for XGBoost, as CSV and as libsvm. Either it is
// refused by an Error, or its parts fit together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "smdebug/error.h"
#include "smdebug/internal/xgboost_data.h"
#include "tests/fuzz/property.h"

namespace smdebug::fuzz {
namespace {

void CheckCsv(std::string_view text) {
  XgboostData data;
  try {
    data = ParseXgboostCsv(text);
  } catch (const Error&) {
    return;
  }
  const auto rows = static_cast<int64_t>(data.labels.size());
  Require(rows > 0 && data.width > 0, "there are rows and columns");
  Require(static_cast<int64_t>(data.values.size()) == rows * data.width,
          "every row has every column");
  Require(data.columns.empty() && data.starts.empty(), "a table is dense");
}

void CheckLibsvm(std::string_view text) {
  XgboostData data;
  try {
    data = ParseXgboostLibsvm(text);
  } catch (const Error&) {
    return;
  }
  const size_t rows = data.labels.size();
  Require(rows > 0 && data.starts.size() == rows + 1, "every row begins once");
  Require(data.weights.empty() || data.weights.size() == rows,
          "all rows have a weight, or none");
  Require(data.columns.size() == data.values.size(),
          "every value has a column");
  Require(std::ranges::is_sorted(data.starts) && data.starts.front() == 0 &&
              data.starts.back() == static_cast<int64_t>(data.values.size()),
          "rows follow each other");
  Require(std::ranges::all_of(data.columns,
                              [&](int64_t column) {
                                return column >= 0 && column < data.width;
                              }),
          "every column is within the width");
}

}  // namespace
}  // namespace smdebug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  smdebug::fuzz::CheckCsv(text);
  smdebug::fuzz::CheckLibsvm(text);
  return 0;
}
