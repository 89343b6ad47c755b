#include "src/query/npy.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/query/elements.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

// Whether the elements are written as float32, for want of their type in NumPy.
bool IsForeign(DType dtype) {
  const ElementType* type = FindElementType(dtype);
  return type != nullptr && !type->in_numpy;
}

// NumPy's code of a type of numbers: "<f4", "|u1", "<c16".
std::string CodeOf(DType dtype) {
  if (IsForeign(dtype)) dtype = DType::kFloat32;
  const size_t size = ItemSize(dtype);
  const auto letter = [&] {
    switch (KindOf(dtype)) {
      case ElementKind::kBoolean:
        return 'b';
      case ElementKind::kSigned:
        return 'i';
      case ElementKind::kUnsigned:
        return 'u';
      case ElementKind::kFloat:
        return 'f';
      case ElementKind::kComplex:
        return 'c';
      case ElementKind::kText:
        break;
    }
    return 'U';
  };
  return fmt::format("{}{}{}", size == 1 ? '|' : '<', letter(), size);
}

// The code points of UTF-8 text; U+FFFD for each byte that is not.
std::vector<uint32_t> CodePoints(std::string_view text) {
  constexpr uint32_t kReplacement = 0xFFFD;
  std::vector<uint32_t> points;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80                    ? 1
                          : lead >= 0xC2 && lead < 0xE0  ? 2
                          : lead >= 0xE0 && lead < 0xF0  ? 3
                          : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                         : 0;
    uint32_t point = length == 1   ? lead
                     : length == 2 ? lead & 0x1Fu
                     : length == 3 ? lead & 0x0Fu
                                   : lead & 0x07u;
    bool valid = length > 0 && i + length <= text.size();
    for (size_t j = 1; valid && j < length; ++j) {
      const auto next = static_cast<unsigned char>(text[i + j]);
      valid = (next & 0xC0) == 0x80;
      point = point << 6 | (next & 0x3Fu);
    }
    // Too long a form, half of a pair, or beyond Unicode.
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    valid = valid && point >= kLeast[length] && point <= 0x10FFFF &&
            (point < 0xD800 || point > 0xDFFF);
    points.push_back(valid ? point : kReplacement);
    i += valid ? length : 1;
  }
  return points;
}

std::span<const std::string_view> StringsOf(const TensorView& tensor) {
  return {static_cast<const std::string_view*>(tensor.data),
          static_cast<size_t>(tensor.size())};
}

}  // namespace

std::string NpyHeader(std::string_view descr, std::span<const int64_t> shape) {
  constexpr size_t kPrefix = 10;  // Magic, version and length.
  constexpr size_t kAlignment = 64;
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                  descr, ShapeText(shape));
  const size_t used = kPrefix + dict.size() + 1;
  dict.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  dict += '\n';
  if (dict.size() > 0xFFFF) {
    throw Error(fmt::format("a tensor of {} axes is too much for a .npy file",
                            shape.size()));
  }
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

NpyArray::NpyArray(const TensorView& tensor) : tensor_(tensor) {
  const auto count = static_cast<uint64_t>(tensor.size());
  if (tensor.dtype == DType::kString) {
    characters_ = 1;  // NumPy has no strings of no length.
    for (const std::string_view text : StringsOf(tensor)) {
      characters_ = std::max(characters_, CodePoints(text).size());
    }
    header_ = NpyHeader(fmt::format("<U{}", characters_), tensor.shape);
    content_bytes_ = count * characters_ * sizeof(uint32_t);
    return;
  }
  header_ = NpyHeader(CodeOf(tensor.dtype), tensor.shape);
  content_bytes_ = count * (IsForeign(tensor.dtype) ? sizeof(float)
                                                    : ItemSize(tensor.dtype));
}

void NpyArray::Write(const ByteSink& sink) const {
  sink(base::AsBytes(header_));
  if (tensor_.dtype == DType::kString) {
    WriteStrings(sink);
  } else if (IsForeign(tensor_.dtype)) {
    WriteAsFloats(sink);
  } else {
    sink({static_cast<const std::byte*>(tensor_.data), content_bytes_});
  }
}

void NpyArray::WriteAsFloats(const ByteSink& sink) const {
  std::array<float, 4096> floats;
  const auto* from = static_cast<const std::byte*>(tensor_.data);
  auto left = static_cast<size_t>(tensor_.size());
  while (left > 0) {
    const size_t count = std::min(left, floats.size());
    ToFloats(from, tensor_.dtype, count, floats.data());
    sink(std::as_bytes(std::span(floats).first(count)));
    from += count * ItemSize(tensor_.dtype);
    left -= count;
  }
}

void NpyArray::WriteStrings(const ByteSink& sink) const {
  for (const std::string_view text : StringsOf(tensor_)) {
    std::vector<uint32_t> points = CodePoints(text);
    points.resize(characters_);
    sink(std::as_bytes(std::span(points)));
  }
}

}  // namespace smdebug::query
