#include "src/rules/builtin/elements.h"

#include <algorithm>
#include <cmath>

namespace smdebug::rules {

namespace {

template <typename T, typename Test>
bool AllPairsAs(const Value& a, const Value& b, const Test& test) {
  const auto* left = reinterpret_cast<const T*>(a.bytes().data());
  const auto* right = reinterpret_cast<const T*>(b.bytes().data());
  const auto size = static_cast<size_t>(a.size());
  for (size_t i = 0; i < size; ++i) {
    if (!test(static_cast<double>(left[i]), static_cast<double>(right[i]))) {
      return false;
    }
  }
  return true;
}

// Whether `test` holds for the elements at each place, asked in C order up to
// the first for which it does not. Both are numbers, and as many.
template <typename Test>
bool AllPairs(const Value& a, const Value& b, const Test& test) {
  if (a.dtype() == b.dtype() && a.dtype() == DType::kFloat32) {
    return AllPairsAs<float>(a, b, test);
  }
  if (a.dtype() == b.dtype() && a.dtype() == DType::kFloat64) {
    return AllPairsAs<double>(a, b, test);
  }
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!test(a.Get(i), b.Get(i))) return false;
  }
  return true;
}

}  // namespace

bool IsFloating(DType dtype) noexcept {
  const ElementKind kind = KindOf(dtype);
  return kind == ElementKind::kFloat || kind == ElementKind::kComplex;
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
  return AllPairs(a, b, [&](double x, double y) {
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
  double sum = 0;
  AllPairs(a, b, [&](double x, double y) {
    sum += (y - x) * (y - x);
    return true;
  });
  return std::sqrt(sum);
}

}  // namespace smdebug::rules
