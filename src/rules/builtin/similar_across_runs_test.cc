#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SimilarAcrossRunsTest, FiresWhereATensorOfBothDiffers) {
  FakeRun other;
  other.At(0).Put("a", {1, 2}).Put("b", {std::nan("")});
  other.At(1).Put("a", {1, 2});
  other.At(2).Put("a", {1, 2}, {2, 1});
  other.At(3).Put("a", {1, 2.00001});
  FakeRun run;
  run.CompareWith(&other);
  run.At(0).Put("a", {1, 2}).Put("b", {std::nan("")}).Put("only_here", {1});
  run.At(1).Put("a", {1, 3});
  run.At(2).Put("a", {1, 2});
  run.At(3).Put("a", {1, 2});
  run.At(4).Put("a", {1, 9});  // The other run has ended.
  EXPECT_THAT(run.Fired("SimilarAcrossRuns"), ElementsAre(1, 2));
  EXPECT_THAT(run.Fired("SimilarAcrossRuns:tensor_regex=b"), IsEmpty());
}

TEST(SimilarAcrossRunsTest, RobustLeavesRoundingAlone) {
  FakeRun other;
  FakeRun rounded;
  FakeRun different;
  rounded.CompareWith(&other);
  different.CompareWith(&other);
  for (int step = 0; step < 4; ++step) {
    other.At(step).Put("a", {1, 1e-3});
    rounded.At(step).Put("a", {1.0001, 1.001e-3});
    different.At(step).Put("a", {1, 0.5});
  }
  EXPECT_FALSE(rounded.Fired("SimilarAcrossRuns").empty());
  EXPECT_THAT(rounded.Fired("SimilarAcrossRuns:robust=true"), IsEmpty());
  EXPECT_THAT(different.Fired("SimilarAcrossRuns:robust=true"),
              ElementsAre(2, 3));
}

}  // namespace
}  // namespace smdebug::rules
