#include "src/config/reduction_config.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;

constexpr Reduction kMin{ReductionOp::kMin, false};
constexpr Reduction kMax{ReductionOp::kMax, false};
constexpr Reduction kMedian{ReductionOp::kMedian, false};
constexpr Reduction kL1{ReductionOp::kL1, false};
constexpr Reduction kL2{ReductionOp::kL2, false};
constexpr Reduction kAbsStd{ReductionOp::kStd, true};
constexpr Reduction kAbsL1{ReductionOp::kL1, true};

// The texts are what smdebug 1.0.34 prints for the same objects.
TEST(ReductionConfigTest, WritesTheJsonOfTheReference) {
  EXPECT_EQ(ToJson(ReductionConfig{}),
            R"({"save_raw_tensor": false, "reductions": "", )"
            R"("save_shape": false})");
  EXPECT_EQ(ToJson(config::RawOnly()),
            R"({"save_raw_tensor": true, "reductions": "", )"
            R"("save_shape": false})");
  EXPECT_EQ(ToJson(ReductionConfig{
                {kAbsL1, kMax, kL2, kMin, kAbsStd, kL1}, false, true}),
            R"({"save_raw_tensor": false, "reductions": )"
            R"("max,min,l2_norm,l1_norm,abs_std,abs_l1_norm", )"
            R"("save_shape": true})");
}

// smdebug 1.0 refuses a whole run for a reduction that it does not know.
TEST(ReductionConfigTest, HidesMedianFromTheReferencesReader) {
  const ReductionConfig config{{kMin, kMedian}, true, false};
  const std::string json = ToJson(config);
  EXPECT_EQ(json, R"({"save_raw_tensor": true, "reductions": "min", )"
                  R"("save_shape": false, "more_reductions": "median"})");
  EXPECT_EQ(ReductionConfigFromJson(json).reductions,
            (std::vector{kMin, kMedian}));
}

TEST(ReductionConfigTest, ReadsBackWhatItWrites) {
  const ReductionConfig config{{kMin, kL2, kAbsStd, kAbsL1}, true, true};
  EXPECT_EQ(ReductionConfigFromJson(ToJson(config)), config);
  EXPECT_EQ(ReductionConfigFromJson("{}"), ReductionConfig{});
}

TEST(ReductionConfigTest, ReadsBackMedianWhereverItStood) {
  const auto config = ReductionConfigFromJson(
      R"({"reductions": "abs_median,median,abs_std,min"})");
  EXPECT_EQ(ReductionConfigFromJson(ToJson(config)), config);
}

TEST(ReductionConfigTest, RefusesJsonOfAnotherShape) {
  for (const std::string json :
       {"3", R"({"reductions": "mode"})", R"({"reductions": 3})",
        R"({"save_shape": "perhaps"})", "{"}) {
    EXPECT_THROW(ReductionConfigFromJson(json), ConfigError) << json;
  }
}

TEST(ReductionConfigTest, WrittenOrderKeepsEachReductionOnce) {
  EXPECT_THAT(config::InWrittenOrder({kAbsStd, kMin, kL1, kMin, kMax}),
              ElementsAre(kMin, kMax, kL1, kAbsStd));
}

TEST(ReadReductionsTest, AcceptsEveryDocumentedSpelling) {
  for (const std::string op : {"min", "max", "median", "mean", "std",
                               "variance", "sum", "prod", "l1", "l2"}) {
    for (const std::string prefix : {"", "abs_"}) {
      EXPECT_EQ(config::ReadReductions(prefix + op, "k").size(), 1u)
          << prefix << op;
    }
  }
  for (const std::string norm :
       {"l1_norm", "l2_norm", "abs_l1_norm", "abs_l2_norm"}) {
    EXPECT_EQ(config::ReadReductions(norm, "k").size(), 1u) << norm;
  }
}

TEST(ReadReductionsTest, ReadsCommasAndArraysAlike) {
  const std::vector expected{kMin, kL1, kAbsStd};
  EXPECT_EQ(config::ReadReductions("min, l1 ,abs_std,", "k"), expected);
  EXPECT_EQ(config::ReadReductions(
                config::Json::array({"min", "l1_norm", "abs_std"}), "k"),
            expected);
  EXPECT_THAT(config::ReadReductions("", "k"), ElementsAre());
}

TEST(ReadReductionsTest, RefusesOtherNamesByName) {
  for (const std::string name :
       {"mode", "abs", "mean_norm", "Mean", "abs_abs_mean"}) {
    try {
      config::ReadReductions("min," + name, "k");
      FAIL() << name << " accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), "k");
      EXPECT_EQ(error.value(), name);
    }
  }
}

}  // namespace
}  // namespace smdebug
