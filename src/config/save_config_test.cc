#include "src/config/save_config.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/config.h"
#include "smdebug/error.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> SavedSteps(const SaveConfigMode& schedule, int64_t last) {
  std::vector<int64_t> steps;
  for (int64_t step = 0; step <= last; ++step) {
    if (schedule.ShouldSave(step)) steps.push_back(step);
  }
  return steps;
}

TEST(SaveConfigModeTest, SavesAsTheDocumentedExamples) {
  EXPECT_THAT(SavedSteps({}, 1200), ElementsAre(0, 500, 1000));
  EXPECT_THAT(SavedSteps({.save_interval = 1}, 3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(SavedSteps({.save_interval = 100, .end_step = 200}, 500),
              ElementsAre(0, 100));
  EXPECT_THAT(SavedSteps({.save_interval = 100, .end_step = 201}, 500),
              ElementsAre(0, 100, 200));
  EXPECT_THAT(SavedSteps({.save_interval = 100, .start_step = 150}, 350),
              ElementsAre(200, 300));
  EXPECT_THAT(SavedSteps({.save_steps = {3, 7}}, 600),
              ElementsAre(0, 3, 7, 500));
}

TEST(SaveConfigModeTest, SavesListedStepsOutsideStartAndEnd) {
  const SaveConfigMode schedule{.save_interval = 5,
                                .start_step = 4,
                                .end_step = 10,
                                .save_steps = {3, 100}};
  EXPECT_THAT(SavedSteps(schedule, 200), ElementsAre(3, 5, 100));
}

TEST(SaveConfigModeTest, EndStepZeroSavesOnlyListedSteps) {
  EXPECT_THAT(SavedSteps({.end_step = 0}, 1000), ElementsAre());
  EXPECT_THAT(SavedSteps({.end_step = 0, .save_steps = {2}}, 1000),
              ElementsAre(2));
}

TEST(SaveConfigModeTest, NeverSavesByAnIntervalThatIsNone) {
  EXPECT_FALSE(SaveConfigMode{.save_interval = 0}.ShouldSave(0));
  EXPECT_FALSE(SaveConfigMode{.save_interval = -5}.ShouldSave(5));
}

TEST(SaveConfigTest, EveryGivesAllModesTheSameSchedule) {
  const SaveConfig config = SaveConfig::Every({.save_interval = 7});
  for (const Mode mode : kModes) {
    ASSERT_TRUE(config[mode].has_value());
    EXPECT_EQ(config[mode]->save_interval, 7);
  }
}

// The texts are what smdebug 1.0.34 prints for the same objects.
TEST(SaveConfigTest, WritesTheJsonOfTheReference) {
  EXPECT_EQ(ToJson(SaveConfigMode{}),
            R"({"save_interval": 500, "save_steps": [], "start_step": 0, )"
            R"("end_step": null})");
  const std::string schedule =
      R"({"save_interval": 10, "save_steps": [7, 3], "start_step": 5, )"
      R"("end_step": 100})";
  EXPECT_EQ(ToJson(SaveConfig::Every({.save_interval = 10,
                                      .start_step = 5,
                                      .end_step = 100,
                                      .save_steps = {7, 3}})),
            R"({"TRAIN": )" + schedule + R"(, "EVAL": )" + schedule +
                R"(, "PREDICT": )" + schedule + R"(, "GLOBAL": )" + schedule +
                "}");
  SaveConfig train_only;
  train_only[Mode::kTrain] = SaveConfigMode{.save_interval = 1};
  EXPECT_EQ(ToJson(train_only),
            R"({"TRAIN": {"save_interval": 1, "save_steps": [], )"
            R"("start_step": 0, "end_step": null}, "EVAL": null, )"
            R"("PREDICT": null, "GLOBAL": null})");
}

TEST(SaveConfigTest, ReadsBackWhatItWrites) {
  SaveConfig config;
  config[Mode::kEval] = SaveConfigMode{
      .save_interval = 3, .start_step = 1, .end_step = 9, .save_steps = {4, 2}};
  config[Mode::kGlobal] = SaveConfigMode{};
  EXPECT_EQ(SaveConfigFromJson(ToJson(config)), config);
  EXPECT_EQ(
      SaveConfigFromJson(R"({"EVAL": {"save_interval": 3}})")[Mode::kEval],
      SaveConfigMode{.save_interval = 3});
}

TEST(SaveConfigTest, OneScheduleStandsForEveryMode) {
  EXPECT_EQ(SaveConfigFromJson(R"({"save_interval": 3, "when_nan": null})"),
            SaveConfig::Every({.save_interval = 3}));
  EXPECT_EQ(SaveConfigFromJson(R"({"end_step": 9})"),
            SaveConfig::Every({.end_step = 9}));
}

TEST(SaveConfigTest, RefusesJsonOfAnotherShape) {
  struct Case {
    std::string json;
    std::string key;
    std::string value;
  };
  for (const Case& c : std::vector<Case>{
           {"[]", "save_config", "[]"},
           {R"({"DANCE": null})", "save_config", "DANCE"},
           {R"({"TRAIN": 3})", "save_config.TRAIN", "3"},
           {R"({"TRAIN": null, "save_interval": 3})", "save_config",
            "save_interval"},
           {R"({"save_interval": "x"})", "save_config.save_interval", "x"},
           {R"({"TRAIN": {"save_interval": "x"}})",
            "save_config.TRAIN.save_interval", "x"},
           {R"({"TRAIN": {"save_steps": 3}})", "save_config.TRAIN.save_steps",
            "3"},
           {R"({"TRAIN": {"save_steps": [null]}})",
            "save_config.TRAIN.save_steps", "null"},
           {"{", "save_config", "{"}}) {
    SCOPED_TRACE(c.json);
    try {
      SaveConfigFromJson(c.json);
      FAIL() << "accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
      EXPECT_EQ(error.value(), c.value);
    }
  }
}

TEST(SaveConfigTest, CheckNamesTheModeAndTheField) {
  struct Case {
    SaveConfigMode schedule;
    std::string key;
    std::string value;
  };
  for (const Case& c : std::vector<Case>{
           {{.save_interval = 0}, "at: eval.save_interval", "0"},
           {{.save_interval = -1}, "at: eval.save_interval", "-1"},
           {{.start_step = -1}, "at: eval.start_step", "-1"},
           {{.end_step = -2}, "at: eval.end_step", "-2"},
           {{.save_steps = {1, -3}}, "at: eval.save_steps", "-3"},
           {{.start_step = 9, .end_step = 8}, "at: eval.start_step", "9"}}) {
    SaveConfig config;
    config[Mode::kEval] = c.schedule;
    try {
      config::CheckSaveConfig(config, "at: ");
      FAIL() << c.key << " accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.key(), c.key);
      EXPECT_EQ(error.value(), c.value);
    }
  }
}

TEST(SaveConfigTest, CheckAcceptsEndStepZeroAfterAnyStart) {
  EXPECT_NO_THROW(config::CheckSaveConfig(
      SaveConfig::Every({.start_step = 5, .end_step = 0}), ""));
  EXPECT_NO_THROW(config::CheckSaveConfig(
      SaveConfig::Every({.start_step = 5, .end_step = 5}), ""));
}

}  // namespace
}  // namespace smdebug
