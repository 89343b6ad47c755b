#include "src/base/json_reader.h"

#include <fmt/format.h>

#include "smdebug/error.h"

namespace smdebug::base {
namespace {

// The parser takes about ten times the text in memory; a million tensors in
// one step still fit.
constexpr size_t kMaxBytes = size_t{256} << 20;

std::string_view KindOf(JsonReader::Element element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::ARRAY:
      return "a list";
    case Type::OBJECT:
      return "an object";
    case Type::STRING:
      return "a string";
    case Type::BOOL:
      return "a boolean";
    case Type::NULL_VALUE:
      return "null";
    case Type::INT64:
    case Type::UINT64:
    case Type::DOUBLE:
      return "a number";
  }
  return "something else";
}

// In the words of a sentence; the parser's own are whole sentences.
std::string_view WhyNotJson(simdjson::error_code error) {
  switch (error) {
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::STRING_ERROR:
      return "a string is malformed";
    case simdjson::UNESCAPED_CHARS:
      return "a string has a control character in it";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a word is not true, false or null";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    case simdjson::DEPTH_ERROR:
      return "it is nested too deeply";
    case simdjson::EMPTY:
      return "there is nothing in it";
    default:
      return "commas, colons or brackets are missing or too many";
  }
}

std::string Describe(JsonPlace place) {
  std::string text(place.list);
  if (place.item != JsonPlace::kNoItem) text += fmt::format("[{}]", place.item);
  if (!text.empty() && !place.key.empty()) text += '.';
  text += place.key;
  return text;
}

}  // namespace

JsonReader::JsonReader(std::string_view json, std::string_view file)
    : file_(file), parser_(kMaxBytes) {
  if (json.empty()) throw FormatError(file, "is empty");
  Element element;
  const auto error = parser_.parse(json.data(), json.size()).get(element);
  if (error == simdjson::CAPACITY) {
    throw FormatError(file, fmt::format("is larger than {} MiB, the most that "
                                        "is read",
                                        kMaxBytes >> 20));
  }
  if (error != simdjson::SUCCESS) {
    throw FormatError(file, fmt::format("is not JSON: {}", WhyNotJson(error)));
  }
  if (element.get(root_) != simdjson::SUCCESS) {
    throw FormatError(
        file, fmt::format("expected a JSON object, got {}", KindOf(element)));
  }
}

std::optional<JsonReader::Element> JsonReader::Find(
    Object object, std::string_view key) const {
  Element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return element;
}

JsonReader::Element JsonReader::Require(Object object, std::string_view key,
                                        JsonPlace place) const {
  Element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) {
    place.key = key;
    Fail(place, "is missing");
  }
  return element;
}

JsonReader::Object JsonReader::GetObject(Element element,
                                         JsonPlace place) const {
  Object value;
  if (element.get(value) != simdjson::SUCCESS) {
    Fail(place, fmt::format("expected an object, got {}", KindOf(element)));
  }
  return value;
}

JsonReader::Array JsonReader::GetArray(Element element, JsonPlace place) const {
  Array value;
  if (element.get(value) != simdjson::SUCCESS) {
    Fail(place, fmt::format("expected a list, got {}", KindOf(element)));
  }
  return value;
}

std::string_view JsonReader::GetString(Element element, JsonPlace place) const {
  std::string_view value;
  if (element.get(value) != simdjson::SUCCESS) {
    Fail(place, fmt::format("expected a string, got {}", KindOf(element)));
  }
  return value;
}

bool JsonReader::GetBool(Element element, JsonPlace place) const {
  bool value = false;
  if (element.get(value) != simdjson::SUCCESS) {
    Fail(place, fmt::format("expected a boolean, got {}", KindOf(element)));
  }
  return value;
}

double JsonReader::GetDouble(Element element, JsonPlace place) const {
  double value = 0;
  if (element.get(value) != simdjson::SUCCESS) {
    Fail(place, fmt::format("expected a number, got {}", KindOf(element)));
  }
  return value;
}

int64_t JsonReader::GetInt(Element element, JsonPlace place, int64_t least,
                           int64_t most) const {
  int64_t value = 0;
  const auto error = element.get(value);
  if (error == simdjson::SUCCESS && value >= least && value <= most) {
    return value;
  }
  std::string got(KindOf(element));
  if (element.is_number()) got = simdjson::minify(element);
  Fail(place, fmt::format("expected a whole number from {} to {}, got {}",
                          least, most, got));
}

void JsonReader::Fail(JsonPlace place, std::string_view reason) const {
  throw FormatError(file_, fmt::format("{}: {}", Describe(place), reason));
}

}  // namespace smdebug::base
