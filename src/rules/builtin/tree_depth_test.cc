#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A tree in which each node has a leaf and a node below it.
void PutChain(FakeRun& run, int64_t depth) {
  std::vector<int64_t> nodes = {0};
  std::vector<int64_t> trees = {0};
  std::vector<std::string> yes;
  std::vector<std::string> no;
  for (int64_t level = 0; level < depth; ++level) {
    yes.push_back("0-" + std::to_string(2 * level + 1));
    no.push_back("0-" + std::to_string(2 * level + 2));
    // The leaf, then the node that goes on.
    yes.emplace_back("nan");
    no.emplace_back("nan");
    nodes.push_back(2 * level + 1);
    nodes.push_back(2 * level + 2);
    trees.insert(trees.end(), 2, 0);
  }
  yes.emplace_back("nan");
  no.emplace_back("nan");
  run.PutInts("trees/Node", nodes).PutInts("trees/Tree", trees);
  run.PutTexts("trees/Yes", yes).PutTexts("trees/No", no);
}

TEST(TreeDepthTest, ByTheLargestNumberWithoutColumns) {
  FakeRun run;
  run.At(0).PutInts("trees/Node", {0});
  run.At(1).PutInts("trees/Node", {0, 1, 30});
  run.At(2).PutInts("trees/Node", {0, 1, 32});
  const auto findings = run.Judge("TreeDepth");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 2);
  EXPECT_EQ(findings[0].value, 5);
  EXPECT_THAT(run.Fired("TreeDepth:depth=5"), IsEmpty());
  EXPECT_THAT(run.Fired("TreeDepth:depth=3.5"), ElementsAre(1, 2));
}

TEST(TreeDepthTest, TheTrueDepthWithColumns) {
  FakeRun run;
  PutChain(run.At(0), 4);
  PutChain(run.At(1), 5);  // The largest number is 10.
  PutChain(run.At(2), 0);
  const auto findings = run.Judge("TreeDepth");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, 5);
}

TEST(TreeDepthTest, ColumnsThatGoInCirclesEnd) {
  FakeRun run;
  run.At(0)
      .PutInts("trees/Node", {0, 1})
      .PutTexts("trees/ID", {"0-0", "0-1"})
      .PutTexts("trees/Yes", {"0-1", "0-0"})
      .PutTexts("trees/No", {"0-1", "0-0"});
  EXPECT_THAT(run.Fired("TreeDepth"), IsEmpty());
}

TEST(TreeDepthTest, RobustAllowsXgboostsOwnDepth) {
  FakeRun usual;
  FakeRun deep;
  for (int step = 0; step < 4; ++step) {
    PutChain(usual.At(step), 6);
    PutChain(deep.At(step), 7);
  }
  EXPECT_EQ(usual.Fired("TreeDepth").size(), 4U);
  EXPECT_THAT(usual.Fired("TreeDepth:robust=true"), IsEmpty());
  EXPECT_THAT(usual.Fired("TreeDepth:robust=true:depth=5"), ElementsAre(2, 3));
  EXPECT_THAT(deep.Fired("TreeDepth:robust=true"), ElementsAre(2, 3));
}

}  // namespace
}  // namespace smdebug::rules
