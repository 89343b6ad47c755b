#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::base {

// Names a value inside a document, for messages: `key`, `list[item]` or
// `list[item].key`. Borrows its texts; cheap to make on the way.
struct JsonPlace {
  static constexpr size_t kNoItem = std::numeric_limits<size_t>::max();

  std::string_view list = {};
  size_t item = kNoItem;
  std::string_view key = {};
};

// A JSON file of a run, read with no trust in it: every getter throws
// FormatError, which names the file and the place, for a value of another type
// or out of range. Numbers are never converted from texts or fractions.
//
// Elements and texts are valid as long as the reader. One thread at a time.
class JsonReader {
 public:
  using Element = simdjson::dom::element;
  using Object = simdjson::dom::object;
  using Array = simdjson::dom::array;

  // Throws FormatError if `json` is not a JSON object. `file` is borrowed.
  JsonReader(std::string_view json, std::string_view file);

  Object root() const { return root_; }

  // The value under `key`; throws if it is missing.
  Element Require(Object object, std::string_view key, JsonPlace place) const;
  // The value under `key`; nullopt if it is missing.
  std::optional<Element> Find(Object object, std::string_view key) const;

  Object GetObject(Element element, JsonPlace place) const;
  Array GetArray(Element element, JsonPlace place) const;
  std::string_view GetString(Element element, JsonPlace place) const;
  bool GetBool(Element element, JsonPlace place) const;
  // Any number.
  double GetDouble(Element element, JsonPlace place) const;
  // A whole number in [least, most].
  int64_t GetInt(Element element, JsonPlace place, int64_t least = 0,
                 int64_t most = std::numeric_limits<int64_t>::max()) const;

  [[noreturn]] void Fail(JsonPlace place, std::string_view reason) const;

 private:
  std::string_view file_;
  simdjson::dom::parser parser_;
  Object root_;
};

}  // namespace smdebug::base
