#include "src/cli/output/table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::cli {
namespace {

using ::testing::HasSubstr;

Table MakeTable() {
  return Table(
      {{.title = "name"}, {.title = "steps", .align = Table::Align::kRight}});
}

TEST(TableTest, ColumnsLineUp) {
  Table table = MakeTable();
  table.AddRow({"caf\xC3\xA9", "1"});
  table.AddRow({"longer name", "123456"});
  EXPECT_EQ(table.Layout({}),
            "name          steps\n"
            "caf\xC3\xA9              1\n"
            "longer name  123456\n");
}

TEST(TableTest, NoLineEndsWithABlank) {
  Table table({{.title = "a"}, {.title = "b"}});
  table.AddRow({"x", ""});
  EXPECT_EQ(table.Layout({}), "a  b\nx\n");
}

TEST(TableTest, LinesOfACellAreUnderOneAnother) {
  Table table({{.title = "a"}, {.title = "bb"}, {.title = "c"}});
  table.AddTallRow({{"\xC3\xA4\xC3\xA4"}, {"1", "22", "3"}, {"x", "y"}});
  EXPECT_EQ(table.Layout({}),
            "a   bb  c\n"
            "\xC3\xA4\xC3\xA4  1   x\n"
            "    22  y\n"
            "    3\n");
}

TEST(TableTest, NamesAreNeverCut) {
  Table table = MakeTable();
  const std::string name(60, 'n');
  table.AddRow({name, "12"});
  EXPECT_EQ(table.Layout({.is_terminal = true, .width = 40}), table.Layout({}));
}

TEST(TableTest, SentencesAreWrappedOnANarrowTerminalOnly) {
  Table table({{.title = "name"}, {.title = "meaning"}});
  table.AddRow({"a_long_name", "what it means in words"});
  table.AddRow({"b", "short"});
  EXPECT_EQ(table.Layout({.is_terminal = true, .width = 26}),
            "name         meaning\n"
            "a_long_name  what it means\n"
            "             in words\n"
            "b            short\n");
  EXPECT_THAT(table.Layout({}), HasSubstr("what it means in words\n"));
}

TEST(TableTest, SeveralColumnsAreWrappedWhereOneIsNotEnough) {
  Table table({{.title = "name"}, {.title = "in"}, {.title = "what"}});
  table.AddRow({"fc", "one, two", "some words"});
  EXPECT_EQ(table.Layout({.is_terminal = true, .width = 17}),
            "name  in    what\n"
            "fc    one,  some\n"
            "      two   words\n");
}

TEST(TableTest, TheFirstColumnHasLinesOfItsOwnWhereTheOthersTakeTheWidth) {
  Table table({{.title = "name"}, {.title = "in"}, {.title = "what"}});
  table.AddRow({"a_long_name", "one, two", "some words"});
  table.AddRow({"b", "one", "x"});
  EXPECT_EQ(table.Layout({.is_terminal = true, .width = 20}),
            "name\n"
            "  in        what\n"
            "a_long_name\n"
            "  one, two  some\n"
            "            words\n"
            "b\n"
            "  one       x\n");
}

TEST(TableTest, TitlesAreBoldInColour) {
  Table table = MakeTable();
  table.AddRow({"x", "1"});
  EXPECT_THAT(table.Layout({.is_terminal = true, .colour = true}),
              HasSubstr("\x1B[1mname  steps\x1B[0m\n"));
}

TEST(TableTest, ARedCellIsPaintedWithoutItsPadding) {
  Table table = MakeTable();
  table.AddRow({"x", "1"});
  table.Redden(0);
  table.Redden(1);
  table.AddRow({"long", "1"});
  EXPECT_THAT(table.Layout({.is_terminal = true, .colour = true}),
              HasSubstr("\x1B[31mx\x1B[0m         \x1B[31m1\x1B[0m\n"
                        "long      1\n"));
  EXPECT_THAT(table.Layout({.is_terminal = true}),
              HasSubstr("x         1\nlong      1\n"));
}

TEST(TableTest, CellsCannotDriveTheTerminal) {
  Table table = MakeTable();
  table.AddRow({"a\x1B[2J", "1\n"});
  EXPECT_THAT(table.Layout({}), HasSubstr("a?[2J"));
}

}  // namespace
}  // namespace smdebug::cli
