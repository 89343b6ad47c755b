#include "src/reduce/sample.h"

#include <algorithm>
#include <cmath>

namespace smdebug::reduce {
namespace {

constexpr int64_t kLargestSample = 32768;

// A fixed scramble of 64 bits: multiplications by odd constants and shifts.
uint64_t Scramble(uint64_t x) noexcept {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 29)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

}  // namespace

template <typename T>
int64_t Sample<T>::StepFor(int64_t tensor_size) noexcept {
  if (tensor_size <= kWholeSample) return 1;
  // The square of the cube root balances the work on the sample with the work
  // on what lies near the median (Floyd and Rivest).
  const double root = std::cbrt(static_cast<double>(tensor_size));
  const auto size = std::min(kLargestSample, static_cast<int64_t>(root * root));
  return (tensor_size + size - 1) / size;
}

template <typename T>
int64_t Sample<T>::Place(int64_t index, int64_t step) noexcept {
  const auto scrambled = Scramble(static_cast<uint64_t>(index));
  return index * step +
         static_cast<int64_t>(scrambled % static_cast<uint64_t>(step));
}

template <typename T>
Sample<T>::Sample(int64_t tensor_size) : step_(StepFor(tensor_size)) {
  values_.reserve(static_cast<size_t>(tensor_size / step_ + 1));
  next_place_ = Place(0, step_);
}

template <typename T>
void Sample<T>::Add(std::span<const T> block) {
  const auto size = static_cast<int64_t>(block.size());
  if (whole()) {
    values_.insert(values_.end(), block.begin(), block.end());
    return;
  }
  while (next_place_ < seen_ + size) {
    values_.push_back(block[static_cast<size_t>(next_place_ - seen_)]);
    next_place_ = Place(static_cast<int64_t>(values_.size()), step_);
  }
  seen_ += size;
}

template class Sample<float>;
template class Sample<double>;

}  // namespace smdebug::reduce
