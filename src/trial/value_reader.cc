#include "src/trial/value_reader.h"

#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/crc32c.h"
#include "src/base/text.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "src/trial/reduction_name.h"

namespace smdebug::trial {
namespace {

// Content that came through a checksum and a name, ready to be handed out.
struct AlignedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};

// `content`, copied only where it does not lie as its type wants it.
AlignedBytes Align(Bytes content, DType dtype, Blob blob) {
  const size_t item = ItemSize(dtype);
  const auto address = reinterpret_cast<uintptr_t>(content.data());
  // Complex numbers are aligned as their parts.
  const bool complex = KindOf(dtype) == ElementKind::kComplex;
  const size_t alignment = complex ? item / 2 : item;
  if (content.empty() || address % alignment == 0) {
    return {content, std::move(blob.owner)};
  }
  // libstdc++ 11 has no make_shared_for_overwrite.
  std::shared_ptr<std::max_align_t[]> copy =
      std::make_unique_for_overwrite<std::max_align_t[]>(
          (content.size() + sizeof(std::max_align_t) - 1) /
          sizeof(std::max_align_t));
  std::memcpy(copy.get(), content.data(), content.size());
  const auto* first = reinterpret_cast<const std::byte*>(copy.get());
  return {Bytes(first, content.size()), std::move(copy)};
}

void Check(const Blob& blob, const RecordPlace& place, bool verify) {
  const Entry& entry = place.entry;
  if (blob.bytes.size() != entry.length) {
    throw FormatError(
        "",
        fmt::format("is cut short: the record of '{}' is at bytes {} to {}, "
                    "and {} of them {} there",
                    place.tensor, entry.start, entry.start + entry.length,
                    blob.bytes.size(),
                    base::IsOrAre(static_cast<int64_t>(blob.bytes.size()))),
        DamageKind::kShortContent);
  }
  constexpr size_t kFrame = record::kHeaderBytes + record::kFooterBytes;
  if (!verify || !entry.has_crc32c || entry.length < kFrame) return;
  const Bytes payload =
      blob.bytes.subspan(record::kHeaderBytes, entry.length - kFrame);
  if (base::Crc32c(payload) != entry.crc32c) {
    throw FormatError(
        "", fmt::format("the checksum of '{}' is wrong", place.tensor),
        DamageKind::kChecksum);
  }
}

// Whether a record named `name` is what the index says there is.
bool IsOf(std::string_view name, const RecordPlace& place) {
  if (place.entry.shared) return true;
  const auto reduction = place.entry.part.reduction();
  if (!reduction) return name == place.tensor;
  return SplitReductionName(name) == ReductionOf{*reduction, place.tensor};
}

}  // namespace

Value DecodeValue(Blob blob, const RecordPlace& place, bool verify) {
  Check(blob, place, verify);
  record::DecodedTensor decoded = record::DecodeTensorRecord(blob.bytes, "");
  if (!IsOf(decoded.name, place)) {
    throw FormatError("", fmt::format("holds '{}' where the index has '{}'",
                                      decoded.name, place.tensor));
  }
  if (decoded.dtype == DType::kString) {
    return {std::move(decoded.shape), std::move(decoded.strings),
            std::move(blob.owner)};
  }
  const Bytes content = decoded.content;
  AlignedBytes aligned = Align(content, decoded.dtype, std::move(blob));
  return {decoded.dtype, std::move(decoded.shape), aligned.bytes,
          std::move(aligned.owner)};
}

}  // namespace smdebug::trial
