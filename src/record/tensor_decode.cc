#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <protozero/pbf_message.hpp>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/text.h"
#include "src/record/event_fields.h"
#include "src/record/record.h"
#include "src/record/shape.h"
#include "src/record/tensor_event.h"

namespace smdebug::record {
namespace {

using protozero::pbf_message;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr auto kVarint = pbf_wire_type::varint;
constexpr auto kFixed64 = pbf_wire_type::fixed64;
constexpr auto kBytes = pbf_wire_type::length_delimited;

// The type number that smdebug 1.0 leaves on the wire for strings: none.
constexpr uint64_t kAbsentDType = 0;

// Decodes one record. Every loop below skips fields it does not know and fields
// whose wire type is not the expected one, as protobuf does; asking protozero
// for a value of another wire type would be a programming error.
class Decoder {
 public:
  explicit Decoder(std::string_view file) : file_(file) {}

  DecodedTensor Decode(std::span<const std::byte> record) {
    const std::string_view payload = Unframe(record);
    try {
      DecodeEvent(pbf_message<EventField>(payload.data(), payload.size()));
    } catch (const protozero::exception& error) {
      Fail(fmt::format("a message is cut short or malformed ({})",
                       error.what()));
    }
    if (!tensor_seen_) Fail("the record holds no tensor");
    if (!mode_step_.has_value()) mode_step_ = out_.step;
    out_.mode_step = *mode_step_;
    CheckContent();
    return std::move(out_);
  }

 private:
  [[noreturn]] void Fail(std::string_view reason) const {
    throw FormatError(file_, reason);
  }

  std::string_view Unframe(std::span<const std::byte> record) const {
    if (record.size() < kHeaderBytes + kFooterBytes) {
      Fail(fmt::format("a record of {} bytes is shorter than its frame",
                       record.size()));
    }
    const auto length = base::LoadLittleEndian<uint64_t>(record.data());
    const auto header = record.first(kHeaderBytes);
    if (!std::ranges::equal(header, MakeHeader(length))) {
      Fail("the checksum of a record's length is wrong");
    }
    if (length != record.size() - kHeaderBytes - kFooterBytes) {
      Fail(fmt::format("a record of {} bytes claims a payload of {}",
                       record.size(), length));
    }
    if (length > kMaxPayloadBytes) {
      Fail(fmt::format("a payload of {} bytes is larger than a message can be",
                       length));
    }
    const auto payload = record.subspan(kHeaderBytes, length);
    const auto check =
        base::LoadLittleEndian<uint32_t>(record.last<kFooterBytes>().data());
    if (check != kTensorFooter &&
        check != base::MaskCrc(base::Crc32c(payload))) {
      Fail("the checksum of a record's payload is wrong");
    }
    return base::AsText(payload);
  }

  void DecodeEvent(pbf_message<EventField> event) {
    bool seen = false;
    while (event.next()) {
      switch (event.tag_and_type()) {
        case tag_and_type(EventField::kWallTime, kFixed64):
          out_.wall_time = event.get_double();
          break;
        case tag_and_type(EventField::kStep, kVarint):
          out_.step = event.get_int64();
          break;
        case tag_and_type(EventField::kSummary, kBytes):
          RequireFirst(&seen, "summary");
          DecodeSummary(event.get_message());
          break;
        default:
          event.skip();
      }
    }
  }

  void DecodeSummary(pbf_message<SummaryField> summary) {
    bool seen = false;
    while (summary.next()) {
      if (summary.tag_and_type() !=
          tag_and_type(SummaryField::kValue, kBytes)) {
        summary.skip();
        continue;
      }
      RequireFirst(&seen, "value");
      DecodeValue(summary.get_message());
    }
  }

  void DecodeValue(pbf_message<ValueField> value) {
    while (value.next()) {
      switch (value.tag_and_type()) {
        case tag_and_type(ValueField::kTag, kBytes):
          out_.name = TextOf(value);
          break;
        case tag_and_type(ValueField::kTensor, kBytes):
          RequireFirst(&tensor_seen_, "tensor");
          DecodeTensor(value.get_message());
          break;
        case tag_and_type(ValueField::kMetadata, kBytes):
          DecodeMetadata(value.get_message());
          break;
        default:
          value.skip();
      }
    }
  }

  void DecodeTensor(pbf_message<TensorField> tensor) {
    bool shape_seen = false;
    while (tensor.next()) {
      switch (tensor.tag_and_type()) {
        case tag_and_type(TensorField::kDType, kVarint):
          dtype_ = tensor.get_uint64();
          break;
        case tag_and_type(TensorField::kShape, kBytes):
          RequireFirst(&shape_seen, "shape");
          DecodeShape(tensor.get_message());
          break;
        case tag_and_type(TensorField::kContent, kBytes):
          out_.content = base::AsBytes(TextOf(tensor));
          break;
        case tag_and_type(TensorField::kString, kBytes):
          out_.strings.push_back(TextOf(tensor));
          break;
        default:
          tensor.skip();
      }
    }
  }

  void DecodeShape(pbf_message<ShapeField> shape) {
    while (shape.next()) {
      if (shape.tag_and_type() != tag_and_type(ShapeField::kDim, kBytes)) {
        shape.skip();
        continue;
      }
      int64_t extent = 0;
      pbf_message<DimField> dim = shape.get_message();
      while (dim.next()) {
        if (dim.tag_and_type() == tag_and_type(DimField::kSize, kVarint)) {
          extent = dim.get_int64();
        } else {
          dim.skip();
        }
      }
      if (extent < 0) Fail(fmt::format("a dimension has the size {}", extent));
      out_.shape.push_back(extent);
    }
  }

  void DecodeMetadata(pbf_message<MetadataField> metadata) {
    while (metadata.next()) {
      if (metadata.tag_and_type() !=
          tag_and_type(MetadataField::kPlugin, kBytes)) {
        metadata.skip();
        continue;
      }
      DecodePlugin(metadata.get_message());
    }
  }

  void DecodePlugin(pbf_message<PluginField> plugin) {
    std::string_view name;
    std::string_view content;
    while (plugin.next()) {
      switch (plugin.tag_and_type()) {
        case tag_and_type(PluginField::kName, kBytes):
          name = TextOf(plugin);
          break;
        case tag_and_type(PluginField::kContent, kBytes):
          content = TextOf(plugin);
          break;
        default:
          plugin.skip();
      }
    }
    if (name == kModeStepPlugin) {
      mode_step_ = base::ParseInt(content);
      if (!mode_step_.has_value()) Fail("the mode step is not a number");
    } else if (name == kModePlugin) {
      const std::optional<int64_t> mode = base::ParseInt(content);
      if (!mode.has_value() || *mode < 1 || *mode > 4) {
        Fail("the mode is not one of 1, 2, 3 and 4");
      }
      out_.mode = static_cast<Mode>(*mode);
    }
  }

  // Settles the type, and that the content is as long as the shape says.
  void CheckContent() {
    const bool is_string = dtype_ == kAbsentDType ||
                           dtype_ == static_cast<uint64_t>(DType::kString);
    const size_t item_bytes = is_string || dtype_ > UINT8_MAX
                                  ? 0
                                  : ItemSize(static_cast<DType>(dtype_));
    if (!is_string && item_bytes == 0) {
      Fail(fmt::format("the tensor's type {} is not known", dtype_));
    }
    out_.dtype = is_string ? DType::kString : static_cast<DType>(dtype_);
    const std::optional<uint64_t> count = CountElements(out_.shape);
    const bool fills = is_string
                           ? out_.content.empty() && out_.shape.size() == 1 &&
                                 count == out_.strings.size()
                           : out_.strings.empty() && count.has_value() &&
                                 Fill(out_.content.size(), *count, item_bytes);
    if (!fills) {
      Fail(
          fmt::format("the content of a tensor of type {} does not fill its "
                      "shape",
                      DTypeName(out_.dtype)));
    }
  }

  void RequireFirst(bool* seen, std::string_view what) const {
    if (*seen) Fail(fmt::format("the record holds more than one {}", what));
    *seen = true;
  }

  template <typename Field>
  static std::string_view TextOf(pbf_message<Field>& message) {
    const protozero::data_view view = message.get_view();
    return {view.data(), view.size()};
  }

  const std::string_view file_;
  DecodedTensor out_;
  uint64_t dtype_ = kAbsentDType;
  bool tensor_seen_ = false;
  // The mode step is the step where nothing else is said, and the mode GLOBAL.
  std::optional<int64_t> mode_step_;
};

}  // namespace

DecodedTensor DecodeTensorRecord(std::span<const std::byte> record,
                                 std::string_view file) {
  return Decoder(file).Decode(record);
}

}  // namespace smdebug::record
