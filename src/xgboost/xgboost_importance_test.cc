#include "smdebug/internal/xgboost_importance.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// What XGBoost would answer; the library itself is asked in tests/xgboost_cpp
// and in tests/python/frameworks/xgboost.
struct Answers {
  std::vector<const char*> features;
  std::map<std::string_view, std::vector<float>> scores;  // By type.
};

int Score(void* booster, const char* config, uint64_t* count,
          const char*** features, uint64_t* rank, const uint64_t** shape,
          const float** scores) {
  auto& answers = *static_cast<Answers*>(booster);
  for (const auto& [type, values] : answers.scores) {
    if (std::string(config).find('"' + std::string(type) + '"') ==
        std::string::npos) {
      continue;
    }
    *count = answers.features.size();
    *features = answers.features.data();
    *rank = 1;
    *shape = count;
    *scores = values.data();
    return 0;
  }
  return -1;
}

class XgboostImportanceTest : public testing::HookFixture {
 protected:
  // What Save() returns in the next step.
  bool SaveStep(Answers answers, const std::vector<std::string>& names = {}) {
    hook_->BeginStep();
    return importance_.Save(*hook_, &answers, names);
  }

  std::map<std::string, double> Saved(int64_t step) {
    std::map<std::string, double> saved;
    for (const auto& [name, record] : testing::ReadStep(*storage_, step)) {
      saved[name.substr(std::string_view("feature_importance/").size())] =
          record.As<double>().at(0);
    }
    return saved;
  }

  std::unique_ptr<Hook> hook_ = Open(testing::SaveEverything());
  XgboostImportance importance_{&Score};
};

TEST_F(XgboostImportanceTest, SharesOfAllTypes) {
  ASSERT_TRUE(SaveStep({.features = {"a", "b"},
                        .scores = {{"weight", {1, 3}},
                                   {"total_gain", {6, 2}},
                                   {"total_cover", {5, 15}}}}));
  hook_->Close();
  EXPECT_THAT(Saved(0),
              UnorderedElementsAre(
                  Pair("weight/a", 0.25), Pair("weight/b", 0.75),
                  Pair("gain/a", 6 / (6 + double{2.0F / 3})),
                  Pair("gain/b", double{2.0F / 3} / (6 + double{2.0F / 3})),
                  Pair("cover/a", 0.5), Pair("cover/b", 0.5),
                  Pair("total_gain/a", 0.75), Pair("total_gain/b", 0.25),
                  Pair("total_cover/a", 0.25), Pair("total_cover/b", 0.75)));
}

TEST_F(XgboostImportanceTest, NothingIsGainedByAnyFeature) {
  ASSERT_TRUE(SaveStep(
      {.features = {"a"},
       .scores = {
           {"weight", {2}}, {"total_gain", {0}}, {"total_cover", {4}}}}));
  hook_->Close();
  EXPECT_THAT(Saved(0),
              UnorderedElementsAre(Pair("weight/a", 1), Pair("gain/a", 0),
                                   Pair("cover/a", 1), Pair("total_gain/a", 0),
                                   Pair("total_cover/a", 1)));
}

// A model cut back, or another one, has fewer features than the last.
TEST_F(XgboostImportanceTest, AFeatureThatIsGoneIsNotSavedAgain) {
  ASSERT_TRUE(SaveStep({.features = {"a", "b"},
                        .scores = {{"weight", {1, 1}},
                                   {"total_gain", {1, 1}},
                                   {"total_cover", {1, 1}}}}));
  ASSERT_TRUE(SaveStep(
      {.features = {"b"},
       .scores = {
           {"weight", {1}}, {"total_gain", {1}}, {"total_cover", {1}}}}));
  hook_->Close();
  EXPECT_EQ(Saved(0).size(), 10u);
  EXPECT_THAT(Saved(1),
              UnorderedElementsAre(Pair("weight/b", 1), Pair("gain/b", 1),
                                   Pair("cover/b", 1), Pair("total_gain/b", 1),
                                   Pair("total_cover/b", 1)));
}

TEST_F(XgboostImportanceTest, FeaturesThatXgboostNumbersAreNamed) {
  ASSERT_TRUE(SaveStep(
      {.features = {"f1"},
       .scores = {{"weight", {1}}, {"total_gain", {1}}, {"total_cover", {1}}}},
      {"age", "size"}));
  hook_->Close();
  EXPECT_TRUE(Saved(0).contains("weight/size"));
}

TEST_F(XgboostImportanceTest, TellsThatXgboostRefused) {
  EXPECT_FALSE(SaveStep({.features = {"a"}, .scores = {{"weight", {1}}}}));
  hook_->Close();
  EXPECT_THAT(testing::Steps(*storage_), IsEmpty());
}

}  // namespace
}  // namespace smdebug
