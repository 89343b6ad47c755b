#include "src/reduce/median.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace smdebug::reduce {
namespace {

// Below this many values std::nth_element is as fast as anything.
constexpr size_t kSmall = 1024;

// How far from the wanted place, in standard deviations of a sample's rank, the
// values are taken that shall enclose it. A miss has a chance below 1e-5 and
// costs more passes.
constexpr double kDeviations = 4.5;

// Maps T to integers of the same order; -0 comes right before 0.
template <typename Key, typename T>
Key KeyOf(T value) noexcept {
  const auto bits = std::bit_cast<Key>(value);
  return bits < 0 ? bits ^ std::numeric_limits<Key>::max() : bits;
}

template <typename T, typename Key>
T ValueOf(Key key) noexcept {
  return std::bit_cast<T>(key < 0 ? key ^ std::numeric_limits<Key>::max()
                                  : key);
}

// Two values of `sample` that shall enclose the value at `place`, from 0 to 1,
// of what the sample stands for. Moves the sample about.
template <typename T>
std::pair<T, T> Enclose(std::vector<T>& sample, double place) noexcept {
  const auto count = static_cast<double>(sample.size());
  const double reach = kDeviations * std::sqrt(count * place * (1 - place)) + 1;
  const auto clamp = [count](double index) {
    return static_cast<ptrdiff_t>(std::clamp(index, 0.0, count - 1));
  };
  const auto low = sample.begin() + clamp(place * count - reach);
  const auto high = sample.begin() + clamp(place * count + reach);
  std::nth_element(sample.begin(), low, sample.end());
  const T low_value = *low;
  std::nth_element(low, high, sample.end());
  return {low_value, *high};
}

// The values at the ranks `first` and `last` of `values`, which are equal or
// neighbours, by cutting out ever less around them.
template <typename T>
std::pair<T, T> Select(const BlockKernels<T>& kernels,
                       std::span<const T> values, int64_t first, int64_t last) {
  constexpr size_t kSampleSize = 1024;
  std::unique_ptr<T[]> kept;
  std::vector<T> sample(kSampleSize);
  while (values.size() > kSmall) {
    for (size_t i = 0; i < kSampleSize; ++i) {
      sample[i] = values[i * values.size() / kSampleSize];
    }
    const auto [low, high] =
        Enclose(sample, static_cast<double>(first) /
                            static_cast<double>(values.size()));
    auto between = std::make_unique_for_overwrite<T[]>(values.size());
    const Cut cut = kernels.cut(values.data(), values.size(), low, high, false,
                                between.get());
    const int64_t low_end = cut.below + cut.equal_low;
    if (first >= cut.below && last < low_end) return {low, low};
    if (first < low_end || last >= low_end + cut.between) break;
    kept = std::move(between);
    values = {kept.get(), static_cast<size_t>(cut.between)};
    first -= low_end;
    last -= low_end;
  }
  std::vector<T> rest(values.begin(), values.end());
  const auto at_first = rest.begin() + first;
  std::nth_element(rest.begin(), at_first, rest.end());
  if (first == last) return {*at_first, *at_first};
  return {*at_first, *std::min_element(at_first + 1, rest.end())};
}

}  // namespace

template <typename T>
MedianSearch<T>::MedianSearch(const BlockKernels<T>& kernels, bool abs,
                              int64_t size, std::vector<T> sample)
    : kernels_(kernels),
      abs_(abs),
      size_(size),
      ranks_{(size - 1) / 2, size / 2},
      range_(WholeRange()) {
  if (abs) {
    std::ranges::transform(sample, sample.begin(),
                           [](T x) { return std::abs(x); });
  }
  // Room for a quarter more than can be expected in between.
  const auto count = static_cast<double>(sample.size());
  const double part = std::min(1.0, (kDeviations + 1) / std::sqrt(count));
  capacity_ =
      static_cast<size_t>(1.25 * part * static_cast<double>(size)) + kBlock<T>;
  between_ = std::make_unique_for_overwrite<T[]>(capacity_);
  const auto [low, high] = Enclose(sample, 0.5);
  BeginPass(low, high);
}

template <typename T>
typename MedianSearch<T>::Range MedianSearch<T>::WholeRange() const noexcept {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  return {KeyOf<Key>(-kInf), KeyOf<Key>(kInf), 0, size_};
}

template <typename T>
void MedianSearch<T>::BeginPass(T low, T high) noexcept {
  low_ = low;
  high_ = high;
  cut_ = {};
  overflow_ = false;
  between_size_ = 0;
}

template <typename T>
void MedianSearch<T>::AddBlock(std::span<const T> block) noexcept {
  if (between_size_ + block.size() > capacity_) {
    overflow_ = true;
    between_size_ = 0;
  }
  const Cut cut = kernels_.cut(block.data(), block.size(), low_, high_, abs_,
                               between_.get() + between_size_);
  cut_.below += cut.below;
  cut_.equal_low += cut.equal_low;
  cut_.between += cut.between;
  cut_.equal_high += cut.equal_high;
  between_size_ += static_cast<size_t>(cut.between);
}

template <typename T>
bool MedianSearch<T>::EndPass() {
  while (found_ < ranks_.size()) {
    if (!FindNext()) {
      ChooseCut();
      return false;
    }
  }
  return true;
}

// Finds the value at the next rank, or narrows the range that holds it.
template <typename T>
bool MedianSearch<T>::FindNext() {
  const int64_t rank = ranks_[found_];
  const int64_t low_end = cut_.below + cut_.equal_low;
  const int64_t high_begin = low_end + cut_.between;
  const int64_t high_end = high_begin + cut_.equal_high;
  // What was learned for the first of two ranks need not hold for the second.
  if (rank < range_.below || rank >= range_.through) range_ = WholeRange();
  if (rank < cut_.below) {
    range_.last = KeyOf<Key>(low_) - 1;
    range_.through = cut_.below;
    return false;
  }
  if (rank >= high_end) {
    range_.first = KeyOf<Key>(high_) + 1;
    range_.below = high_end;
    return false;
  }
  if (rank >= low_end && rank < high_begin) {
    if (overflow_) {
      range_ = {KeyOf<Key>(low_) + 1, KeyOf<Key>(high_) - 1, low_end,
                high_begin};
      return false;
    }
    const int64_t last = std::min(ranks_[1], high_begin - 1);
    const auto [value, next] =
        Select<T>(kernels_, std::span(between_.get(), between_size_),
                  rank - low_end, last - low_end);
    values_[found_++] = value;
    if (found_ == 1 && last == ranks_[1]) values_[found_++] = next;
    return true;
  }
  values_[found_++] = rank < low_end ? low_ : high_;
  return true;
}

// Collects the range if it fits the buffer, and halves it otherwise.
template <typename T>
void MedianSearch<T>::ChooseCut() noexcept {
  const auto inside = static_cast<size_t>(range_.through - range_.below);
  if (inside + kBlock<T> <= capacity_) {
    BeginPass(ValueOf<T>(range_.first), ValueOf<T>(range_.last));
    return;
  }
  using Unsigned = std::make_unsigned_t<Key>;
  const Unsigned width =
      static_cast<Unsigned>(range_.last) - static_cast<Unsigned>(range_.first);
  const auto middle = ValueOf<T>(
      static_cast<Key>(static_cast<Unsigned>(range_.first) + width / 2));
  BeginPass(middle, middle);
}

template <typename T>
double MedianSearch<T>::median() const noexcept {
  return std::midpoint(static_cast<double>(values_[0]),
                       static_cast<double>(values_[1]));
}

template <typename T>
double MedianInPlace(std::span<T> values) noexcept {
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double high = *middle;
  if (values.size() % 2 == 1) return high;
  const double low = *std::max_element(values.begin(), middle);
  return std::midpoint(low, high);
}

template class MedianSearch<float>;
template class MedianSearch<double>;
template double MedianInPlace(std::span<float> values) noexcept;
template double MedianInPlace(std::span<double> values) noexcept;

}  // namespace smdebug::reduce
