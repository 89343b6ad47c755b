#include "src/reduce/product.h"

#include <cmath>
#include <limits>

namespace smdebug::reduce {
namespace {

// A full block is skipped if its product is below 2 to this power. The power
// keeps blocks out whose magnitudes are about one.
constexpr double kSkipLog2 = -256;

// Less than the smallest double, by a wide margin for rounding.
constexpr double kVanishedLog2 = -1200;

// Larger than the exponent of any double, and small enough for scalbn.
constexpr int64_t kExponentLimit = 3000;

bool HasInfinity(const Statistics& s) noexcept {
  return s.pos_inf + s.neg_inf > 0;
}

}  // namespace

template <typename T>
void LazyProduct<T>::Add(std::span<const T> block,
                         const BlockMoments& m) noexcept {
  if (block.size() == kBlock<T>) {
    const auto n = static_cast<double>(block.size());
    const double log2 = n * std::log2(m.abs_sum / n);
    if (log2 < kSkipLog2) {
      skipped_ = true;
      skipped_log2_ += log2;
      return;
    }
  }
  Multiply(block, m.abs_min);
}

template <typename T>
void LazyProduct<T>::Multiply(std::span<const T> block) noexcept {
  Multiply(block, kernels_.moments(block.data(), block.size()).abs_min);
}

template <typename T>
void LazyProduct<T>::Multiply(std::span<const T> block,
                              double abs_min) noexcept {
  const auto normalise = [this] {
    int exponent = 0;
    mantissa_ = std::frexp(mantissa_, &exponent);
    exponent_ += exponent;
  };
  if (abs_min > 0 && abs_min < std::numeric_limits<T>::min() &&
      sizeof(T) == sizeof(double)) {
    for (const long double x : block) {
      mantissa_ *= x;
      normalise();
    }
    return;
  }
  const ScaledProduct product = kernels_.product(block.data(), block.size());
  mantissa_ *= product.mantissa;
  exponent_ += product.exponent;
  normalise();
}

template <typename T>
bool LazyProduct<T>::needs_all(const Statistics& statistics) const noexcept {
  if (!skipped_ || statistics.nan > 0 || statistics.zero > 0) return false;
  if (HasInfinity(statistics)) return true;  // For the sign.
  const double log2 = static_cast<double>(exponent_) + skipped_log2_;
  return !(log2 < kVanishedLog2);
}

template <typename T>
double LazyProduct<T>::Value(const Statistics& statistics) const noexcept {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (statistics.nan > 0) return kNan;
  const double sign = std::signbit(mantissa_) ? -1 : 1;
  if (HasInfinity(statistics)) {
    return statistics.zero > 0 ? kNan : sign * kInfinite;
  }
  if (statistics.zero > 0 || skipped_) return 0;
  if (exponent_ > kExponentLimit) return sign * kInfinite;
  if (exponent_ < -kExponentLimit) return 0;
  const auto value =
      static_cast<double>(std::scalbn(mantissa_, static_cast<int>(exponent_)));
  return value == 0 ? 0 : value;
}

template class LazyProduct<float>;
template class LazyProduct<double>;

}  // namespace smdebug::reduce
