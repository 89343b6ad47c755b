#include "src/rules/builtin/testing.h"

namespace smdebug::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRule = "FeatureImportanceOverweight";

void Put(FakeRun& run, const std::vector<double>& importances) {
  for (size_t i = 0; i < importances.size(); ++i) {
    run.Put("feature_importance/weight/f" + std::to_string(i),
            {importances[i]});
  }
}

TEST(FeatureImportanceOverweightTest, FiresAboveTheThresholdOnly) {
  FakeRun run;
  Put(run.At(0), {0.25, 0.25, 0.25, 0.25});
  Put(run.At(1), {0.5, 0.125, 0.25, 0.125});
  const auto findings = run.Judge(kRule);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, 0.875);
  EXPECT_THAT(run.Fired(std::string(kRule) + ":threshold=0.875"), IsEmpty());
  EXPECT_THAT(run.Fired(std::string(kRule) + ":nfeatures=1:threshold=0.4"),
              ElementsAre(1));
}

TEST(FeatureImportanceOverweightTest, DataWithFewFeaturesIsNotJudged) {
  FakeRun run;
  Put(run.At(0), {0.5, 0.5});
  EXPECT_THAT(run.Fired(kRule), IsEmpty());
  // Other tensors tell that there are more, although these have nothing.
  Put(run.At(1), {0.5, 0.5});
  run.Put("average_shap/f2", {0}).Put("average_shap/f3", {0});
  Put(run.At(2), {0, 0});
  EXPECT_THAT(run.Fired(kRule), ElementsAre(1));
}

TEST(FeatureImportanceOverweightTest, TheBiasOfShapValuesIsNoFeature) {
  FakeRun run;
  Put(run.At(0), {0.4, 0.3, 0.3});
  run.Put("average_shap/f0", {0.1}).Put("average_shap/bias", {5});
  run.Put("full_shap/bias", {5});
  EXPECT_THAT(run.Fired(kRule), IsEmpty());
  // A feature may be called so.
  run.Put("feature_importance/weight/bias", {0.1});
  EXPECT_THAT(run.Fired(kRule), ElementsAre(0));
}

TEST(FeatureImportanceOverweightTest, KindsOfImportanceAreJudgedApart) {
  const std::string rule =
      std::string(kRule) + ":nfeatures=1:threshold=0.6:tensor_regex=.";
  FakeRun run;
  Put(run.At(0), {0.5, 0.25, 0.25});
  // Far larger numbers, but alike; and of opposite signs, and not a feature.
  for (const char* name : {"f0", "f1", "f2"}) {
    run.Put(std::string("feature_importance/cover/") + name, {100});
  }
  run.Put("average_shap/f0", {-1}).Put("average_shap/f1", {1});
  run.Put("average_shap/bias", {9});
  EXPECT_THAT(run.Fired(rule), IsEmpty());

  Put(run.At(1), {0.75, 0.25, 0});
  run.Put("feature_importance/cover/f0", {100});
  run.Put("feature_importance/cover/f1", {100});
  const auto findings = run.Judge(rule);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].step, 1);
  EXPECT_EQ(findings[0].value, 0.75);
  EXPECT_EQ(findings[0].message,
            "1 of 3 features has 0.75 of feature_importance/weight, more than "
            "0.6");
}

TEST(FeatureImportanceOverweightTest, RobustWarmsUpAndKnowsFewFeatures) {
  FakeRun four;
  FakeRun ten;
  for (int step = 0; step < 15; ++step) {
    Put(four.At(step), {0.3, 0.3, 0.25, 0.15});
    Put(ten.At(step),
        {0.5, 0.3, 0.13, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01});
  }
  const std::string robust = std::string(kRule) + ":robust=true";
  EXPECT_EQ(four.Fired(kRule).size(), 15U);
  EXPECT_THAT(four.Fired(robust), IsEmpty());
  EXPECT_THAT(ten.Fired(robust), ElementsAre(12, 13, 14));
}

}  // namespace
}  // namespace smdebug::rules
