#include <limits>

#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const double kNan = std::nan("");
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ExplodingTensorTest, NanAtStepsZeroAndTwo) {
  FakeRun run;
  run.At(0).Put("gradient/a", {1, kNan}).Put("other", {kNan});
  run.At(1).Put("gradient/a", {1, 2});
  run.At(2).Put("a_weight", {kNan});
  const std::string spec = "ExplodingTensor:collection_names=gradients,weights";
  EXPECT_THAT(run.Fired(spec), ElementsAre(0, 2));
  EXPECT_THAT(run.Fired(spec, 1), ElementsAre(2));
}

TEST(ExplodingTensorTest, OnlyNanLeavesInfinitiesAlone) {
  FakeRun run;
  run.At(0).Put("a", {kInf});
  run.At(1).Put("a", {-kInf});
  run.At(2).Put("a", {kNan});
  EXPECT_THAT(run.Fired("ExplodingTensor"), ElementsAre(0, 1, 2));
  EXPECT_THAT(run.Fired("ExplodingTensor:only_nan=True"), ElementsAre(2));
}

TEST(ExplodingTensorTest, WithoutASelectorLeavesTreesAlone) {
  FakeRun run;
  run.At(0).Put("trees/Split", {kNan}).PutTexts("trees/Yes", {"nan"});
  EXPECT_THAT(run.Fired("ExplodingTensor"), IsEmpty());
  EXPECT_THAT(run.Fired("ExplodingTensor:tensor_regex=trees"), ElementsAre(0));
}

TEST(ExplodingTensorTest, WholeNumbersAndTextsNeverFire) {
  FakeRun run;
  run.At(0).PutInts("a", {1}).PutTexts("b", {"nan"});
  EXPECT_THAT(run.Fired("ExplodingTensor"), IsEmpty());
}

TEST(ExplodingTensorTest, MessagesCountWhatThereIs) {
  FakeRun run;
  run.At(0).Put("a", {1, kNan});
  run.At(1).Put("a", {kNan, kNan});
  run.At(2).Put("a", {kInf, 1});
  run.At(3).Put("a", {kInf, -kInf});
  run.At(4).Put("a", {kInf, kNan});
  run.At(5).Put("a", {kNan, kNan, kInf, kInf});
  std::vector<std::string> messages;
  for (const Finding& finding : run.Judge("ExplodingTensor")) {
    messages.push_back(finding.message);
  }
  EXPECT_THAT(
      messages,
      ElementsAre("1 value is NaN", "2 values are NaN", "1 value is infinite",
                  "2 values are infinite", "1 value is NaN and 1 is infinite",
                  "2 values are NaN and 2 are infinite"));
}

TEST(ExplodingTensorTest, CountsAreEnough) {
  FakeRun run;
  run.At(0).PutCounts("a", {.count = 4, .nan = 1});
  run.At(1).PutCounts("a", {.count = 4, .pos_inf = 1});
  run.At(2).PutCounts("a", {.count = 4});
  EXPECT_THAT(run.Fired("ExplodingTensor"), ElementsAre(0, 1));
  EXPECT_THAT(run.Fired("ExplodingTensor:only_nan=true"), ElementsAre(0));
}

TEST(ExplodingTensorTest, ReductionsTellUnlessOnlyNanIsAsked) {
  FakeRun run;
  run.At(0).PutReduction("a", {ReductionOp::kMax}, kInf);
  run.At(1).PutReduction("a", {ReductionOp::kMean}, 1);
  EXPECT_THAT(run.Fired("ExplodingTensor"), ElementsAre(0));
  EXPECT_THROW(run.Fired("ExplodingTensor:only_nan=true"),
               InsufficientInformation);
}

TEST(ExplodingTensorTest, RobustFiresOnNanAtOnceAndOnLastingInfinities) {
  FakeRun run;
  run.At(0).Put("a", {kInf});
  run.At(1).Put("a", {1});
  run.At(2).Put("a", {kNan});
  run.At(3).Put("a", {kInf});
  run.At(4).Put("a", {kInf});
  EXPECT_THAT(run.Fired("ExplodingTensor:robust=true"), ElementsAre(2, 4));
}

TEST(ExplodingTensorTest, RobustLeavesMasksAlone) {
  FakeRun run;
  for (int step = 0; step < 5; ++step) run.At(step).Put("mask", {0, -kInf});
  EXPECT_THAT(run.Fired("ExplodingTensor:robust=true"), IsEmpty());
}

}  // namespace
}  // namespace smdebug::rules
