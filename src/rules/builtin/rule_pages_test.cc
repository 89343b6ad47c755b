// The parts of docs/rules/*.md that the rules themselves tell, between marks.
// With SMDEBUG_WRITE_RULE_PAGES set they are written, else compared.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "smdebug/rule.h"
#include "tests/testing/files.h"

namespace smdebug::rules {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFolder = SMDEBUG_SOURCE_DIR "/docs/rules/";

// Text of a table's cell.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text)
    cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

std::string Code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", Cell(text));
}

// Paragraphs with lines of at most 100 columns, as the documents have them.
std::string Wrapped(std::string_view text) {
  constexpr size_t kColumns = 100;
  std::string wrapped;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      wrapped += text[at++];
      column = 0;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= kColumns;
      wrapped += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    wrapped += word;
    column += word.size();
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return wrapped;
}

std::string Parameters(const RuleType& type) {
  std::string text =
      "| Parameter | Default | Allowed | Meaning |\n|---|---|---|---|\n";
  for (const RuleParameter& parameter : type.parameters) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name,
                        Code(parameter.fallback.value_or("")),
                        parameter.Allowed(), Cell(parameter.meaning));
  }
  return text;
}

// Whether only XGBoost fills it.
bool IsOfXgboost(const RuleNeed& need) {
  return need.collection == "trees" || need.collection == "hyperparameters" ||
         need.collection == "feature_importance";
}

std::string PythonOf(const RuleType& type) {
  std::vector<std::string> names;
  std::string more;
  for (const RuleNeed& need : type.needs) {
    if (IsOfXgboost(need)) return "";
    names.push_back(fmt::format("\"{}\"", need.collection));
    const std::string collection =
        fmt::format("hook.get_collection(\"{}\")", need.collection);
    for (const auto& [name, value] : need.parameters) {
      if (name == "include_regex") {
        more += fmt::format("{}.include(\"{}\")\n", collection, value);
      } else if (name == "save_interval") {
        more +=
            fmt::format("{}.save_config = smd.SaveConfig(save_interval={})\n",
                        collection, value);
      }
    }
  }
  return fmt::format(
      "```python\nimport smdebug.pytorch as smd\n\n"
      "hook = smd.Hook(out_dir=\"run\", include_collections=[{}])\n{}```\n\n",
      fmt::join(names, ", "), more);
}

std::string Collections(const RuleType& type) {
  if (type.needs.empty()) {
    return type.needs_steps ? "No collection of its own: it looks at what "
                              "`collection_names` "
                              "and `tensor_regex` select.\n"
                            : "No collection: it looks at when files come.\n";
  }
  Json collections = Json::array();
  for (const RuleNeed& need : type.needs) {
    Json item = {{"CollectionName", need.collection}};
    for (const auto& [name, value] : need.parameters) {
      item["CollectionParameters"][name] = value;
    }
    collections.push_back(std::move(item));
  }
  return fmt::format(
      "{}As a hook configuration, as `smdebug rules --hook-config {}` prints "
      "it:\n\n```json\n{}\n```\n",
      PythonOf(type), type.name,
      Json{{"CollectionConfigurations", collections}}.dump(2));
}

// Replaces what stands between the marks of `name`.
std::string Fill(const std::string& page, std::string_view name,
                 std::string_view text) {
  const std::string begin =
      fmt::format("<!-- {}: made by tools/gen-rule-docs -->\n", name);
  constexpr std::string_view kEnd = "<!-- end -->";
  const size_t start = page.find(begin);
  const size_t end = page.find(kEnd, start);
  EXPECT_NE(end, std::string::npos) << "no block " << name;
  if (start == std::string::npos || end == std::string::npos) return page;
  return page.substr(0, start) + begin + std::string(text) + page.substr(end);
}

void CompareOrWrite(const std::string& file, const std::string& page,
                    const std::string& wanted) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets variables meanwhile.
  if (std::getenv("SMDEBUG_WRITE_RULE_PAGES") != nullptr) {
    testing::WriteFile(file, wanted);
  } else {
    EXPECT_TRUE(page == wanted)
        << file << " is not what the rules say; run tools/gen-rule-docs";
  }
}

TEST(RulePagesTest, PagesTellWhatTheRulesDo) {
  for (const RuleType& type : BuiltInRules()) {
    SCOPED_TRACE(type.name);
    const std::string file = std::string(kFolder) + type.name + ".md";
    ASSERT_TRUE(std::filesystem::exists(file)) << "write it";
    const std::string page = testing::ReadFile(file);
    std::string wanted = Fill(page, "summary", type.summary + "\n");
    wanted = Fill(wanted, "meaning",
                  type.meaning.empty() ? "" : Wrapped(type.meaning) + "\n");
    wanted = Fill(wanted, "parameters", Parameters(type));
    wanted = Fill(wanted, "collections", Collections(type));
    CompareOrWrite(file, page, wanted);
  }
}

TEST(RulePagesTest, TheIndexHasEveryRule) {
  std::string list = "| Rule | Fires when |\n|---|---|\n";
  for (const RuleType& type : BuiltInRules()) {
    list +=
        fmt::format("| [{0}]({0}.md) | {1} |\n", type.name, Cell(type.summary));
  }
  const std::string file = std::string(kFolder) + "README.md";
  const std::string page = testing::ReadFile(file);
  CompareOrWrite(file, page, Fill(page, "rules", list));
}

TEST(RulePagesTest, TheExampleIsTheProgram) {
  const std::string file = SMDEBUG_SOURCE_DIR "/docs/writing-rules.md";
  const std::string page = testing::ReadFile(file);
  const std::string program =
      testing::ReadFile(SMDEBUG_SOURCE_DIR "/examples/own_rule.cc");
  CompareOrWrite(file, page,
                 Fill(page, "example", "```cpp\n" + program + "```\n"));
}

TEST(RulePagesTest, EveryPageIsOfARule) {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() != ".md" || name == "README") continue;
    const RuleType* type = FindRule(name);
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(type->name, name);
  }
}

}  // namespace
}  // namespace smdebug::rules
