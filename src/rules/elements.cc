#include "src/rules/elements.h"

#include <algorithm>
#include <cmath>

namespace smdebug::rules {

bool IsFloating(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kComplex64:
    case DType::kComplex128:
      return true;
    default:
      return false;
  }
}

std::vector<double> Numbers(const Value& value) {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(value.size()));
  ForEach(value, [&](double x) { numbers.push_back(x); });
  return numbers;
}

bool AllClose(const Value& a, const Value& b, const Closeness& closeness) {
  if (!std::ranges::equal(a.shape(), b.shape())) return false;
  const bool text = a.dtype() == DType::kString;
  if (text != (b.dtype() == DType::kString)) return false;
  if (text) return std::ranges::equal(a.strings(), b.strings());
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.Get(i);
    const double y = b.Get(i);
    if (x == y) continue;
    if (std::isnan(x) || std::isnan(y)) {
      if (closeness.equal_nan && std::isnan(x) && std::isnan(y)) continue;
      return false;
    }
    if (std::isinf(x) || std::isinf(y)) return false;
    if (!(std::abs(x - y) <= closeness.atol + closeness.rtol * std::abs(y))) {
      return false;
    }
  }
  return true;
}

}  // namespace smdebug::rules
