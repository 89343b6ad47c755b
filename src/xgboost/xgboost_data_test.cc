#include "smdebug/internal/xgboost_data.h"

#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::NanSensitiveFloatEq;
using ::testing::ThrowsMessage;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(XgboostDataTest, TheLabelOfCsvIsInTheFirstColumn) {
  const XgboostData data = ParseXgboostCsv("1,0.5,+2\n\n0, 1e3 ,-.25\r\n");
  EXPECT_THAT(data.labels, ElementsAre(1, 0));
  EXPECT_EQ(data.width, 2);
  EXPECT_THAT(data.values, ElementsAre(0.5, 2, 1000, -0.25));
  EXPECT_THAT(data.weights, IsEmpty());
  EXPECT_THAT(data.starts, IsEmpty());
}

TEST(XgboostDataTest, AnEmptyFieldIsMissing) {
  EXPECT_THAT(
      ParseXgboostCsv("1,,2\n0,3,").values,
      ElementsAre(NanSensitiveFloatEq(kNan), 2, 3, NanSensitiveFloatEq(kNan)));
}

TEST(XgboostDataTest, TheFirstLineShowsWhatSeparatesFields) {
  for (const std::string_view text :
       {"1,2,3\n4,5,6", "1\t2\t3\n4\t5\t6", "1;2;3\n4;5;6", "1|2|3\n4|5|6",
        "1 2 3\n4 5 6", "\"1\",\"2\",3\n4,\"5\",6"}) {
    const XgboostData data = ParseXgboostCsv(text);
    EXPECT_THAT(data.labels, ElementsAre(1, 4)) << text;
    EXPECT_THAT(data.values, ElementsAre(2, 3, 5, 6)) << text;
  }
}

TEST(XgboostDataTest, NumbersBeyondTheRangeAreInfiniteOrZero) {
  EXPECT_THAT(ParseXgboostCsv("1,1e39,-1e999,1e-999,inf").values,
              ElementsAre(kInfinity, -kInfinity, 0, kInfinity));
}

TEST(XgboostDataTest, WhatIsNoCsvIsRefusedWithItsPlace) {
  const auto refuses = [](std::string_view text, const char* message) {
    EXPECT_THAT([text] { ParseXgboostCsv(text); },
                ThrowsMessage<Error>(HasSubstr(message)))
        << text;
  };
  refuses("", "no rows");
  refuses("\n\n", "no rows");
  refuses("1\n2\n", "at least one feature");
  refuses("1,2\n3\n", "row 2 has 1 fields, and row 1 has 2");
  refuses("1,2\n3,x4\n", "row 2 has 'x4', which is no number");
  refuses("1,2 3\n", "no number");
}

TEST(XgboostDataTest, LibsvmIsSparse) {
  const XgboostData data = ParseXgboostLibsvm(
      "1 0:1 3:2 # comment\n\n# comment\n0 qid:1 1:1.5\r\n2\n");
  EXPECT_THAT(data.labels, ElementsAre(1, 0, 2));
  EXPECT_THAT(data.weights, IsEmpty());
  EXPECT_EQ(data.width, 4);
  EXPECT_THAT(data.values, ElementsAre(1, 2, 1.5));
  EXPECT_THAT(data.columns, ElementsAre(0, 3, 1));
  EXPECT_THAT(data.starts, ElementsAre(0, 2, 3, 3));
}

TEST(XgboostDataTest, RowsOfLibsvmMayHaveWeights) {
  EXPECT_THAT(ParseXgboostLibsvm("1:0.5 0:1\n0 0:2\n").weights,
              ElementsAre(0.5, 1));
}

TEST(XgboostDataTest, WhatIsNoLibsvmIsRefusedWithItsPlace) {
  const auto refuses = [](std::string_view text, const char* message) {
    EXPECT_THAT([text] { ParseXgboostLibsvm(text); },
                ThrowsMessage<Error>(HasSubstr(message)))
        << text;
  };
  refuses("", "no rows");
  refuses("# nothing\n", "no rows");
  refuses("1 0:1\nwords 0:1\n", "line 2 has 'words', which is no number");
  refuses("1 0.5\n", "line 1 has '0.5', which is not an index");
  refuses("1 -1:2\n", "not an index of at least 0");
  refuses("1 0:1:2\n", "no number");
  refuses("1 9223372036854775807:1\n", "not an index");
}

TEST(XgboostDataTest, AFileIsReadByItsContentType) {
  const testing::TempDir folder;
  const std::string path = (folder.path() / "rows").string();
  std::ofstream(path) << "1,2\n";
  EXPECT_THAT(ReadXgboostData("data", path, "text/CSV").values, ElementsAre(2));
  const auto refuses = [&](const std::string& at, const char* content_type,
                           const std::string& message) {
    EXPECT_THAT([&] { ReadXgboostData("data", at, content_type); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  refuses(path, "libsvm", "data: '" + path + "' is not libsvm: line 1 has");
  refuses(path, "parquet",
          "data has the content type 'parquet'; allowed: csv, text/csv, "
          "libsvm, text/libsvm, text/x-libsvm");
  refuses(path + "/none", "csv", "data: there is no local file");
  refuses(folder.path().string(), "csv", "data: there is no local file");
  std::ofstream(path, std::ios::trunc).close();
  refuses(path, "csv", "it has no rows");
}

}  // namespace
}  // namespace smdebug
