#include "src/reduce/moment_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smdebug::reduce {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// sum(x^2) - n mean^2 is taken for the squared deviations if it is at least
// this part of sum(x^2): it then keeps all but six bits of the precision.
// Otherwise the block is looked at again.
constexpr double kPlainPart = 1.0 / 64;

}  // namespace

void Deviations::Join(const Deviations& other) noexcept {
  if (count == 0) {  // What follows gives the same, for two divisions.
    *this = other;
    return;
  }
  const auto n = static_cast<long double>(other.count);
  const auto total = static_cast<long double>(count + other.count);
  const long double share = n / total;
  const long double delta = other.mean - mean;
  mean += delta * share;
  sum_squares += other.sum_squares +
                 delta * delta * share * static_cast<long double>(count);
  count += other.count;
}

void MomentTotals::Add(const Specials& specials) noexcept {
  specials_.nan += specials.nan;
  specials_.pos_inf += specials.pos_inf;
  specials_.neg_inf += specials.neg_inf;
  specials_.zero += specials.zero;
}

void MomentTotals::AddExtremes(double min, double max,
                               double abs_min) noexcept {
  const bool first = count_ == 0;
  min_ = first ? min : std::min(min_, min);
  max_ = first ? max : std::max(max_, max);
  abs_min_ = first ? abs_min : std::min(abs_min_, abs_min);
}

void MomentTotals::AddSums(long double sum, long double abs_sum,
                           long double sum_squares, const Deviations& plain,
                           const Deviations& abs) noexcept {
  sum_ += sum;
  abs_sum_ += abs_sum;
  sum_squares_ += sum_squares;
  plain_.Join(plain);
  abs_.Join(abs);
}

template <typename T>
BlockMoments MomentSums<T>::Add(std::span<const T> block) noexcept {
  const BlockMoments m = kernels_.moments(block.data(), block.size());
  Add(block, m);
  return m;
}

template <typename T>
void MomentSums<T>::Add(std::span<const T> block,
                        const BlockMoments& m) noexcept {
  if (std::isfinite(m.sum_squares)) {
    AddFinite(block, m);
  } else {
    AddUnusual(block, m);
  }
  totals_.AddCount(static_cast<int64_t>(block.size()));
}

template <typename T>
void MomentSums<T>::AddFinite(std::span<const T> block,
                              const BlockMoments& m) noexcept {
  if (m.abs_min == 0) {
    totals_.Add({.zero = kernels_.zeros(block.data(), block.size())});
  }
  totals_.AddExtremes(m.min, m.max, m.abs_min);
  Deviations plain = {static_cast<int64_t>(block.size()), m.min, 0};
  Deviations abs = {plain.count, m.abs_min, 0};
  if (m.min != m.max) {
    plain = DeviationsOf(block, m.sum, m.sum_squares, false);
    if (m.min >= 0 || m.max <= 0) {
      abs = plain;
      abs.mean = std::abs(plain.mean);
    } else {
      abs = DeviationsOf(block, m.abs_sum, m.sum_squares, true);
    }
  }
  totals_.AddSums(m.sum, m.abs_sum, m.sum_squares, plain, abs);
}

template <typename T>
void MomentSums<T>::AddUnusual(std::span<const T> block,
                               const BlockMoments& m) noexcept {
  const Specials specials = kernels_.specials(block.data(), block.size());
  totals_.Add(specials);
  if (specials.nan > 0) return;
  totals_.AddExtremes(m.min, m.max, m.abs_min);
  if (specials.pos_inf + specials.neg_inf == 0) AddHuge(block);
}

// Finite elements whose squares overflow a double.
template <typename T>
void MomentSums<T>::AddHuge(std::span<const T> block) noexcept {
  const auto count = static_cast<int64_t>(block.size());
  const auto n = static_cast<long double>(count);
  long double sum = 0;
  long double abs_sum = 0;
  long double sum_squares = 0;
  for (const long double x : block) {
    sum += x;
    abs_sum += std::abs(x);
    sum_squares += x * x;
  }
  Deviations plain = {count, sum / n, 0};
  Deviations abs = {count, abs_sum / n, 0};
  for (const long double x : block) {
    const long double off = x - plain.mean;
    const long double abs_off = std::abs(x) - abs.mean;
    plain.sum_squares += off * off;
    abs.sum_squares += abs_off * abs_off;
  }
  totals_.AddSums(sum, abs_sum, sum_squares, plain, abs);
}

template <typename T>
Deviations MomentSums<T>::DeviationsOf(std::span<const T> block, double sum,
                                       double sum_squares,
                                       bool abs) const noexcept {
  const auto count = static_cast<int64_t>(block.size());
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  const double plain = sum_squares - sum * mean;
  if (plain >= kPlainPart * sum_squares) return {count, mean, plain};
  const Residuals r = kernels_.residuals(block.data(), block.size(), mean, abs);
  const double sum_of_squares = r.sum_squares - r.sum * r.sum / n;
  return {count, static_cast<long double>(mean) + r.sum / n,
          std::max(0.0, sum_of_squares)};
}

Statistics MomentTotals::Finish() const noexcept {
  Statistics s;
  s.count = count_;
  s.nan = specials_.nan;
  s.pos_inf = specials_.pos_inf;
  s.neg_inf = specials_.neg_inf;
  s.zero = specials_.zero;
  if (count_ == 0 || s.nan > 0) {
    s.min = s.max = s.abs_min = s.abs_max = kNoNumber;
    if (s.nan > 0) {
      s.sum = s.abs_sum = s.sum_squares = kNoNumber;
      s.deviations = s.abs_deviations = kNoNumber;
    }
    return s;
  }
  s.min = min_;
  s.max = max_;
  s.abs_min = abs_min_;
  s.abs_max = std::max(std::abs(min_), std::abs(max_));
  if (s.pos_inf + s.neg_inf > 0) {
    s.sum = s.neg_inf == 0 ? kInf : s.pos_inf == 0 ? -kInf : kNoNumber;
    s.abs_sum = s.sum_squares = kInf;
    s.deviations = s.abs_deviations = kNoNumber;
    return s;
  }
  s.sum = static_cast<double>(sum_);
  s.abs_sum = static_cast<double>(abs_sum_);
  s.sum_squares = static_cast<double>(sum_squares_);
  s.deviations = static_cast<double>(plain_.sum_squares);
  s.abs_deviations = static_cast<double>(abs_.sum_squares);
  return s;
}

template class MomentSums<float>;
template class MomentSums<double>;

}  // namespace smdebug::reduce
