#include "src/query/csv.h"

#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

std::string CsvField(std::string_view text) {
  std::string line;
  AppendCsvField(text, line);
  return line;
}

TEST(CsvTest, OnlyFieldsThatNeedItAreQuoted) {
  EXPECT_EQ(CsvField("fc.weight"), "fc.weight");
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace smdebug::query
