#include "src/config/framework.h"

#include <string>

#include <gtest/gtest.h>

#include "src/config/plan.h"

namespace smdebug::config {
namespace {

TEST(FrameworkTest, NamesReadBack) {
  for (const Framework framework :
       {Framework::kNative, Framework::kPyTorch, Framework::kTensorFlow,
        Framework::kMxnet, Framework::kXgboost}) {
    EXPECT_EQ(ParseFramework(FrameworkName(framework)), framework);
  }
  EXPECT_EQ(FrameworkName(Framework::kPyTorch), "pytorch");
  EXPECT_EQ(ParseFramework("PyTorch"), std::nullopt);
}

TEST(FrameworkTest, OnlyPyTorchDividesByOneLess) {
  EXPECT_EQ(DefaultSpread(Framework::kPyTorch), Spread::kSample);
  EXPECT_EQ(DefaultSpread(Framework::kTensorFlow), Spread::kPopulation);
  EXPECT_EQ(DefaultSpread(Framework::kMxnet), Spread::kPopulation);
  EXPECT_EQ(DefaultSpread(Framework::kXgboost), Spread::kPopulation);
  EXPECT_EQ(DefaultSpread(Framework::kNative), Spread::kPopulation);
}

TEST(ReductionTensorNameTest, FollowsTheFrameworksSpelling) {
  const Reduction mean{ReductionOp::kMean, false};
  const Reduction abs_l1{ReductionOp::kL1, true};
  EXPECT_EQ(ReductionTensorName(Framework::kPyTorch, mean, "Net_fc.weight"),
            "smdebug/reductions/mean/Net_fc.weight");
  EXPECT_EQ(ReductionTensorName(Framework::kPyTorch, abs_l1, "fc:0.weight:12"),
            "smdebug/reductions/abs_l1/fc.weight");
  EXPECT_EQ(ReductionTensorName(Framework::kMxnet, mean, "a:x:"),
            "smdebug/reductions/mean/a:x:");
  EXPECT_EQ(
      ReductionTensorName(Framework::kTensorFlow, mean, "foobar/weight1:0"),
      "smdebug/reductions/mean/foobar/weight1:0");
  EXPECT_EQ(ReductionTensorName(Framework::kNative, mean, "w:0"),
            "smdebug/reductions/mean/w:0");
}

TEST(FrameworkTest, VersionsAreComparedAsNumbers) {
  constexpr PythonFramework kTorch = {"torch", "1.13"};
  for (const char* version :
       {"1.13", "1.13.0a0", "1.13.1+cpu", "2.0", "10.0"}) {
    EXPECT_TRUE(IsSupported(kTorch, version)) << version;
  }
  for (const char* version : {"1.9", "1.12.1", "0.4", "", "unknown"}) {
    EXPECT_FALSE(IsSupported(kTorch, version)) << version;
  }
  EXPECT_FALSE(IsSupported({"mxnet"}, "1.9"));
}

}  // namespace
}  // namespace smdebug::config
