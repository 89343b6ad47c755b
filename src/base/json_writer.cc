#include "src/base/json_writer.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace smdebug::base {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// Decodes the character that starts at `*at` and moves past it. A byte that
// starts no valid UTF-8 sequence gives kReplacement and is stepped over alone.
uint32_t NextCodePoint(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t lead = byte(*at);
  size_t length = 1;
  uint32_t code = lead;
  uint32_t least = 0;
  if (lead >= 0xF0 && lead < 0xF8) {
    length = 4, code = lead & 0x07, least = 0x10000;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3, code = lead & 0x0F, least = 0x800;
  } else if (lead >= 0xC0 && lead < 0xE0) {
    length = 2, code = lead & 0x1F, least = 0x80;
  } else if (lead >= 0x80) {
    ++*at;
    return kReplacement;
  }
  for (size_t i = 1; i < length; ++i) {
    if (*at + i >= text.size() || (byte(*at + i) & 0xC0) != 0x80) {
      ++*at;
      return kReplacement;
    }
    code = (code << 6) | (byte(*at + i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < least || code > 0x10FFFF || surrogate) {
    ++*at;
    return kReplacement;
  }
  *at += length;
  return code;
}

void AppendUnicodeEscape(uint32_t code, std::string& out) {
  if (code >= 0x10000) {
    code -= 0x10000;
    AppendUnicodeEscape(0xD800 + (code >> 10), out);
    AppendUnicodeEscape(0xDC00 + (code & 0x3FF), out);
    return;
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out.push_back('"');
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      out.push_back(static_cast<char>(c));
      ++at;
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        AppendUnicodeEscape(NextCodePoint(text, &at), out);
        continue;
    }
    ++at;
  }
  out.push_back('"');
}

void JsonWriter::Separate() {
  if (needs_comma_) out_ += ", ";
  needs_comma_ = true;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(key, out_);
  out_ += ": ";
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  AppendJsonString(value, out_);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Uint(uint64_t value) {
  Separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

}  // namespace smdebug::base
