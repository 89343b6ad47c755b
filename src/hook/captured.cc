#include "src/hook/captured.h"

#include <cstdint>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace smdebug::hook {

namespace {

// What the heap adds to each piece of memory.
constexpr uint64_t kPerPiece = 16;

template <typename T>
uint64_t HeapBytes(const std::vector<T>& list) noexcept {
  return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + kPerPiece;
}

bool FitsMemory(int64_t items, size_t item_size) {
  return items < PTRDIFF_MAX / static_cast<int64_t>(item_size);
}

}  // namespace

uint64_t HeldBytes(const CapturedTensor& tensor) noexcept {
  uint64_t bytes = sizeof(tensor) + HeapBytes(tensor.shape) +
                   HeapBytes(tensor.strings) + tensor.original_name.size();
  for (const std::string& text : tensor.strings) bytes += text.capacity();
  if (tensor.content != nullptr) bytes += sizeof(Content) + 2 * kPerPiece;
  if (tensor.arriving != nullptr) {
    bytes += sizeof(Arriving) + HeapBytes(tensor.arriving->parts) + kPerPiece;
  }
  // Names are shared, but only as long as the job does not invent new ones.
  if (tensor.plan != nullptr) bytes += tensor.plan->name.size();
  if (tensor.digest && tensor.digest->histogram) {
    bytes += HeapBytes(tensor.digest->histogram->limits) +
             HeapBytes(tensor.digest->histogram->counts);
  }
  return bytes;
}

uint64_t HeldBytes(const CapturedScalar& scalar) noexcept {
  uint64_t bytes = sizeof(scalar) + scalar.name.capacity() + kPerPiece;
  if (scalar.arriving != nullptr) bytes += sizeof(*scalar.arriving);
  return bytes;
}

Digest MakeDigest(const TensorView& tensor, const Form& form) {
  Digest digest;
  if (!form.reductions.empty()) {
    digest.statistics = reduce::Reduce(tensor, form.wanted);
  }
  if (!form.histogram_tag.empty()) {
    digest.histogram = reduce::MakeHistogram(tensor);
  }
  return digest;
}

bool MayBeShared(const CapturedTensor& tensor) {
  constexpr size_t kLeastBytes = 16 << 10;  // Less is not worth a search.
  return tensor.has_raw && tensor.bytes().size() >= kLeastBytes;
}

std::string WhyUnsupported(const TensorView& tensor) {
  if (tensor.dtype != DType::kString && ItemSize(tensor.dtype) == 0) {
    return fmt::format("has the unknown element type {}",
                       static_cast<int>(tensor.dtype));
  }
  if (tensor.dtype == DType::kString && tensor.shape.size() != 1) {
    return fmt::format(
        "is a string tensor of rank {}; only rank 1 can be saved",
        tensor.shape.size());
  }
  if (!tensor.strides.empty() &&
      (tensor.strides.size() != tensor.shape.size() ||
       tensor.dtype == DType::kString)) {
    return fmt::format("has {} strides for {} axes", tensor.strides.size(),
                       tensor.shape.size());
  }
  for (const int64_t extent : tensor.shape) {
    if (extent < 0) return fmt::format("has an axis of length {}", extent);
  }
  const int64_t count = tensor.size();
  if (count == 0) return {};
  if (tensor.data == nullptr) return "has no data";
  // No object takes more than PTRDIFF_MAX bytes, and none reaches further.
  const size_t item_size = tensor.dtype == DType::kString
                               ? sizeof(std::string_view)
                               : ItemSize(tensor.dtype);
  if (!FitsMemory(count, item_size)) {
    return "has more elements than memory can hold";
  }
  int64_t reach = 0;  // Of the elements from `data`, to either side.
  for (size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const int64_t stride = tensor.strides[axis];
    int64_t length = 0;
    if (stride == std::numeric_limits<int64_t>::min() ||
        __builtin_mul_overflow(tensor.shape[axis] - 1, std::abs(stride),
                               &length) ||
        __builtin_add_overflow(reach, length, &reach)) {
      return "has strides that no memory can hold";
    }
  }
  if (!FitsMemory(reach, item_size)) {
    return "has strides that no memory can hold";
  }
  return {};
}

}  // namespace smdebug::hook
