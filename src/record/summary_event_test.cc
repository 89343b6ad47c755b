#include "src/record/summary_event.h"

#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/record/record.h"
#include "tests/testing/hex.h"

// The byte vectors below were made with the protobuf classes of smdebug 1.0.34.
namespace smdebug::record {
namespace {

using testing::ToHex;

// The record without its frame, which is checked.
std::string SummaryHex(const std::string& record) {
  const std::string payload =
      record.substr(kHeaderBytes, record.size() - kHeaderBytes - kFooterBytes);
  EXPECT_EQ(record.substr(0, kHeaderBytes),
            base::AsText(MakeHeader(payload.size())));
  EXPECT_EQ(record.substr(record.size() - kFooterBytes),
            base::AsText(MakeFooter(
                base::MaskCrc(base::Crc32c(base::AsBytes(payload))))));
  return ToHex(payload);
}

std::string ScalarHex(int64_t step, double value) {
  std::string record;
  AppendScalarEvent(1.5, step, "z", value, record);
  return SummaryHex(record);
}

std::string HistogramHex(std::string_view tag,
                         const HistogramSummary& histogram) {
  std::string record;
  AppendHistogramEvent(1.5, 3, tag, histogram, record);
  return SummaryHex(record);
}

TEST(ScalarEventTest, MatchesTheReferenceToTheByte) {
  std::string record = "before";
  AppendScalarEvent(1.5, 3, CleanTag("a:0"), 2, record);
  EXPECT_EQ(ToHex(record.substr(6)),
            "19000000000000008bf10828"
            "09000000000000f83f10032a0c0a0a0a03615f301500000040"
            "f56f1b43");
}

TEST(ScalarEventTest, WritesZeroNanAndInfinityAsTheyAre) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ScalarHex(0, 0), "09000000000000f83f2a0a0a080a017a1500000000");
  EXPECT_EQ(ScalarHex(3, std::numeric_limits<double>::quiet_NaN()),
            "09000000000000f83f10032a0a0a080a017a150000c07f");
  EXPECT_EQ(ScalarHex(3, -kInf),
            "09000000000000f83f10032a0a0a080a017a15000080ff");
  EXPECT_EQ(ScalarHex(3, 1e300),
            "09000000000000f83f10032a0a0a080a017a150000807f");
}

TEST(HistogramEventTest, MatchesTheReferenceToTheByte) {
  const std::array<double, 3> limits = {-1, 0, 2.5};
  const std::array<double, 3> counts = {0, 1, 2};
  EXPECT_EQ(HistogramHex("h/w", {.min = -1,
                                 .max = 2,
                                 .num = 3,
                                 .sum = 1.5,
                                 .sum_squares = 5.25,
                                 .limits = limits,
                                 .counts = counts}),
            "09000000000000f83f10032a6a0a680a03682f772a61"
            "09000000000000f0bf110000000000000040190000000000000840"
            "21000000000000f83f290000000000001540"
            "3218000000000000f0bf00000000000000000000000000000440"
            "3a180000000000000000000000000000f03f0000000000000040");
}

TEST(HistogramEventTest, LeavesOutWhatIsZeroOrEmpty) {
  const std::array<double, 2> limits = {0, 1e-12};
  const std::array<double, 2> counts = {0, 3};
  EXPECT_EQ(HistogramHex("h", {.num = 3, .limits = limits, .counts = counts}),
            "09000000000000f83f10032a340a320a01682a2d190000000000000840"
            "3210000000000000000011ea2d819997713d"
            "3a1000000000000000000000000000000840");
  EXPECT_EQ(HistogramHex("h", {}), "09000000000000f83f10032a070a050a01682a00");
}

TEST(CleanTagTest, KeepsWordsDotsDashesAndInnerSlashes) {
  struct Row {
    const char* name;
    const char* tag;
  };
  constexpr std::array<Row, 15> kRows = {{
      {"", ""},
      {"a:0", "a_0"},
      {"/lead//x", "lead//x"},
      {"///", ""},
      {":/x", "_/x"},
      {"a b.c-d_e", "a_b.c-d_e"},
      {"a\nb\x7F", "a_b_"},
      {"gr\xC3\xB6\xC3\x9F"
       "e/\xC3\xA4",
       "gr\xC3\xB6\xC3\x9F"
       "e/\xC3\xA4"},
      {"\xE6\xB7\xB1\xE3\x81\x84:x", "\xE6\xB7\xB1\xE3\x81\x84_x"},
      {"\xC2\xB2\xC2\xBD", "\xC2\xB2\xC2\xBD"},  // Numbers beyond digits.
      {"x\xC2\xB7y", "x_y"},                     // A middle dot.
      {"\xD9\xA3", "\xD9\xA3"},                  // An Arabic digit.
      {"\xF0\x9F\x94\xA5", "_"},                 // An emoji is one character.
      {"bad\xFF\xC3", "bad__"},                  // No UTF-8: byte by byte.
      {"cut\xE6\xB7", "cut__"},
  }};
  for (const auto& [name, tag] : kRows) EXPECT_EQ(CleanTag(name), tag) << name;
}

}  // namespace
}  // namespace smdebug::record
