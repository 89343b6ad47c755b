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

BatchShape BatchOf(const Value& value) {
  const auto shape = value.shape();
  if (shape.empty()) return {.samples = 1, .units = 1};
  const int64_t samples = shape[0];
  return {.samples = samples,
          .units = samples == 0 ? 0 : value.size() / samples};
}

bool AllClose(const Value& a, const Value& b, const Closeness& closeness) {
  if (!std::ranges::equal(a.shape(), b.shape())) return false;
  const bool text = a.dtype() == DType::kString;
  if (text != (b.dtype() == DType::kString)) return false;
  if (text) return std::ranges::equal(a.strings(), b.strings());
  const std::vector<double> left = Numbers(a);
  const std::vector<double> right = Numbers(b);
  return std::ranges::equal(left, right, [&](double x, double y) {
    if (x == y) return true;
    if (std::isnan(x) && std::isnan(y)) return closeness.equal_nan;
    // False where either is NaN or infinite: equal infinities were equal.
    return std::isfinite(y) &&
           std::abs(x - y) <= closeness.atol + closeness.rtol * std::abs(y);
  });
}

double Distance(const Value& a, const Value& b) {
  if (a.size() != b.size() || a.dtype() == DType::kString ||
      b.dtype() == DType::kString) {
    return std::nan("");
  }
  const std::vector<double> left = Numbers(a);
  double sum = 0;
  size_t i = 0;
  ForEach(b, [&](double x) {
    const double difference = x - left[i++];
    sum += difference * difference;
  });
  return std::sqrt(sum);
}

}  // namespace smdebug::rules
