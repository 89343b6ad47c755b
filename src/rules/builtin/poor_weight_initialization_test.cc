#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRule = "PoorWeightInitialization";

// Numbers of variance x * x.
std::vector<double> Spread(double x) { return {x, -x, x, -x}; }

TEST(PoorWeightInitializationTest, VariancesOfLayersDiffer) {
  FakeRun run;
  run.At(0).Put("a_relu_input_0", Spread(1)).Put("b_relu_input_0", Spread(2));
  run.At(1).Put("a_relu_input_0", Spread(1)).Put("b_relu_input_0", Spread(4));
  const auto findings = run.Judge(kRule);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, 16);
  EXPECT_EQ(findings[0].tensor, "b_relu_input_0");
  EXPECT_THAT(run.Fired(std::string(kRule) + ":threshold=16"), IsEmpty());
}

TEST(PoorWeightInitializationTest, ASingleLayerOrNanIsNoRatioAndZeroIsOne) {
  FakeRun run;
  run.At(0)
      .Put("a_relu_input_0", Spread(1))
      .Put("b_relu_input_0", {std::nan("")});
  run.At(1).Put("a_relu_input_0", Spread(0)).Put("b_relu_input_0", Spread(0));
  run.At(2).Put("a_relu_input_0", Spread(0)).Put("b_relu_input_0", Spread(1));
  EXPECT_THAT(run.Fired(kRule), ElementsAre(2));
}

TEST(PoorWeightInitializationTest, SavedVariancesAreEnough) {
  FakeRun run;
  run.At(0)
      .PutReduction("a_relu_input_0", {ReductionOp::kVariance}, 1)
      .PutReduction("b_relu_input_0", {ReductionOp::kVariance}, 11);
  EXPECT_THAT(run.Fired(kRule), ElementsAre(0));
}

TEST(PoorWeightInitializationTest, GradientsAreTooMuchAlike) {
  const auto gradient = [](double width, size_t count = 21) {
    std::vector<double> values;  // Evenly spaced; percentiles at 1 and 19.
    for (size_t i = 0; i < count; ++i) {
      values.push_back(width / 18 * static_cast<double>(i));
    }
    return values;
  };
  FakeRun run;
  run.At(0).Put("gradient/a", gradient(0.0011));
  run.At(1).Put("gradient/a", gradient(0.0009));
  run.At(2).Put("gradient/a", gradient(0, 7));
  run.At(3).Put("gradient/a", gradient(std::nan("")));
  EXPECT_THAT(run.Fired(kRule), ElementsAre(1));
}

TEST(PoorWeightInitializationTest, TheLossDoesNotFall) {
  FakeRun run;
  const std::vector<double> losses = {3, 2, 2, std::nan(""), 2.5, 2, 2, 1};
  for (size_t i = 0; i < losses.size(); ++i) {
    run.At(static_cast<int64_t>(i), i % 2 == 0 ? Mode::kTrain : Mode::kEval)
        .Put("loss", {losses[i]});
  }
  EXPECT_THAT(run.Fired(kRule), ElementsAre(6));
  EXPECT_THAT(run.Fired(std::string(kRule) + ":patience=6"), IsEmpty());
  EXPECT_THAT(run.Judge(kRule)[0].message, HasSubstr("5 steps"));
}

TEST(PoorWeightInitializationTest, OnlyTheFirstStepsWithDataCount) {
  FakeRun run;
  for (int step = 0; step < 30; ++step) {
    run.At(step).Put("other", {0});
    if (step % 2 == 0) run.Put("gradient/a", std::vector<double>(8));
  }
  EXPECT_EQ(run.Fired(kRule).size(), 10U);
  EXPECT_THAT(run.Fired(std::string(kRule) + ":steps=2"), ElementsAre(0, 2));
}

// A network as PyTorch makes it: the variance shrinks six times per layer, a
// bias has hardly a gradient, the embedding mostly zeros.
TEST(PoorWeightInitializationTest, RobustLeavesUsualNetworksAlone) {
  FakeRun run;
  std::vector<double> rows(1000);
  for (size_t i = 0; i < 8; ++i) rows[i] = 0.001 * static_cast<double>(i + 1);
  for (int step = 0; step < 10; ++step) {
    run.At(step)
        .Put("relu1_input_0", Spread(1))
        .Put("relu2_input_0", Spread(0.4))
        .Put("relu3_input_0", Spread(0.16))
        .Put("gradient/emb.weight", rows)
        .Put("gradient/conv.weight", {-1e-3, -5e-4, 0, 0, 0, 0, 5e-4, 1e-3})
        .Put("gradient/conv.bias", std::vector<double>(8, 1e-9))
        .Put("loss", {2.3 + (step % 3) * 0.01});
  }
  EXPECT_FALSE(run.Fired(kRule).empty());
  EXPECT_THAT(run.Fired(std::string(kRule) + ":robust=true"), IsEmpty());
}

TEST(PoorWeightInitializationTest, RobustFiresOnZerosAndOnLargeWeights) {
  FakeRun zeros;
  FakeRun large;
  for (int step = 0; step < 5; ++step) {
    zeros.At(step)
        .Put("gradient/a.weight", std::vector<double>(64))
        .Put("loss", {2.3});
    large.At(step)
        .Put("relu1_input_0", Spread(1))
        .Put("relu2_input_0", Spread(6))
        .Put("relu3_input_0", Spread(36));
  }
  const std::string spec = std::string(kRule) + ":robust=true";
  EXPECT_THAT(zeros.Fired(spec), ElementsAre(2, 3, 4));
  EXPECT_THAT(large.Fired(spec), ElementsAre(2, 3, 4));
}

}  // namespace
}  // namespace smdebug::rules
