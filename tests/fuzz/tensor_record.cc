#include "tests/fuzz/tensor_record.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "tests/fuzz/property.h"

namespace smdebug::fuzz {
namespace {

using record::DecodedTensor;

std::optional<DecodedTensor> Decode(std::span<const std::byte> bytes) {
  try {
    return record::DecodeTensorRecord(bytes, "file");
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

bool LiesIn(std::span<const std::byte> record, std::string_view text) {
  if (text.empty()) return true;
  const std::string_view whole = base::AsText(record);
  return std::greater_equal<>()(text.data(), whole.data()) &&
         std::less_equal<>()(text.data() + text.size(),
                             whole.data() + whole.size());
}

void CheckBorrowed(std::span<const std::byte> record,
                   const DecodedTensor& tensor) {
  Require(LiesIn(record, tensor.name), "the name lies in the record");
  Require(LiesIn(record, base::AsText(tensor.content)),
          "the content lies in the record");
  Require(std::ranges::all_of(
              tensor.strings,
              [record](std::string_view text) { return LiesIn(record, text); }),
          "the strings lie in the record");
}

void CheckFill(const DecodedTensor& tensor) {
  const TensorView view = {
      .data = tensor.dtype == DType::kString
                  ? static_cast<const void*>(tensor.strings.data())
                  : tensor.content.data(),
      .dtype = tensor.dtype,
      .shape = tensor.shape};
  Require(view.size() >= 0, "no size is negative");
  const auto size = static_cast<uint64_t>(view.size());
  if (tensor.dtype == DType::kString) {
    Require(tensor.strings.size() == size, "the strings fill the shape");
    Require(tensor.content.empty(), "strings have no content");
  } else {
    Require(tensor.content.size() == view.byte_size() &&
                tensor.content.size() == size * ItemSize(tensor.dtype),
            "the content fills the shape");
    Require(tensor.strings.empty(), "numbers have no strings");
  }
}

// Whether the two decode from records that say the same. NaN is itself here.
bool Same(const DecodedTensor& a, const DecodedTensor& b) {
  return (a.wall_time == b.wall_time ||
          (std::isnan(a.wall_time) && std::isnan(b.wall_time))) &&
         a.step == b.step && a.name == b.name && a.mode == b.mode &&
         a.mode_step == b.mode_step && a.dtype == b.dtype &&
         a.shape == b.shape && std::ranges::equal(a.content, b.content) &&
         a.strings == b.strings;
}

void CheckRoundTrip(const DecodedTensor& tensor) {
  const record::TensorEvent event = {.wall_time = tensor.wall_time,
                                     .step = tensor.step,
                                     .name = tensor.name,
                                     .mode = tensor.mode,
                                     .mode_step = tensor.mode_step,
                                     .dtype = tensor.dtype,
                                     .shape = tensor.shape,
                                     .content_bytes = tensor.content.size(),
                                     .strings = tensor.strings};
  std::string encoded;
  std::string tail;
  const uint64_t payload_bytes =
      record::EncodeTensorEvent(event, encoded, tail);
  encoded += base::AsText(tensor.content);
  encoded += tail;
  Require(encoded.size() ==
              record::kHeaderBytes + payload_bytes + record::kFooterBytes,
          "the encoder tells the size of the payload");
  const auto again = Decode(base::AsBytes(encoded));
  Require(again.has_value(), "what was decoded and encoded decodes");
  Require(Same(tensor, *again), "what was decoded and encoded decodes equal");
}

}  // namespace

void CheckTensorRecord(std::span<const std::byte> record) {
  const auto tensor = Decode(record);
  if (!tensor) return;
  CheckBorrowed(record, *tensor);
  CheckFill(*tensor);
  CheckRoundTrip(*tensor);
}

}  // namespace smdebug::fuzz
