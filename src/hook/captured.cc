#include "src/hook/captured.h"

#include <fmt/format.h>

namespace smdebug::hook {

namespace {

// What the heap adds to each piece of memory.
constexpr uint64_t kPerPiece = 16;

template <typename T>
uint64_t HeapBytes(const std::vector<T>& list) noexcept {
  return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + kPerPiece;
}

}  // namespace

uint64_t HeldBytes(const CapturedTensor& tensor) noexcept {
  uint64_t bytes =
      sizeof(tensor) + HeapBytes(tensor.shape) + HeapBytes(tensor.strings);
  for (const std::string& text : tensor.strings) bytes += text.capacity();
  if (tensor.content != nullptr) bytes += sizeof(Buffer) + 2 * kPerPiece;
  // Names are shared, but only as long as the job does not invent new ones.
  if (tensor.plan != nullptr) bytes += tensor.plan->name.size();
  if (tensor.digest && tensor.digest->histogram) {
    bytes += HeapBytes(tensor.digest->histogram->limits) +
             HeapBytes(tensor.digest->histogram->counts);
  }
  return bytes;
}

uint64_t HeldBytes(const CapturedScalar& scalar) noexcept {
  return sizeof(scalar) + scalar.name.capacity() + kPerPiece;
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
  uint64_t count = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent < 0) return fmt::format("has an axis of length {}", extent);
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count)) {
      return "has more elements than memory can hold";
    }
  }
  if (count != 0 && tensor.data == nullptr) return "has no data";
  return {};
}

}  // namespace smdebug::hook
