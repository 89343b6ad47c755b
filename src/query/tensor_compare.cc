#include "src/query/tensor_compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "src/query/elements.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

bool IsComplex(DType dtype) { return KindOf(dtype) == ElementKind::kComplex; }

bool IsWide(DType dtype) {
  const ElementKind kind = KindOf(dtype);
  return ItemSize(dtype) == 8 &&
         (kind == ElementKind::kSigned || kind == ElementKind::kUnsigned);
}

// Takes the differences of one pair of tensors. One thread at a time.
class Differences {
 public:
  explicit Differences(Comparison& result) : result_(result) {}

  // Element `index` differs by `difference`.
  void Add(int64_t index, double difference) {
    if (std::isnan(difference)) {
      difference = std::numeric_limits<double>::infinity();
    }
    ++result_.differing;
    if (result_.where >= 0 && difference <= result_.largest) return;
    result_.largest = difference;
    result_.where = index;
  }

 private:
  Comparison& result_;
};

void CompareStrings(const TensorView& a, const TensorView& b,
                    Differences& differences) {
  const auto* left = static_cast<const std::string_view*>(a.data);
  const auto* right = static_cast<const std::string_view*>(b.data);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (left[i] != right[i]) differences.Add(i, 0);
  }
}

// Integers beyond 2^53 would be rounded on the way to a double.
void CompareWide(const TensorView& a, const TensorView& b, Tolerance tolerance,
                 Differences& differences) {
  const auto number = [](const TensorView& tensor, int64_t i) {
    return std::visit(
        [](const auto& value) -> long double {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
            return static_cast<long double>(value);
          } else {
            return 0;
          }
        },
        ElementAt(tensor, i));
  };
  for (int64_t i = 0; i < a.size(); ++i) {
    const long double right = number(b, i);
    const long double difference = std::abs(number(a, i) - right);
    if (difference > tolerance.atol + tolerance.rtol * std::abs(right)) {
      differences.Add(i, static_cast<double>(difference));
    }
  }
}

std::complex<double> ComplexAt(const TensorView& tensor, int64_t i) {
  const Element element = ElementAt(tensor, i);
  if (const auto* value = std::get_if<std::complex<double>>(&element)) {
    return *value;
  }
  return std::visit(
      [](const auto& value) -> std::complex<double> {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
          return static_cast<double>(value);
        } else {
          return 0;
        }
      },
      element);
}

void CompareComplex(const TensorView& a, const TensorView& b,
                    Tolerance tolerance, Differences& differences) {
  const auto same_part = [](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  };
  for (int64_t i = 0; i < a.size(); ++i) {
    const std::complex<double> left = ComplexAt(a, i);
    const std::complex<double> right = ComplexAt(b, i);
    if (same_part(left.real(), right.real()) &&
        same_part(left.imag(), right.imag())) {
      continue;
    }
    const double difference = std::abs(left - right);
    if (!(difference <= tolerance.atol + tolerance.rtol * std::abs(right)) ||
        std::isinf(std::abs(right))) {
      differences.Add(i, difference);
    }
  }
}

void CompareNumbers(const TensorView& a, const TensorView& b,
                    Tolerance tolerance, Differences& differences) {
  DoubleBlocks left_blocks(a);
  DoubleBlocks right_blocks(b);
  int64_t index = 0;
  while (true) {
    const std::span<const double> left = left_blocks.Next();
    const std::span<const double> right = right_blocks.Next();
    if (left.empty()) return;
    for (size_t i = 0; i < left.size(); ++i, ++index) {
      if (!IsClose(left[i], right[i], tolerance)) {
        differences.Add(index, std::abs(left[i] - right[i]));
      }
    }
  }
}

bool SameBytes(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.dtype != DType::kString &&
         (a.byte_size() == 0 ||
          std::memcmp(a.data, b.data, a.byte_size()) == 0);
}

}  // namespace

bool IsClose(double a, double b, Tolerance tolerance) noexcept {
  if (a == b) return true;  // Infinities of one sign among them.
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b);
}

Comparison CompareTensors(const TensorView& a, const TensorView& b,
                          Tolerance tolerance) {
  Comparison result;
  if (!std::ranges::equal(a.shape, b.shape)) {
    result.mismatch = fmt::format("shape {} against {}", ShapeText(a.shape),
                                  ShapeText(b.shape));
    return result;
  }
  const bool a_is_text = a.dtype == DType::kString;
  if (a_is_text != (b.dtype == DType::kString)) {
    result.mismatch =
        fmt::format("{} against {}", DTypeName(a.dtype), DTypeName(b.dtype));
    return result;
  }
  result.count = a.size();
  if (SameBytes(a, b)) return result;
  Differences differences(result);
  if (a_is_text) {
    CompareStrings(a, b, differences);
  } else if (IsComplex(a.dtype) || IsComplex(b.dtype)) {
    CompareComplex(a, b, tolerance, differences);
  } else if (a.dtype == b.dtype && IsWide(a.dtype)) {
    CompareWide(a, b, tolerance, differences);
  } else {
    CompareNumbers(a, b, tolerance, differences);
  }
  if (result.where >= 0) {
    result.a = ElementText(ElementAt(a, result.where));
    result.b = ElementText(ElementAt(b, result.where));
  }
  return result;
}

}  // namespace smdebug::query
