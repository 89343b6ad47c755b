#include <array>
#include <cassert>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/record/event_fields.h"
#include "src/record/record.h"
#include "src/record/shape.h"
#include "src/record/tensor_event.h"
#include "src/record/wire.h"

namespace smdebug::record {
namespace {

constexpr uint64_t kFixed64Bytes = 1 + sizeof(uint64_t);

// The decimal digits of a number, without an allocation.
class Decimal {
 public:
  explicit Decimal(int64_t value) noexcept {
    const auto [end, error] =
        std::to_chars(digits_.data(), digits_.data() + digits_.size(), value);
    size_ = static_cast<size_t>(end - digits_.data());
  }

  std::string_view text() const noexcept { return {digits_.data(), size_}; }

 private:
  std::array<char, std::numeric_limits<int64_t>::digits10 + 2> digits_{};
  size_t size_ = 0;
};

// Bytes of the nested messages, inside out. Numbers and texts that proto3
// leaves out when they are zero or empty count nothing.
struct Sizes {
  uint64_t shape = 0;
  uint64_t tensor = 0;
  uint64_t mode_step_plugin = 0;
  uint64_t mode_plugin = 0;
  uint64_t metadata = 0;
  uint64_t value = 0;
  uint64_t summary = 0;
  uint64_t before_summary = 0;
  uint64_t payload = 0;
};

uint64_t DimBytes(std::string_view tensor, int64_t extent) {
  const uint64_t name_bytes = tensor.size() + 1 + Decimal(extent).text().size();
  const uint64_t size_bytes =
      extent == 0 ? 0 : 1 + VarintBytes(static_cast<uint64_t>(extent));
  return size_bytes + FieldBytes(name_bytes);
}

uint64_t PluginBytes(std::string_view name, std::string_view content) {
  return FieldBytes(name.size()) + FieldBytes(content.size());
}

Sizes Measure(const TensorEvent& event, std::string_view mode_step,
              std::string_view mode) {
  Sizes sizes;
  for (const int64_t extent : event.shape) {
    sizes.shape += FieldBytes(DimBytes(event.name, extent));
  }
  sizes.tensor = FieldBytes(sizes.shape);
  if (event.dtype == DType::kString) {
    for (const std::string_view text : event.strings) {
      sizes.tensor += FieldBytes(text.size());
    }
  } else {
    sizes.tensor += 1 + VarintBytes(static_cast<uint64_t>(event.dtype));
    if (event.content_bytes > 0) {
      sizes.tensor += FieldBytes(event.content_bytes);
    }
  }
  sizes.mode_step_plugin = PluginBytes(kModeStepPlugin, mode_step);
  sizes.mode_plugin = PluginBytes(kModePlugin, mode);
  sizes.metadata =
      FieldBytes(sizes.mode_step_plugin) + FieldBytes(sizes.mode_plugin);
  sizes.value = FieldBytes(sizes.tensor) + FieldBytes(sizes.metadata);
  if (!event.name.empty()) sizes.value += FieldBytes(event.name.size());
  sizes.summary = FieldBytes(sizes.value);
  if (event.wall_time != 0) sizes.before_summary += kFixed64Bytes;
  if (event.step != 0) {
    sizes.before_summary += 1 + VarintBytes(static_cast<uint64_t>(event.step));
  }
  sizes.payload = sizes.before_summary + FieldBytes(sizes.summary);
  return sizes;
}

void RequireEncodable(const TensorEvent& event) {
  if (event.content_bytes > kMaxPayloadBytes) {
    throw UnsupportedTensor(
        event.name, fmt::format("{} bytes are more than a record holds ({})",
                                event.content_bytes, kMaxPayloadBytes));
  }
  const std::optional<uint64_t> count = CountElements(event.shape);
  if (event.dtype == DType::kString) {
    if (event.shape.size() != 1) {
      throw UnsupportedTensor(
          event.name, fmt::format("strings of rank {}; only rank 1 is stored",
                                  event.shape.size()));
    }
    if (count != event.strings.size()) {
      throw UnsupportedTensor(
          event.name, fmt::format("{} strings do not fill the shape [{}]",
                                  event.strings.size(), event.shape[0]));
    }
    return;
  }
  if (!count.has_value() ||
      !Fill(event.content_bytes, *count, ItemSize(event.dtype))) {
    throw UnsupportedTensor(
        event.name,
        fmt::format("{} bytes of {} do not fill the shape [{}]",
                    event.content_bytes, DTypeName(event.dtype),
                    fmt::join(event.shape.begin(), event.shape.end(), ", ")));
  }
}

void AppendDim(std::string_view tensor, int64_t extent, Room& out) {
  const Decimal digits(extent);
  AppendOpening(ShapeField::kDim, DimBytes(tensor, extent), out);
  if (extent != 0) {
    AppendVarint(DimField::kSize, static_cast<uint64_t>(extent), out);
  }
  AppendOpening(DimField::kName, tensor.size() + 1 + digits.text().size(), out);
  out.append(tensor);
  out.push_back('_');
  out.append(digits.text());
}

void AppendPlugin(std::string_view name, std::string_view content, Room& out) {
  AppendOpening(MetadataField::kPlugin, PluginBytes(name, content), out);
  AppendText(PluginField::kName, name, out);
  AppendText(PluginField::kContent, content, out);
}

// Appends a record up to its content.
void AppendHead(const TensorEvent& event, const Sizes& sizes, Room& out) {
  out.append(base::AsText(MakeHeader(sizes.payload)));
  if (event.wall_time != 0) {
    AppendFixed(EventField::kWallTime, event.wall_time, out);
  }
  if (event.step != 0) {
    AppendVarint(EventField::kStep, static_cast<uint64_t>(event.step), out);
  }
  AppendOpening(EventField::kSummary, sizes.summary, out);
  AppendOpening(SummaryField::kValue, sizes.value, out);
  if (!event.name.empty()) AppendText(ValueField::kTag, event.name, out);

  AppendOpening(ValueField::kTensor, sizes.tensor, out);
  const bool is_string = event.dtype == DType::kString;
  if (!is_string) {
    AppendVarint(TensorField::kDType, static_cast<uint64_t>(event.dtype), out);
  }
  AppendOpening(TensorField::kShape, sizes.shape, out);
  for (const int64_t extent : event.shape) AppendDim(event.name, extent, out);
  if (is_string) {
    for (const std::string_view text : event.strings) {
      AppendText(TensorField::kString, text, out);
    }
  } else if (event.content_bytes > 0) {
    AppendOpening(TensorField::kContent, event.content_bytes, out);
  }
}

// A padding field that moves content from `content_at` in the file to where it
// is aligned; empty if it is already. A field has two bytes at least.
std::string MakePadding(uint64_t content_at) {
  const uint64_t past = content_at % kContentAlignment;
  if (past == 0) return {};
  uint64_t bytes = kContentAlignment - past;
  if (bytes < 2) bytes += kContentAlignment;
  std::string padding;
  AppendOpening(EventField::kPadding, bytes - 2, padding);
  padding.resize(bytes);
  return padding;
}

}  // namespace

uint64_t EncodeTensorEvent(const TensorEvent& event, std::string& head,
                           std::string& tail) {
  RequireEncodable(event);
  const Decimal mode_step(event.mode_step);
  const Decimal mode(static_cast<int64_t>(event.mode));
  const Sizes sizes = Measure(event, mode_step.text(), mode.text());
  if (sizes.payload > kMaxPayloadBytes) {
    throw UnsupportedTensor(
        event.name, fmt::format("its message of {} bytes is more than a "
                                "record holds ({})",
                                sizes.payload, kMaxPayloadBytes));
  }

  const size_t begin = head.size();
  const uint64_t metadata_bytes = FieldBytes(sizes.metadata);
  const bool is_string = event.dtype == DType::kString;
  const uint64_t content_bytes = is_string ? 0 : event.content_bytes;
  Room head_room(head,
                 kHeaderBytes + sizes.payload - content_bytes - metadata_bytes);
  AppendHead(event, sizes, head_room);
  assert(head_room.left() == 0);

  uint64_t payload = sizes.payload;
  if (content_bytes >= kAlignedContentBytes) {
    const std::string padding =
        MakePadding(event.file_offset + head.size() - begin);
    if (payload + padding.size() <= kMaxPayloadBytes) {
      payload += padding.size();
      head.insert(begin + kHeaderBytes + sizes.before_summary, padding);
      head.replace(begin, kHeaderBytes, base::AsText(MakeHeader(payload)));
    }
  }

  Room tail_room(tail, metadata_bytes + kFooterBytes);
  AppendOpening(ValueField::kMetadata, sizes.metadata, tail_room);
  AppendPlugin(kModeStepPlugin, mode_step.text(), tail_room);
  AppendPlugin(kModePlugin, mode.text(), tail_room);
  tail_room.append(base::AsText(MakeFooter(kTensorFooter)));
  assert(tail_room.left() == 0);
  return payload;
}

}  // namespace smdebug::record
