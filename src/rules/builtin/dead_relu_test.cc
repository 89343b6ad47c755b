#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Shape = FakeRun::Shape;

// A batch in which the first `dead` of four units are never active.
std::vector<double> Batch(size_t samples, size_t dead) {
  std::vector<double> values(samples * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 4 < dead ? 0 : 1;
  return values;
}

TEST(DeadReluTest, FiresIfMoreThanHalfOfTheUnitsAreDead) {
  FakeRun run;
  run.At(0).Put("dense0_relu_output_0", Batch(8, 2), {8, 4});
  run.At(1).Put("dense0_relu_output_0", Batch(8, 3), {8, 4});
  run.At(2).Put("dense0_relu_output_0", Batch(8, 4), {8, 2, 2});
  const auto findings = run.Judge("DeadRelu");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, 75);
  EXPECT_EQ(findings[0].threshold, 50);
  EXPECT_THAT(run.Fired("DeadRelu:threshold_layer=75"), ElementsAre(2));
}

TEST(DeadReluTest, AUnitAtTheInactivityThresholdIsAlive) {
  std::vector<double> one_of_hundred(100);
  one_of_hundred[42] = 0.1;
  FakeRun run;
  run.At(0).Put("relu_output_0", one_of_hundred, {100, 1});
  EXPECT_THAT(run.Fired("DeadRelu"), IsEmpty());
  EXPECT_THAT(run.Fired("DeadRelu:threshold_inactivity=1.1"), ElementsAre(0));
}

TEST(DeadReluTest, ATensorOfRankOneIsOneUnit) {
  FakeRun run;
  run.At(0).Put("relu_output", std::vector<double>(8, -1));
  run.At(1).Put("relu_output", {0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_THAT(run.Fired("DeadRelu"), ElementsAre(0));
  EXPECT_EQ(run.Judge("DeadRelu")[0].message,
            "1 of 1 unit is dead: 100 %, above 50 %");
}

TEST(DeadReluTest, SmallBatchesOfAModeAreTakenTogether) {
  FakeRun run;
  for (int step = 0; step < 8; ++step) {
    run.At(step, step % 2 == 0 ? Mode::kTrain : Mode::kEval)
        .Put("relu_output_0", Batch(3, 4), {3, 4});
  }
  EXPECT_THAT(run.Fired("DeadRelu"), ElementsAre(4, 5));
}

TEST(DeadReluTest, KnowsTheNamesOfFrameworks) {
  FakeRun run;
  run.Collect("relu_output", "^features.3_output_0$");
  run.At(0);
  const std::vector<std::string> names = {
      "ReLU_output_0",       "dense/outputs/dense/Relu:0",
      "features.3_output_0", "net.relu1_output_0",
      "re_lu_2/outputs",     "relu_output_1"};
  for (const std::string& name : names) run.Put(name, Batch(8, 4), {8, 4});
  for (const char* name :
       {"gradient/relu_output", "leaky_re_lu/outputs", "fc_output_0"}) {
    run.Put(name, Batch(8, 4), {8, 4});
  }
  std::vector<std::string> found;
  for (const Finding& finding : run.Judge("DeadRelu")) {
    found.push_back(finding.tensor);
  }
  EXPECT_EQ(found, names);
  EXPECT_EQ(run.Judge("DeadRelu:tensor_regex=fc").size(), 1U);
}

TEST(DeadReluTest, RobustTakesThreeStepsAndThirtyTwoSamplesTogether) {
  FakeRun dead;
  FakeRun sparse;
  for (int step = 0; step < 6; ++step) {
    dead.At(step).Put("relu_output", Batch(16, 4), {16, 4});
    sparse.At(step).Put("relu_output", Batch(16, step % 2 == 0 ? 4 : 0),
                        {16, 4});
  }
  EXPECT_THAT(sparse.Fired("DeadRelu"), ElementsAre(0, 2, 4));
  EXPECT_THAT(sparse.Fired("DeadRelu:robust=true"), IsEmpty());
  EXPECT_THAT(dead.Fired("DeadRelu:robust=true"), ElementsAre(2, 5));
}

TEST(DeadReluTest, ReductionsAreNotEnough) {
  FakeRun run;
  run.At(0).PutReduction("relu_output", {ReductionOp::kMax}, 0);
  EXPECT_THAT(run.Fired("DeadRelu"), IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
