#pragma once

#include <cstdint>
#include <vector>

#include "smdebug/tensor.h"
#include "smdebug/trial.h"

namespace smdebug::rules {

// Whether values of the type can be NaN or infinite.
bool IsFloating(DType dtype) noexcept;

// All elements in C order. Not for strings.
std::vector<double> Numbers(const Value& value);

// Calls `body` with each element in C order. Nothing for strings.
template <typename Body>
void ForEach(const Value& value, const Body& body) {
  if (value.dtype() == DType::kString) return;
  const int64_t size = value.size();
  for (int64_t i = 0; i < size; ++i) body(value.Get(i));
}

// numpy.allclose(a, b), shapes included: each |a - b| <= atol + rtol * |b|,
// equal infinities are close, and NaN only if `equal_nan`.
struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
bool AllClose(const Value& a, const Value& b, const Closeness& closeness);

}  // namespace smdebug::rules
