#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::base {

// Appends `text` as a JSON string the way Python's json.dumps does: quotes,
// backslashes and control characters escaped, everything above ASCII as \uXXXX
// (pairs above the BMP). Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string& out);

// Builds a JSON document in the layout of Python's json.dumps: one line, ", "
// between items, ": " after keys, keys in the order given.
//
// The caller opens and closes containers in matching pairs and gives a key
// before each value of an object. One thread at a time.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  JsonWriter& Key(std::string_view key);

  JsonWriter& String(std::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  // The shortest text that reads back equal; NaN and infinities as null.
  JsonWriter& Double(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // `json` is a whole JSON value already.
  JsonWriter& Raw(std::string_view json);

  const std::string& text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  void Separate();
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace smdebug::base
