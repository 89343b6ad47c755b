#include "src/config/json_text.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/text.h"

namespace smdebug::config {
namespace {

// Follows the parser through the document, to refuse what nlohmann::json
// accepts: a key given twice (the last one would win without a word) and
// nesting that no configuration has.
class DocumentCheck {
 public:
  explicit DocumentCheck(std::string_view source) : source_(source) {}

  void See(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        if (levels_.size() == kMaxDepth) {
          throw ConfigFileError(
              source_, 0, 0,
              fmt::format("nested deeper than {} levels", kMaxDepth));
        }
        levels_.push_back(
            {.is_array = event == Json::parse_event_t::array_start});
        break;
      case Json::parse_event_t::key:
        SeeKey(parsed.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        levels_.pop_back();
        CountItem();
        break;
      case Json::parse_event_t::value:
        CountItem();
        break;
    }
  }

 private:
  static constexpr size_t kMaxDepth = 32;

  struct Level {
    bool is_array = false;
    int64_t items = 0;     // Items before the current one, of an array.
    std::string key = {};  // The current key, of an object.
    std::set<std::string> keys = {};  // Seen so far, of an object.
  };

  void SeeKey(const std::string& key) {
    Level& level = levels_.back();
    if (!level.keys.insert(key).second) {
      throw ConfigError(Place() + key, "a second value", "each key once");
    }
    level.key = key;
  }

  void CountItem() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().items;
  }

  // "CollectionConfigurations[2].CollectionParameters: "; empty at the top.
  std::string Place() const {
    std::string place;
    for (size_t i = 0; i + 1 < levels_.size(); ++i) {
      if (levels_[i].is_array) {
        place += fmt::format("[{}]", levels_[i].items);
      } else {
        place += place.empty() ? levels_[i].key : "." + levels_[i].key;
      }
    }
    return place.empty() ? place : place + ": ";
  }

  const std::string source_;
  std::vector<Level> levels_;
};

// Whether `c` is a later byte of a UTF-8 character.
bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

struct LineColumn {
  int64_t line = 1;
  int64_t column = 1;
};

// The place of byte number `byte` (from 1) of `text`; columns count
// characters, not bytes.
LineColumn PlaceOfByte(std::string_view text, size_t byte) {
  LineColumn place;
  const size_t end = std::min(text.size(), byte == 0 ? 0 : byte - 1);
  for (const char c : text.substr(0, end)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!IsContinuation(c)) {
      ++place.column;
    }
  }
  return place;
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// nlohmann::json's message without its own prefix and place, and without the
// words of a parser.
std::string Reason(std::string_view what) {
  constexpr std::string_view kPlace = ", column ";
  const size_t place = what.find(kPlace);
  const size_t start =
      place == std::string_view::npos ? place : what.find(": ", place);
  if (start != std::string_view::npos) what.remove_prefix(start + 2);
  const size_t prefix = what.starts_with("[json.exception.")
                            ? what.find("] ")
                            : std::string_view::npos;
  if (prefix != std::string_view::npos) what.remove_prefix(prefix + 2);
  if (what.starts_with("syntax error")) {
    const size_t what_it_saw = what.find(" - ");
    if (what_it_saw != std::string_view::npos) {
      what.remove_prefix(what_it_saw + 3);
    }
  }
  std::string words(what);
  // What was read may be anything: it stays as it is.
  const size_t quoted = std::min(words.find("; last read: "), words.size());
  std::string text = words.substr(0, quoted);
  ReplaceAll(text, "unexpected end of input", "it ends too early");
  ReplaceAll(text, "end of input", "the end");
  ReplaceAll(text, "string literal", "a string");
  ReplaceAll(text, "number literal", "a number");
  ReplaceAll(text, "invalid literal", "an unknown word");
  ReplaceAll(text, " literal", "");
  return "not JSON: " + text + words.substr(quoted);
}

// `text`, cut to what fits an error message.
std::string Shortened(std::string_view text) {
  constexpr size_t kMaxShown = 200;
  if (text.size() <= kMaxShown) return std::string(text);
  size_t end = kMaxShown;
  // Never inside a character of several bytes.
  while (end > 0 && IsContinuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

Json ParseJson(std::string_view text, std::string_view source) {
  DocumentCheck check(source);
  try {
    return Json::parse(
        text, [&check](int /*depth*/, Json::parse_event_t event, Json& parsed) {
          check.See(event, parsed);
          return true;
        });
  } catch (const Json::parse_error& error) {
    const LineColumn place = PlaceOfByte(text, error.byte);
    throw ConfigFileError(source, place.line, place.column,
                          Reason(error.what()));
  } catch (const Json::exception& error) {
    throw ConfigFileError(source, 0, 0, Reason(error.what()));
  }
}

Json ParseJsonValue(std::string_view text, std::string_view key) {
  try {
    return ParseJson(text, key);
  } catch (const ConfigFileError& error) {
    // The key is there once already; line and column are what is new.
    const std::string_view reason =
        base::Trim(std::string_view(error.what()).substr(key.size() + 1));
    throw ConfigError(key, Shortened(text), fmt::format("JSON ({})", reason));
  }
}

std::string ReadConfigFile(const std::string& path) {
  errno = 0;
  std::ostringstream text;
  {
    const std::ifstream file(path, std::ios::binary);
    // An empty file sets the failbit without an error; a folder opens and then
    // gives EISDIR.
    if (file.is_open()) text << file.rdbuf();
  }
  if (errno != 0) {
    throw ConfigFileError(
        path, 0, 0,
        "cannot be read: " + std::generic_category().message(errno));
  }
  return text.str();
}

std::string ShowJson(const Json& value) {
  if (value.is_string()) return Shortened(value.get_ref<const std::string&>());
  return Shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace smdebug::config
