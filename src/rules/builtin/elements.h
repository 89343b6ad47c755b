#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "smdebug/tensor.h"
#include "smdebug/trial.h"

namespace smdebug::rules {

// Whether values of the type can be NaN or infinite.
bool IsFloating(DType dtype) noexcept;

// All elements in C order; none for strings.
std::vector<double> Numbers(const Value& value);

namespace internal {

template <typename T, typename Body>
void ForEachOf(const Value& value, const Body& body) {
  const auto* items = reinterpret_cast<const T*>(value.bytes().data());
  const auto size = static_cast<size_t>(value.size());
  for (size_t i = 0; i < size; ++i) body(static_cast<double>(items[i]));
}

}  // namespace internal

// Calls `body` with each element in C order. Nothing for strings.
template <typename Body>
void ForEach(const Value& value, const Body& body) {
  switch (value.dtype()) {
    case DType::kString:
      return;
    case DType::kFloat32:
      return internal::ForEachOf<float>(value, body);
    case DType::kFloat64:
      return internal::ForEachOf<double>(value, body);
    case DType::kInt32:
      return internal::ForEachOf<int32_t>(value, body);
    case DType::kInt64:
      return internal::ForEachOf<int64_t>(value, body);
    case DType::kUint8:
      return internal::ForEachOf<uint8_t>(value, body);
    default:
      for (int64_t i = 0; i < value.size(); ++i) body(value.Get(i));
  }
}

// The first axis counts samples; what lies behind it belongs to one sample.
struct BatchShape {
  int64_t samples = 0;
  int64_t units = 0;  // Per sample.
};

// A tensor of rank 0 or 1 is many samples of one unit.
BatchShape BatchOf(const Value& value);

// numpy.allclose(a, b), shapes included: each |a - b| <= atol + rtol * |b|,
// equal infinities are close, and NaN only if `equal_nan`.
struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
bool AllClose(const Value& a, const Value& b, const Closeness& closeness);

// The length of b - a; NaN if they are not of one size or of strings.
double Distance(const Value& a, const Value& b);

}  // namespace smdebug::rules
