#include "src/index/step_index.h"

#include <algorithm>
#include <charconv>
#include <concepts>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/json_writer.h"

namespace smdebug::index {
namespace {

// Generous guesses of what an entry takes besides its names, so that the text
// is allocated once.
constexpr size_t kFixedBytes = 256;
constexpr size_t kTensorBytes = 112;
constexpr size_t kShapeBytes = 112;
constexpr size_t kScalarBytes = 192;
constexpr size_t kCountsBytes = 224;

size_t EstimateSize(const StepIndex& index) {
  size_t size = kFixedBytes + index.event_file.size();
  for (const auto& entry : index.tensors) {
    size += kTensorBytes + entry.name.size() + entry.stored_as.size();
  }
  for (const auto& entry : index.shapes) {
    size += kShapeBytes + entry.name.size() + entry.original_name.size() +
            22 * entry.shape.size();
  }
  for (const auto& entry : index.scalars) {
    size += kScalarBytes + entry.name.size();
  }
  for (const auto& entry : index.counts) {
    size += kCountsBytes + entry.name.size();
  }
  return size;
}

// Whether `c` stands for itself in a JSON string, as in nearly every name.
constexpr bool IsPlain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// Appends literal pieces of JSON and values between them. A step can have a
// thousand entries, hundreds of times a second, so keys are not built one by
// one.
class Text {
 public:
  explicit Text(size_t capacity) { out_.reserve(capacity); }

  Text& Raw(std::string_view json) {
    out_ += json;
    return *this;
  }

  Text& String(std::string_view value) {
    if (std::ranges::all_of(value, IsPlain)) {
      out_ += '"';
      out_ += value;
      out_ += '"';
    } else {
      base::AppendJsonString(value, out_);
    }
    return *this;
  }

  Text& Number(std::integral auto value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    out_.append(digits, end);
    return *this;
  }

  // "[", the items of `list` by `append_item`, and "]".
  template <typename List, typename AppendItem>
  Text& Array(const List& list, AppendItem append_item) {
    Raw("[");
    bool first = true;
    for (const auto& item : list) {
      if (!first) Raw(", ");
      first = false;
      append_item(item);
    }
    return Raw("]");
  }

  Text& Where(const Location& location) {
    Raw(R"(, "start_idx": )").Number(location.start);
    Raw(R"(, "length": )").Number(location.length);
    if (location.crc32c) Raw(R"(, "crc32c": )").Number(*location.crc32c);
    return *this;
  }

  std::string_view text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

void AppendScalars(const std::vector<ScalarEntry>& scalars, Text& text) {
  text.Raw(R"(, "scalar_payload": )").Array(scalars, [&](const auto& entry) {
    text.Raw(R"({"tensorname": )").String(entry.name);
    text.Raw(R"(, "step": )").Number(entry.step);
    text.Raw(R"(, "mode": ")").Raw(ModeName(entry.mode));
    text.Raw(R"(", "mode_step": )").Number(entry.mode_step);
    text.Where(entry.location).Raw("}");
  });
}

void AppendCounts(const std::vector<CountsEntry>& counts, Text& text) {
  text.Raw(R"(, "value_counts": )").Array(counts, [&](const auto& entry) {
    text.Raw(R"({"tensorname": )").String(entry.name);
    text.Raw(R"(, "dtype": ")").Raw(DTypeName(entry.dtype));
    text.Raw(R"(", "count": )").Number(entry.count);
    text.Raw(R"(, "nan": )").Number(entry.nan);
    text.Raw(R"(, "pos_inf": )").Number(entry.pos_inf);
    text.Raw(R"(, "neg_inf": )").Number(entry.neg_inf);
    text.Raw(R"(, "zero": )").Number(entry.zero).Raw("}");
  });
}

}  // namespace

std::string ToJson(const StepIndex& index) {
  Text text(EstimateSize(index));
  text.Raw(R"({"meta": {"mode": ")").Raw(ModeName(index.mode));
  text.Raw(R"(", "mode_step": )").Number(index.mode_step);
  if (!index.event_file.empty()) {
    text.Raw(R"(, "event_file_name": )").String(index.event_file);
  }
  text.Raw(R"(}, "tensor_payload": )");
  text.Array(index.tensors, [&](const TensorEntry& entry) {
    text.Raw(R"({"tensorname": )").String(entry.name);
    text.Where(entry.location);
    if (!entry.stored_as.empty()) {
      text.Raw(R"(, "stored_as": )").String(entry.stored_as);
    }
    text.Raw("}");
  });
  text.Raw(R"(, "shape_payload": )");
  text.Array(index.shapes, [&](const ShapeEntry& entry) {
    text.Raw(R"({"tensorname": )").String(entry.name);
    text.Raw(R"(, "originalname": )").String(entry.original_name);
    text.Raw(R"(, "shape": )");
    text.Array(entry.shape, [&](int64_t extent) { text.Number(extent); });
    text.Raw("}");
  });
  if (!index.scalars.empty()) AppendScalars(index.scalars, text);
  if (!index.counts.empty()) AppendCounts(index.counts, text);
  const uint32_t check = base::Crc32c(base::AsBytes(text.text()));
  return text.Raw(kCheckKey).Number(check).Raw("}").Take();
}

}  // namespace smdebug::index
