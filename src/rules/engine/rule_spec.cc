#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "smdebug/error.h"
#include "smdebug/rule.h"

namespace smdebug {
namespace {

constexpr std::string_view kForms =
    "Name, Name:param=value:param=value or Name{\"param\": \"value\"}, where "
    "Name may be path/to/file.py:ClassName";
constexpr std::string_view kPython = ".py";

std::string ItemText(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

RuleSpec ParseJsonForm(std::string_view text, size_t brace) {
  RuleSpec spec{.name = std::string(text.substr(0, brace)),
                .parameters = {},
                .commas_separate = false};
  const auto json = nlohmann::json::parse(text.substr(brace), nullptr,
                                          /*allow_exceptions=*/false);
  if (spec.name.empty() || !json.is_object()) {
    throw ConfigError("rule", text, kForms);
  }
  for (const auto& [name, value] : json.items()) {
    std::vector<std::string>& items = spec.parameters[name];
    if (!value.is_array()) {
      items = {ItemText(value)};
      continue;
    }
    for (const auto& item : value) items.push_back(ItemText(item));
  }
  return spec;
}

// The first part, if it names a Python file; else empty.
std::string_view FileOf(std::string_view text) {
  const std::string_view first =
      text.substr(0, std::min(text.find(':'), text.find('{')));
  return first.size() > kPython.size() && first.ends_with(kPython)
             ? first
             : std::string_view();
}

RuleSpec ParseNamed(std::string_view text) {
  const size_t brace = text.find('{');
  const size_t colon = text.find(':');
  if (brace != std::string_view::npos && brace < colon) {
    return ParseJsonForm(text, brace);
  }
  RuleSpec spec{.name = std::string(text.substr(0, colon))};
  if (spec.name.empty()) throw ConfigError("rule", text, kForms);
  size_t begin = colon;
  while (begin != std::string_view::npos) {
    const size_t end = text.find(':', begin + 1);
    const auto pair = text.substr(
        begin + 1, end == std::string_view::npos ? end : end - begin - 1);
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      throw ConfigError("rule", text, kForms);
    }
    spec.parameters[std::string(pair.substr(0, equals))] = {
        std::string(pair.substr(equals + 1))};
    begin = end;
  }
  return spec;
}

}  // namespace

RuleSpec ParseRuleSpec(std::string_view text) {
  const std::string_view file = FileOf(text);
  if (file.empty()) return ParseNamed(text);
  if (text.size() < file.size() + 2 || text[file.size()] != ':') {
    throw ConfigError("rule", text, kForms);
  }
  RuleSpec spec = ParseNamed(text.substr(file.size() + 1));
  spec.file = file;
  if (spec.name.find('=') != std::string::npos) {
    throw ConfigError("rule", text, kForms);
  }
  return spec;
}

}  // namespace smdebug
