#include "src/record/summary_event.h"

#include <bit>
#include <cctype>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/regex.h"
#include "src/record/event_fields.h"
#include "src/record/record.h"
#include "src/record/wire.h"

namespace smdebug::record {
namespace {

// Bytes of the UTF-8 sequence that `lead` announces; 1 if it announces none.
size_t SequenceBytes(unsigned char lead) {
  if (lead >= 0xF0) return 4;
  if (lead >= 0xE0) return 3;
  return lead >= 0xC0 ? 2 : 1;
}

// Appends the character beyond ASCII that `rest` starts with, or '_' for it.
// Returns how many bytes it takes.
size_t AppendCleanCharacter(std::string_view rest, std::string& out) {
  static const base::Regex kLetter("\\A\\w\\z", "tag");
  static const base::Regex kCharacter("(?s)\\A.\\z", "tag");
  const std::string_view character =
      rest.substr(0, SequenceBytes(static_cast<unsigned char>(rest.front())));
  if (kLetter.Search(character)) {
    out.append(character);
    return character.size();
  }
  out.push_back('_');
  return kCharacter.Search(character) ? character.size() : 1;
}

// Numbers that are zero are left out, as proto3 does outside a oneof.
bool IsPresent(double value) { return std::bit_cast<uint64_t>(value) != 0; }

template <typename Field>
void AppendDouble(Field field, double value, std::string& out) {
  if (IsPresent(value)) AppendFixed(field, value, out);
}

template <typename Field>
void AppendPacked(Field field, std::span<const double> values,
                  std::string& out) {
  if (values.empty()) return;
  const auto bytes = std::as_bytes(values);
  AppendText(field, base::AsText(bytes), out);
}

// Appends a record whose single value has this tag and `content`, the whole
// field of what it holds.
void AppendValueRecord(double wall_time, int64_t step, std::string_view tag,
                       std::string_view content, std::string& out) {
  std::string payload;
  const uint64_t tag_bytes = tag.empty() ? 0 : FieldBytes(tag.size());
  const uint64_t value_bytes = tag_bytes + content.size();
  AppendDouble(EventField::kWallTime, wall_time, payload);
  if (step != 0) {
    AppendVarint(EventField::kStep, static_cast<uint64_t>(step), payload);
  }
  AppendOpening(EventField::kSummary, FieldBytes(value_bytes), payload);
  AppendOpening(SummaryField::kValue, value_bytes, payload);
  if (!tag.empty()) AppendText(ValueField::kTag, tag, payload);
  payload.append(content);

  const uint32_t check = base::MaskCrc(base::Crc32c(base::AsBytes(payload)));
  out.append(base::AsText(MakeHeader(payload.size())));
  out.append(payload);
  out.append(base::AsText(MakeFooter(check)));
}

}  // namespace

std::string CleanTag(std::string_view name) {
  constexpr std::string_view kKept = "-/._";
  std::string clean;
  clean.reserve(name.size());
  for (size_t at = 0; at < name.size();) {
    const auto c = static_cast<unsigned char>(name[at]);
    if (c >= 0x80) {
      at += AppendCleanCharacter(name.substr(at), clean);
      continue;
    }
    const bool keep =
        std::isalnum(c) != 0 || kKept.find(name[at]) != std::string_view::npos;
    clean.push_back(keep ? name[at] : '_');
    ++at;
  }
  return clean.erase(0, clean.find_first_not_of('/'));
}

void AppendScalarEvent(double wall_time, int64_t step, std::string_view tag,
                       double value, std::string& out) {
  std::string content;
  // A member of a oneof is written even when it is zero.
  AppendFixed(ValueField::kSimpleValue, static_cast<float>(value), content);
  AppendValueRecord(wall_time, step, tag, content, out);
}

void AppendHistogramEvent(double wall_time, int64_t step, std::string_view tag,
                          const HistogramSummary& histogram, std::string& out) {
  std::string message;
  AppendDouble(HistogramField::kMin, histogram.min, message);
  AppendDouble(HistogramField::kMax, histogram.max, message);
  AppendDouble(HistogramField::kNum, histogram.num, message);
  AppendDouble(HistogramField::kSum, histogram.sum, message);
  AppendDouble(HistogramField::kSumSquares, histogram.sum_squares, message);
  AppendPacked(HistogramField::kBucketLimit, histogram.limits, message);
  AppendPacked(HistogramField::kBucket, histogram.counts, message);
  std::string content;
  AppendText(ValueField::kHistogram, message, content);
  AppendValueRecord(wall_time, step, tag, content, out);
}

}  // namespace smdebug::record
