#include "src/config/json_text.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"

namespace smdebug::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ParseJsonTest, NamesLineAndColumnOfASyntaxError) {
  struct Case {
    std::string text;
    int64_t line;
    int64_t column;
  };
  for (const Case& c : std::vector<Case>{{"", 1, 1},
                                         {"{\n  \"a\": x\n}", 2, 8},
                                         {"{\"a\": 1,\n\n}", 3, 1},
                                         {"{\"\xC3\xA4\": x}", 1, 7},
                                         {"{\"a\": 1", 1, 8},
                                         {"{\"a\": 1}}", 1, 9}}) {
    SCOPED_TRACE(c.text);
    try {
      ParseJson(c.text, "hook.json");
      FAIL() << "accepted";
    } catch (const ConfigFileError& error) {
      EXPECT_EQ(error.path(), "hook.json");
      EXPECT_EQ(error.line(), c.line);
      EXPECT_EQ(error.column(), c.column);
      EXPECT_THAT(error.what(), HasSubstr("not JSON: "));
    }
  }
}

TEST(ParseJsonTest, SaysWhatIsWrongInPlainWords) {
  const std::pair<std::string, std::string> cases[] = {
      {"{", "not JSON: it ends too early; expected a string"},
      {"{\"a\" 1}", "not JSON: unexpected a number; expected ':'"},
      {"[1] 2", "not JSON: unexpected a number; expected the end"},
      {"[tru]", "not JSON: an unknown word; last read: '[tru]'"},
  };
  for (const auto& [text, words] : cases) {
    EXPECT_THAT([&] { ParseJson(text, "s"); },
                ThrowsMessage<ConfigFileError>(HasSubstr(words)));
  }
}

TEST(ParseJsonTest, RefusesNumbersBeyondRangeAndBytesThatAreNotUtf8) {
  EXPECT_THROW(ParseJson("[1e999]", "s"), ConfigFileError);
  EXPECT_THROW(ParseJson("[\"\xFF\"]", "s"), ConfigFileError);
}

TEST(ParseJsonTest, RefusesNestingBeyondReason) {
  EXPECT_NO_THROW(ParseJson(std::string(32, '[') + std::string(32, ']'), "s"));
  EXPECT_THROW(ParseJson(std::string(100'000, '['), "s"), ConfigFileError);
}

TEST(ParseJsonTest, RefusesAKeyGivenTwiceByItsPlace) {
  struct Case {
    std::string text;
    std::string key;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"a": 1, "a": 1})", "a"},
           {R"({"HookParameters": {"b": 1, "b": 2}})", "HookParameters: b"},
           {R"({"c": [{"n": 1}, [], 7, {"p": {"x": 1, "x": 2}}]})",
            "c[3].p: x"}}) {
    try {
      ParseJson(c.text, "s");
      FAIL() << c.text << " accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
    }
  }
  EXPECT_NO_THROW(ParseJson(R"([{"a": 1}, {"a": {"a": 1}}])", "s"));
}

TEST(ReadConfigFileTest, SaysWhyAFileCannotBeRead) {
  try {
    ReadConfigFile("/nowhere/hook.json");
    FAIL() << "read";
  } catch (const ConfigFileError& error) {
    EXPECT_EQ(error.path(), "/nowhere/hook.json");
    EXPECT_EQ(error.line(), 0);
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
  EXPECT_THROW(ReadConfigFile("/"), ConfigFileError);
}

TEST(ShowJsonTest, CutsLongValuesBetweenCharacters) {
  EXPECT_EQ(ShowJson("plain"), "plain");
  EXPECT_EQ(ShowJson(Json::array({1, "a"})), R"([1,"a"])");
  std::string text(199, 'x');
  EXPECT_EQ(ShowJson(text + "\xC3\xA4\xC3\xA4"), text + "...");
}

TEST(ReadBoolTest, AcceptsEverySpelling) {
  for (const char* text : {"true", "1", "\"True\"", "\"true\"", "\"TRUE\"",
                           "\"1\"", "\" true \""}) {
    EXPECT_TRUE(ReadBool(Json::parse(text), "k")) << text;
  }
  for (const char* text :
       {"false", "0", "\"False\"", "\"false\"", "\"FALSE\"", "\"0\""}) {
    EXPECT_FALSE(ReadBool(Json::parse(text), "k")) << text;
  }
  for (const char* text :
       {"2", "-1", "1.0", "\"yes\"", "\"\"", "[]", "{}", "\"2\""}) {
    EXPECT_THROW(ReadBool(Json::parse(text), "k"), ConfigError) << text;
  }
}

TEST(ReadIntTest, AcceptsNumbersAndTheirTexts) {
  EXPECT_EQ(ReadInt(Json::parse("100"), "k", 0), 100);
  EXPECT_EQ(ReadInt(Json::parse("100.0"), "k", 0), 100);
  EXPECT_EQ(ReadInt(Json::parse("\" 100 \""), "k", 0), 100);
  EXPECT_EQ(ReadInt(Json::parse("9223372036854775807"), "k", 0),
            std::numeric_limits<int64_t>::max());
  for (const char* text :
       {"2.5", "\"2.5\"", "\"abc\"", "\"\"", "true", "[]", "-1", "\"-1\"",
        "9223372036854775808", "\"9223372036854775808\"", "1e300", "\"0x10\"",
        "\"5 steps\""}) {
    try {
      ReadInt(Json::parse(text), "k", 0);
      FAIL() << text << " accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), "k");
      EXPECT_EQ(error.allowed(), "a whole number of at least 0");
    }
  }
}

TEST(ReadStepsTest, AcceptsTextArrayAndNumber) {
  EXPECT_THAT(ReadSteps("0, 1,2", "k"), ElementsAre(0, 1, 2));
  EXPECT_THAT(ReadSteps(Json::parse("[3, \"7\"]"), "k"), ElementsAre(3, 7));
  EXPECT_THAT(ReadSteps(Json::parse("5"), "k"), ElementsAre(5));
  EXPECT_THAT(ReadSteps(Json::parse("[]"), "k"), ElementsAre());
  for (const char* text : {"\"1,,2\"", "\"\"", "\"a\"", "\"1.5\"", "\"-1\"",
                           "[-1]", "[1.5]", "[null]", "true", "{}", "\"1,\""}) {
    EXPECT_THROW(ReadSteps(Json::parse(text), "k"), ConfigError) << text;
  }
}

TEST(ReadNamesTest, SkipsBlankItems) {
  EXPECT_THAT(ReadNames("a, b c ,,d,", "k"), ElementsAre("a", "b c", "d"));
  EXPECT_THAT(ReadNames(Json::parse(R"(["a,b", " "])"), "k"),
              ElementsAre("a,b"));
  EXPECT_THROW(ReadNames(Json::parse("3"), "k"), ConfigError);
  EXPECT_THROW(ReadNames(Json::parse("[3]"), "k"), ConfigError);
}

TEST(ReadRegexesTest, SplitsOnlyBetweenExpressions) {
  struct Case {
    std::string text;
    std::vector<std::string> patterns;
  };
  for (const Case& c :
       std::vector<Case>{{"relu", {"relu"}},
                         {"relu, tanh", {"relu", "tanh"}},
                         {"a{1,2},b", {"a{1,2}", "b"}},
                         {"a{,2},b{3,}", {"a{,2}", "b{3,}"}},
                         {"(a,b),c", {"(a,b)", "c"}},
                         {"((a,b),c),d", {"((a,b),c)", "d"}},
                         {"[a,b],c", {"[a,b]", "c"}},
                         {"[],],c", {"[],]", "c"}},
                         {"[^],(],c", {"[^],(]", "c"}},
                         {"[\\],],c", {"[\\],]", "c"}},
                         {"a\\,b,c", {"a\\,b", "c"}},
                         {"\\(,b", {"\\(", "b"}},
                         {"a{x,b", {"a{x", "b"}},
                         {"", {}},
                         {",a,", {"a"}},
                         {"^(?!gradient).*weight,relu|tanh",
                          {"^(?!gradient).*weight", "relu|tanh"}}}) {
    EXPECT_EQ(ReadRegexes(c.text, "k"), c.patterns) << c.text;
  }
  EXPECT_THAT(ReadRegexes(Json::parse(R"(["a,b", "c"])"), "k"),
              ElementsAre("a,b", "c"));
}

TEST(ReadRegexesTest, RefusesABadPatternByItself) {
  for (const std::string pattern : {"(", "a**", "[z", "x)", "(?<=a+)b"}) {
    try {
      ReadRegexes(Json::array({"fine", pattern}), "k");
      FAIL() << pattern << " accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), "k");
      EXPECT_EQ(error.value(), pattern);
    }
  }
}

TEST(RequireWholeNumberTest, TakesDigitsOnly) {
  EXPECT_EQ(RequireWholeNumber("k", " +3 ", 3), 3);
  EXPECT_EQ(RequireWholeNumber("k", "-3", std::nullopt), -3);
  const auto refuses = [](std::string_view text, std::optional<int64_t> least,
                          const char* message) {
    EXPECT_THAT([&] { RequireWholeNumber("k", text, least); },
                ThrowsMessage<ConfigError>(HasSubstr(message)))
        << text;
  };
  refuses("2", 3,
          "k: '2' is not allowed; expected a whole number of at least 3");
  refuses("-4", 3, "of at least 3");
  refuses("2.5", std::nullopt, "expected a whole number");
  refuses("True", 0, "k: 'True'");
  refuses("", 0, "of at least 0");
  refuses("100000000000000000000", 0, "and at most 9223372036854775807");
}

TEST(StepsFromJsonTest, TakesEverySpelling) {
  EXPECT_THAT(StepsFromJson("k", R"("1, 2")"), ElementsAre(1, 2));
  EXPECT_THAT(StepsFromJson("k", "[3]"), ElementsAre(3));
  EXPECT_THAT([] { StepsFromJson("k", "[-1]"); },
              ThrowsMessage<ConfigError>(HasSubstr("k: '-1'")));
}

}  // namespace
}  // namespace smdebug::config
