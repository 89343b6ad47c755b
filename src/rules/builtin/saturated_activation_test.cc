#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;

std::vector<double> Eight(double x) { return std::vector<double>(8, x); }

TEST(SaturatedActivationTest, EachFunctionHasItsRange) {
  FakeRun run;
  run.At(0).Put("tanh_input_0", Eight(9.4998));
  run.At(1).Put("tanh_input_0", Eight(9.4999));
  run.At(2).Put("tanh_input_0", Eight(-9.4999));
  run.At(3).Put("sigmoid_input_0", Eight(9.5));
  run.At(4).Put("sigmoid_input_0", Eight(17));
  run.At(5).Put("sigmoid_input_0", Eight(-22.9));
  run.At(6).Put("sigmoid_input_0", Eight(-23));
  EXPECT_THAT(run.Fired("SaturatedActivation"), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(run.Fired("SaturatedActivation:threshold_tanh_max=20:"
                        "threshold_sigmoid_min=-30"),
              ElementsAre(2, 4));
}

TEST(SaturatedActivationTest, OldPairsAreAccepted) {
  FakeRun run;
  run.At(0).Put("tanh_input_0", Eight(5)).Put("Sigmoid_input_0", Eight(5));
  EXPECT_THAT(run.Fired("SaturatedActivation:threshold_tanh=(-4, 4)"),
              ElementsAre(0));
  EXPECT_THAT(
      run.Fired("SaturatedActivation{\"threshold_sigmoid\": \"(-4, 4)\"}"),
      ElementsAre(0));
  EXPECT_THROW(run.Judge("SaturatedActivation:threshold_tanh=4"), ConfigError);
  EXPECT_THROW(run.Judge("SaturatedActivation:threshold_tanh=(4, -4)"),
               ConfigError);
}

TEST(SaturatedActivationTest, CountsUnitsOfALayer) {
  FakeRun run;
  std::vector<double> half;
  std::vector<double> most;
  for (int i = 0; i < 32; ++i) {
    half.push_back(i % 4 < 2 ? 50 : 0);
    most.push_back(i % 4 < 3 ? 50 : 0);
  }
  run.At(0).Put("tanh_input", half, {8, 4});
  run.At(1).Put("tanh_input", most, {8, 4});
  EXPECT_THAT(run.Fired("SaturatedActivation"), ElementsAre(1));
}

TEST(SaturatedActivationTest, CollectionsTellTheFunctionToo) {
  FakeRun run;
  run.Collect("tanh_input", "^1_input").Collect("gates", "^gate");
  run.At(0)
      .Put("1_input_0", Eight(50))
      .Put("gate.tanh_input_0", Eight(50))
      .Put("gate.other_input_0", Eight(50))
      .Put("sigmoid_input_0", Eight(50))
      .Put("gradient/tanh_input_0", Eight(50));
  EXPECT_EQ(run.Judge("SaturatedActivation").size(), 3U);
  const auto only = run.Judge("SaturatedActivation:collection_names=gates");
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only[0].tensor, "gate.tanh_input_0");
}

TEST(SaturatedActivationTest, NanIsNotActive) {
  FakeRun run;
  run.At(0).Put("tanh_input", Eight(std::nan("")));
  EXPECT_THAT(run.Fired("SaturatedActivation"), ElementsAre(0));
}

TEST(SaturatedActivationTest, RobustTakesStepsTogether) {
  FakeRun run;
  for (int step = 0; step < 5; ++step) {
    run.At(step).Put("tanh_input", std::vector<double>(16, 50), {16, 1});
  }
  EXPECT_THAT(run.Fired("SaturatedActivation:robust=true"), ElementsAre(2));
}

}  // namespace
}  // namespace smdebug::rules
