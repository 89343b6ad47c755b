#include "src/actions/words.h"

#include <nlohmann/json.hpp>

#include "src/base/text.h"

namespace smdebug::actions {
namespace {

using Words = std::vector<std::string>;

std::optional<Words> FromJson(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return std::nullopt;
  Words words;
  for (const auto& word : json) {
    if (!word.is_string()) return std::nullopt;
    words.push_back(word.get<std::string>());
  }
  return words;
}

std::optional<Words> FromShell(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  constexpr std::string_view kEscapedInQuotes = "\"\\$`";
  Words words;
  std::optional<std::string> word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'' ? c == '\'' : quote == '"' && c == '"') {
      quote = 0;
      continue;
    }
    if (quote == 0 && kBlanks.find(c) != std::string_view::npos) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size()) return std::nullopt;
      const char next = text[++i];
      if (quote == '"' && kEscapedInQuotes.find(next) == std::string_view::npos)
        word->push_back(c);
      word->push_back(next);
    } else {
      word->push_back(c);
    }
  }
  if (quote != 0) return std::nullopt;
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace

std::optional<Words> SplitCommand(std::string_view command) {
  command = base::Trim(command);
  auto words =
      command.starts_with('[') ? FromJson(command) : FromShell(command);
  if (!words || words->empty() || words->front().empty()) return std::nullopt;
  for (const std::string& word : *words) {
    if (word.find('\0') != std::string::npos) return std::nullopt;
  }
  return words;
}

}  // namespace smdebug::actions
