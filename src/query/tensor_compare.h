#pragma once

#include <cstdint>
#include <string>

#include "smdebug/tensor.h"

namespace smdebug::query {

// How far two numbers may be apart and still count as equal.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-8;
};

// As numpy.isclose(a, b, equal_nan=True) says: |a - b| <= atol + rtol * |b|.
bool IsClose(double a, double b, Tolerance tolerance) noexcept;

// How two tensors compare.
struct Comparison {
  int64_t count = 0;      // Elements compared.
  int64_t differing = 0;  // Of them beyond the tolerance.
  // The largest difference beyond the tolerance, infinite where one side is not
  // finite, and where it is, in C order. For strings the first that differs.
  double largest = 0;
  int64_t where = -1;
  std::string a;  // The elements there.
  std::string b;
  std::string mismatch;  // Why they cannot be compared: shapes, or strings.

  bool equal() const { return differing == 0 && mismatch.empty(); }
};

// Compares two dense tensors element by element, whatever their types; complex
// numbers by the magnitude of their difference, strings exactly. Pure.
Comparison CompareTensors(const TensorView& a, const TensorView& b,
                          Tolerance tolerance);

}  // namespace smdebug::query
