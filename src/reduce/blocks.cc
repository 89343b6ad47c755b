#include "src/reduce/blocks.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {
namespace {

template <size_t kItemSize>
void CopySteps(const std::byte* from, ptrdiff_t step, size_t count,
               std::byte* out) noexcept {
  for (size_t i = 0; i < count; ++i, from += step, out += kItemSize) {
    std::memcpy(out, from, kItemSize);
  }
}

// Copies `count` elements that lie `step` bytes apart.
void CopyRun(const std::byte* from, ptrdiff_t step, size_t item_size,
             size_t count, std::byte* out) noexcept {
  if (step == static_cast<ptrdiff_t>(item_size)) {
    std::memcpy(out, from, count * item_size);
    return;
  }
  switch (item_size) {
    case 1:
      return CopySteps<1>(from, step, count, out);
    case 2:
      return CopySteps<2>(from, step, count, out);
    case 4:
      return CopySteps<4>(from, step, count, out);
    case 8:
      return CopySteps<8>(from, step, count, out);
    default:
      return CopySteps<16>(from, step, count, out);
  }
}

// Whether `data` may be read as elements of `item_size` bytes. No element type
// here wants more than eight.
bool IsAligned(const void* data, size_t item_size) noexcept {
  const size_t alignment = std::min<size_t>(item_size, 8);
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

template <typename T>
constexpr DType kOwnType =
    std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64;

}  // namespace

void RequireReducible(DType dtype) {
  if (IsReducible(dtype)) return;
  throw Error(
      fmt::format("cannot reduce a tensor of dtype {}: only numbers and bool "
                  "can be reduced",
                  DTypeName(dtype)));
}

StridedReader::StridedReader(const TensorView& tensor)
    : item_size_(ItemSize(tensor.dtype)),
      first_(static_cast<const std::byte*>(tensor.data)) {
  int64_t dense_stride = tensor.size();
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const int64_t extent = tensor.shape[axis];
    if (extent > 0) dense_stride /= extent;
    const int64_t stride =
        tensor.strides.empty() ? dense_stride : tensor.strides[axis];
    if (extent == 1) continue;
    if (stride < 0) {
      first_ += (extent - 1) * stride * static_cast<int64_t>(item_size_);
    }
    axes_.push_back({extent, std::abs(stride)});
  }
  // Outermost the axes that repeat, then the widest strides.
  std::ranges::stable_sort(axes_, [](const Axis& a, const Axis& b) {
    if (a.stride == 0 || b.stride == 0) return a.stride == 0 && b.stride != 0;
    return a.stride > b.stride;
  });
  // An axis that steps over exactly the next one is one with it.
  std::vector<Axis> merged;
  for (const Axis& axis : axes_) {
    if (!merged.empty() && merged.back().stride == axis.extent * axis.stride) {
      merged.back() = {merged.back().extent * axis.extent, axis.stride};
    } else {
      merged.push_back(axis);
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  axes_ = std::move(merged);
  next_ = first_;
}

const std::byte* StridedReader::gapless() const noexcept {
  const bool gapless = axes_.size() == 1 && axes_[0].stride == 1;
  return gapless ? first_ : nullptr;
}

void StridedReader::Read(std::byte* out, size_t count) noexcept {
  while (count > 0) {
    Axis& inner = axes_.back();
    const auto left = static_cast<size_t>(inner.extent - inner.index);
    const size_t run = std::min(count, left);
    const auto item_size = static_cast<ptrdiff_t>(item_size_);
    const ptrdiff_t step = inner.stride * item_size;
    CopyRun(next_, step, item_size_, run, out);
    out += run * item_size_;
    count -= run;
    inner.index += static_cast<int64_t>(run);
    next_ += static_cast<ptrdiff_t>(run) * step;
    for (size_t axis = axes_.size() - 1;
         axis > 0 && axes_[axis].index == axes_[axis].extent; --axis) {
      next_ +=
          (axes_[axis - 1].stride - axes_[axis].extent * axes_[axis].stride) *
          item_size;
      axes_[axis].index = 0;
      ++axes_[axis - 1].index;
    }
  }
}

void StridedReader::Rewind() noexcept {
  next_ = first_;
  for (Axis& axis : axes_) axis.index = 0;
}

template <typename T>
BlockReader<T>::BlockReader(const TensorView& tensor, const Kernels& kernels)
    : kernels_(kernels),
      dtype_(tensor.dtype),
      item_size_(ItemSize(tensor.dtype)),
      size_(static_cast<size_t>(tensor.size())),
      data_(static_cast<const std::byte*>(tensor.data)) {
  if (size_ == 0) return;
  if (tensor.dense() && IsAligned(data_, item_size_)) return;
  strided_.emplace(tensor);
  const std::byte* gapless = strided_->gapless();
  if (gapless != nullptr && IsAligned(gapless, item_size_)) {
    data_ = gapless;
    strided_.reset();
  } else {
    gathered_.resize(std::min(size_, kBlock<T>) * item_size_);
  }
}

template <typename T>
std::span<const T> BlockReader<T>::Next() {
  const size_t count = std::min(kBlock<T>, size_ - done_);
  if (count == 0) return {};
  const std::byte* bytes = NextBytes(count);
  done_ += count;
  if (dtype_ == kOwnType<T>) return {reinterpret_cast<const T*>(bytes), count};
  if constexpr (std::is_same_v<T, float>) {
    kernels_.to_float(bytes, dtype_, count, converted_.data());
  } else {
    kernels_.to_double(bytes, dtype_, count, converted_.data());
  }
  return {converted_.data(), count};
}

template <typename T>
const std::byte* BlockReader<T>::NextBytes(size_t count) {
  if (!strided_) return data_ + done_ * item_size_;
  strided_->Read(gathered_.data(), count);
  return gathered_.data();
}

template <typename T>
void BlockReader<T>::Rewind() noexcept {
  done_ = 0;
  if (strided_) strided_->Rewind();
}

template class BlockReader<float>;
template class BlockReader<double>;

}  // namespace smdebug::reduce
