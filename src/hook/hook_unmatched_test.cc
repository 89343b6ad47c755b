#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "tests/testing/hook.h"
#include "tests/testing/log_capture.h"

// What takes nothing is told of.
namespace smdebug {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LogCapture;
using ::testing::Not;
using testing::SaveFloats;

class HookUnmatchedTest : public ::testing::Test {
 protected:
  HookUnmatchedTest() {
    config_.out_dir = "unused";
    config_.save_config = SaveConfig::Every({.save_interval = 1});
  }

  std::unique_ptr<Hook> Open() {
    return std::make_unique<Hook>(config_, Worker{}, RuntimeOptions{},
                                  OpenMemoryStorage(), nullptr);
  }

  void Add(Collection collection) {
    config_.include_collections.push_back(collection.name);
    config_.collections.push_back(std::move(collection));
  }

  // What is logged about collections while `steps` steps save `names`.
  std::vector<std::string> Told(const std::vector<std::string>& names,
                                int steps = 3) {
    const LogCapture log;
    const auto hook = Open();
    hook->AddHints(std::vector<std::string>{"ReLU"});
    for (int step = 0; step < steps; ++step) {
      hook->BeginStep();
      for (const std::string& name : names) SaveFloats(*hook, name, {1.0F});
    }
    hook->Close();
    std::vector<std::string> told;
    for (const std::string& message : log.lines()) {
      if (message.starts_with("Collection ")) told.push_back(message);
    }
    return told;
  }

  HookConfig config_;
};

TEST_F(HookUnmatchedTest, ARegexThatMatchesNothingIsToldOnceWithWhatIsNear) {
  Add({.name = "acts", .include_regex = {"relu|tanh"}});
  EXPECT_THAT(Told({"fc.weight", "0_output_0"}),
              ElementsAre("Collection acts: no tensor so far matches "
                          "'relu|tanh'; did you mean 'ReLU'?"));
  EXPECT_EQ(Told({"fc.weight"}, 1).size(), 1u) << "At Close().";
}

TEST_F(HookUnmatchedTest, OneOfSeveralRegexesIsTold) {
  config_.include_regex = {"fc", "wieght$"};
  EXPECT_THAT(Told({"fc.weight", "x"}),
              ElementsAre("Collection default: no tensor so far matches "
                          "'wieght$'; did you mean 'weight'?"));
}

TEST_F(HookUnmatchedTest, WhereNothingIsNearSomeNamesAreShown) {
  Add({.name = "acts", .include_regex = {"zzzzzz"}, .tensor_names = {"x"}});
  EXPECT_THAT(Told({"a", "b", "c", "d", "x"}),
              ElementsAre("Collection acts: no tensor so far matches "
                          "'zzzzzz'; there is 'a', 'b', 'c', ..."));
}

TEST_F(HookUnmatchedTest, ANameThatNoTensorHasIsTold) {
  Add({.name = "acts", .tensor_names = {"fc.weihgt", "fc.bias"}});
  EXPECT_THAT(Told({"fc.weight", "fc.bias"}),
              ElementsAre(AllOf(HasSubstr("'fc.weihgt'"),
                                HasSubstr("did you mean 'weight'?"),
                                Not(HasSubstr("fc.bias")))));
}

TEST_F(HookUnmatchedTest, ACollectionIsToldOfWhenAStepOfItsIsOver) {
  Add({.name = "late",
       .include_regex = {"zzzzzz"},
       .save_config = SaveConfig::Every({.start_step = 2, .save_steps = {2}})});
  EXPECT_THAT(Told({"x"}, 2), IsEmpty()) << "No step of it came.";
  EXPECT_EQ(Told({"x"}, 3).size(), 1u);
}

TEST_F(HookUnmatchedTest, ACollectionOfAnotherFrameworkIsToldOf) {
  config_.framework = Framework::kXgboost;
  config_.include_collections = {"weights"};
  EXPECT_THAT(Told({"train-rmse"}),
              ElementsAre("Collection weights takes nothing here: only the "
                          "hooks of pytorch, tensorflow, mxnet fill it"));
  config_.include_collections.clear();
  Add({.name = "weights", .save_config = SaveConfig::Every({.end_step = 0})});
  EXPECT_EQ(Told({"train-rmse"}).size(), 1u);
}

TEST_F(HookUnmatchedTest, WhatIsSavedByDefaultIsToldOfIfNothingElseIsAsked) {
  EXPECT_THAT(Told({"x"}), ElementsAre(HasSubstr("Collection losses: there is "
                                                 "no tensor for it so far")));
  EXPECT_THAT(Told({"loss"}), IsEmpty());
  Add({.name = "mine", .include_regex = {"x"}});
  EXPECT_THAT(Told({"x"}), IsEmpty());
}

TEST_F(HookUnmatchedTest, WhatTakesSomethingIsNotToldOf) {
  config_.save_all = true;
  Add({.name = "acts", .include_regex = {"^x"}});
  EXPECT_THAT(Told({"x"}), IsEmpty());
  EXPECT_THAT(Told({}), Not(IsEmpty()));
}

TEST_F(HookUnmatchedTest, ADryRunKnowsOfNothing) {
  Add({.name = "acts", .include_regex = {"zzz"}});
  config_.dry_run = true;
  EXPECT_THAT(Told({"x"}), IsEmpty());
}

}  // namespace
}  // namespace smdebug
