#include "src/base/json_writer.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace smdebug::base {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

TEST(JsonWriterTest, LaysOutAsPythonDoes) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a").Int(-1).Key("b").BeginArray().EndArray();
  json.Key("c").BeginArray().String("x").Null().Bool(true).EndArray();
  json.Key("d").BeginObject().Key("e").Double(0.5).EndObject();
  json.EndObject();
  EXPECT_EQ(json.text(),
            R"({"a": -1, "b": [], "c": ["x", null, true], "d": {"e": 0.5}})");
}

TEST(JsonWriterTest, WritesNonFiniteNumbersAsNull) {
  JsonWriter json;
  json.BeginArray().Double(NAN).Double(INFINITY).Double(1e300).EndArray();
  EXPECT_EQ(json.text(), "[null, null, 1e+300]");
}

TEST(JsonWriterTest, EscapesAsPythonDoes) {
  EXPECT_EQ(Quoted("a\"b\\c\n\r\t\b\f"), R"("a\"b\\c\n\r\t\b\f")");
  EXPECT_EQ(Quoted(std::string_view("\x00\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(Quoted("b\xC3\xA4rz"), R"("b\u00e4rz")");
  EXPECT_EQ(Quoted("\xE2\x82\xAC"), R"("\u20ac")");
  EXPECT_EQ(Quoted("\xF0\x9F\x98\x80"), R"("\ud83d\ude00")");
  EXPECT_EQ(Quoted("\x7F"), R"("\u007f")");
}

TEST(JsonWriterTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Quoted("\xFF"), R"("\ufffd")");
  EXPECT_EQ(Quoted("\xC3"), R"("\ufffd")");
  EXPECT_EQ(Quoted("\xC0\xAF"), R"("\ufffd\ufffd")");            // Overlong.
  EXPECT_EQ(Quoted("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")");  // Surrogate.
}

}  // namespace
}  // namespace smdebug::base
