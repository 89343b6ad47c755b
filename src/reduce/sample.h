#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smdebug::reduce {

// Elements of a tensor at places spread evenly, each moved a little by a fixed
// scramble so that no period in the data can meet them all. A tensor of
// no more than kWholeSample elements is sampled whole.
//
// One thread at a time.
template <typename T>
class Sample {
 public:
  static constexpr int64_t kWholeSample = 2048;

  explicit Sample(int64_t tensor_size);

  // Takes what belongs to the sample from the next block of the tensor.
  void Add(std::span<const T> block);

  // Whether every element of the tensor belongs to the sample.
  bool whole() const noexcept { return step_ == 1; }

  const std::vector<T>& values() const noexcept { return values_; }

  // The place in the tensor of the sample's value number `index`, where the
  // sample takes one of every `step` elements.
  static int64_t Place(int64_t index, int64_t step) noexcept;

  // How many elements there are for each in the sample.
  static int64_t StepFor(int64_t tensor_size) noexcept;

 private:
  const int64_t step_;
  int64_t seen_ = 0;
  int64_t next_place_ = 0;
  std::vector<T> values_;
};

extern template class Sample<float>;
extern template class Sample<double>;

}  // namespace smdebug::reduce
