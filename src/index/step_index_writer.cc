#include "src/index/step_index_writer.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstring>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/json_writer.h"

namespace smdebug::index {
namespace {

// The byte `c` eight times.
constexpr uint64_t Eight(unsigned char c) { return 0x0101010101010101u * c; }

// Whether each character stands for itself in a JSON string, as in nearly every
// name. Looks at eight at a time.
bool IsPlain(std::string_view text) {
  const auto is_zero = [](uint64_t word) {  // The top bit of a byte tells.
    return (word - Eight(1)) & ~word;
  };
  const auto special = [&](uint64_t word) {
    return word | ((word - Eight(' ')) & ~word) | is_zero(word ^ Eight('"')) |
           is_zero(word ^ Eight('\\')) | is_zero(word ^ Eight(0x7F));
  };
  uint64_t found = 0;
  uint64_t word = 0;
  for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    found |= special(word);
  }
  word = Eight(' ');
  std::ranges::copy(text, reinterpret_cast<char*>(&word));
  found |= special(word);
  return (found & Eight(0x80)) == 0;
}

// Appends literal pieces of JSON and values between them, so that keys are not
// built one by one.
class Text {
 public:
  explicit Text(std::string& out) : out_(out) {}

  // Begins an item of a list.
  Text& Item(std::string_view json) {
    if (!out_.empty()) out_ += ", ";
    return Raw(json);
  }

  Text& Raw(std::string_view json) {
    out_ += json;
    return *this;
  }

  Text& String(std::string_view value) {
    if (IsPlain(value)) {
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

  Text& Where(const Location& location) {
    Raw(R"(, "start_idx": )").Number(location.start);
    Raw(R"(, "length": )").Number(location.length);
    if (location.crc32c) Raw(R"(, "crc32c": )").Number(*location.crc32c);
    return *this;
  }

 private:
  std::string& out_;
};

}  // namespace

void StepIndexWriter::AddTensor(std::string_view name, const Location& location,
                                std::string_view stored_as) {
  Text text(tensors_);
  text.Item(R"({"tensorname": )").String(name).Where(location);
  if (!stored_as.empty()) text.Raw(R"(, "stored_as": )").String(stored_as);
  text.Raw("}");
}

void StepIndexWriter::AddShape(std::string_view name,
                               std::string_view original_name,
                               std::span<const int64_t> shape,
                               std::optional<DType> dtype) {
  Text text(shapes_);
  text.Item(R"({"tensorname": )").String(name);
  text.Raw(R"(, "originalname": )").String(original_name);
  text.Raw(R"(, "shape": [)");
  for (size_t i = 0; i < shape.size(); ++i) {
    text.Raw(i == 0 ? "" : ", ").Number(shape[i]);
  }
  text.Raw("]");
  if (dtype) text.Raw(R"(, "dtype": ")").Raw(DTypeName(*dtype)).Raw("\"");
  text.Raw("}");
}

void StepIndexWriter::AddScalar(std::string_view name, int64_t step, Mode mode,
                                int64_t mode_step, const Location& location) {
  Text text(scalars_);
  text.Item(R"({"tensorname": )").String(name);
  text.Raw(R"(, "step": )").Number(step);
  text.Raw(R"(, "mode": ")").Raw(ModeName(mode));
  text.Raw(R"(", "mode_step": )").Number(mode_step);
  text.Where(location).Raw("}");
}

void StepIndexWriter::AddCounts(std::string_view name,
                                const ValueCounts& counts) {
  Text text(counts_);
  text.Item(R"({"tensorname": )").String(name);
  text.Raw(R"(, "dtype": ")").Raw(DTypeName(counts.dtype));
  text.Raw(R"(", "count": )").Number(counts.count);
  text.Raw(R"(, "nan": )").Number(counts.nan);
  text.Raw(R"(, "pos_inf": )").Number(counts.pos_inf);
  text.Raw(R"(, "neg_inf": )").Number(counts.neg_inf);
  text.Raw(R"(, "zero": )").Number(counts.zero).Raw("}");
}

std::string_view StepIndexWriter::Finish(Mode mode, int64_t mode_step,
                                         std::string_view event_file) {
  text_.clear();
  Text text(text_);
  text.Raw(R"({"meta": {"mode": ")").Raw(ModeName(mode));
  text.Raw(R"(", "mode_step": )").Number(mode_step);
  if (!event_file.empty()) {
    text.Raw(R"(, "event_file_name": )").String(event_file);
  }
  text.Raw(R"(}, "tensor_payload": [)").Raw(tensors_);
  text.Raw(R"(], "shape_payload": [)").Raw(shapes_).Raw("]");
  if (!scalars_.empty()) {
    text.Raw(R"(, "scalar_payload": [)").Raw(scalars_).Raw("]");
  }
  if (!counts_.empty()) {
    text.Raw(R"(, "value_counts": [)").Raw(counts_).Raw("]");
  }
  const uint32_t check = base::Crc32c(base::AsBytes(text_));
  text.Raw(kCheckKey).Number(check).Raw("}");
  return text_;
}

void StepIndexWriter::Clear() noexcept {
  tensors_.clear();
  shapes_.clear();
  scalars_.clear();
  counts_.clear();
}

}  // namespace smdebug::index
