#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "src/index/collections_file.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ReadAt;
using testing::ReadIndex;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using ::testing::SizeIs;
using testing::Steps;

// Where a scalar says it was saved, and what it was.
struct Seen {
  int64_t file_step;
  int64_t step;
  Mode mode;
  int64_t mode_step;
  double value;

  friend bool operator==(const Seen&, const Seen&) = default;
};

class HookScalarTest : public testing::HookFixture {
 protected:
  // Every value of scalar `name` in the run, each once, by true step.
  std::vector<Seen> AllOf(const std::string& name) const {
    std::vector<Seen> all;
    for (const int64_t file_step : Steps(*storage_)) {
      const auto step = *ReadIndex(*storage_, file_step);
      std::vector<index::Location> locations;
      for (const auto& entry : step.scalars) {
        if (entry.name == name) locations.push_back(entry.location);
      }
      for (const auto& entry : step.tensors) {
        const bool rider =
            std::ranges::find(locations, entry.location) != locations.end();
        if (entry.name == name && !rider) locations.push_back(entry.location);
      }
      for (const auto& location : locations) {
        const auto record = ReadAt(*storage_, step.event_file, location);
        all.push_back({file_step, record.tensor.step, record.tensor.mode,
                       record.tensor.mode_step, record.As<double>().at(0)});
      }
    }
    return all;
  }
};

HookConfig EveryFifth() {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 5});
  return config;
}

TEST_F(HookScalarTest, AScalarBelongsToItsStep) {
  auto hook = Open(SaveEverything());
  for (int i = 0; i < 3; ++i) {
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
    hook->SaveScalar("loss", 10.5 + i, {.timestamp = 1234.5});
  }
  hook->Close();
  for (int i = 0; i < 3; ++i) {
    const auto step = ReadStep(*storage_, i);
    EXPECT_THAT(step.at("scalar/loss").As<double>(), ElementsAre(10.5 + i));
    EXPECT_EQ(step.at("scalar/loss").tensor.wall_time, 1234.5);
    EXPECT_THAT(step.at("scalar/loss").tensor.shape, ElementsAre(1));
    EXPECT_THAT(ReadIndex(*storage_, i)->scalars, IsEmpty());
  }
}

TEST_F(HookScalarTest, ScalarsOfUnsavedStepsRideWithTheirTrueSteps) {
  auto hook = Open(EveryFifth());
  for (int i = 0; i < 8; ++i) {
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
    hook->SaveScalar("loss", i);
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 5, 7));
  const Mode mode = Mode::kGlobal;
  EXPECT_THAT(AllOf("scalar/loss"),
              ElementsAre(Seen{0, 0, mode, 0, 0}, Seen{5, 1, mode, 1, 1},
                          Seen{5, 2, mode, 2, 2}, Seen{5, 3, mode, 3, 3},
                          Seen{5, 4, mode, 4, 4}, Seen{5, 5, mode, 5, 5},
                          Seen{7, 6, mode, 6, 6}, Seen{7, 7, mode, 7, 7}));
  // smdebug 1.0 looks only at the tensor payload and sees the latest.
  EXPECT_THAT(ReadStep(*storage_, 5).at("scalar/loss").As<double>(),
              ElementsAre(5));
}

TEST_F(HookScalarTest, AScalarSavedAfterTheModeChangedKeepsItsOwnMode) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("train", 1);
  hook->SetMode(Mode::kEval);
  hook->SaveScalar("early", 2);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SetMode(Mode::kTrain);
  hook->SaveScalar("late", 3);
  hook->Close();
  EXPECT_THAT(AllOf("scalar/train"),
              ElementsAre(Seen{0, 0, Mode::kTrain, 0, 1}));
  EXPECT_THAT(AllOf("scalar/early"),
              ElementsAre(Seen{1, 1, Mode::kEval, 0, 2}));
  EXPECT_THAT(AllOf("scalar/late"),
              ElementsAre(Seen{2, 0, Mode::kTrain, 0, 3}));
}

TEST_F(HookScalarTest, AScalarWithoutAnyStepIsSavedAtStepZero) {
  auto hook = Open(SaveEverything());
  hook->SaveScalar("lonely", 4);
  hook->Close();
  EXPECT_THAT(AllOf("scalar/lonely"),
              ElementsAre(Seen{0, 0, Mode::kGlobal, 0, 4}));
}

TEST_F(HookScalarTest, ScalarsWithoutAnyStepAreAllReadable) {
  auto hook = Open(SaveEverything());
  for (int i = 0; i < 3; ++i) {
    hook->SaveScalar("loss", i);
    hook->SaveScalar("rate", 10 + i);
  }
  hook->SetMode(Mode::kEval);
  hook->SaveScalar("accuracy", 20);
  hook->Close();
  const Mode mode = Mode::kGlobal;
  EXPECT_THAT(AllOf("scalar/loss"),
              ElementsAre(Seen{3, 0, mode, 0, 0}, Seen{3, 1, mode, 1, 1},
                          Seen{3, 2, mode, 2, 2}));
  EXPECT_THAT(AllOf("scalar/rate"),
              ElementsAre(Seen{3, 0, mode, 0, 10}, Seen{3, 1, mode, 1, 11},
                          Seen{3, 2, mode, 2, 12}));
  EXPECT_THAT(AllOf("scalar/accuracy"),
              ElementsAre(Seen{3, 3, Mode::kEval, 0, 20}));
  EXPECT_EQ(hook->stats().scalars_saved, 7);
}

TEST_F(HookScalarTest, ScalarsBeforeTheFirstStepDoNotFixTheHook) {
  auto hook = Open(SaveEverything(), {.scalar_limit = 10});
  for (int i = 0; i < 100; ++i) hook->SaveScalar("early", i);
  hook->SetMode(Mode::kTrain);
  for (int i = 0; i < 100; ++i) hook->SaveScalar("early", i);
  EXPECT_THAT(testing::Keys(*storage_, "collections/"), IsEmpty());
  Collection late;
  late.name = "late";
  late.include_regex = {"x"};
  hook->SetCollection(late);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->Close();
  EXPECT_EQ(hook->stats().scalars_saved, 200);
  const auto file = index::ParseCollectionsFile(
      *testing::GetFile(*storage_,
                        "collections/000000000/worker_0_collections.json"),
      "collections");
  EXPECT_THAT(file.collections.at("late").tensor_names, ElementsAre("x"));
}

TEST_F(HookScalarTest, ScalarsBeforeTheFirstStepAreBounded) {
  auto hook = Open(SaveEverything(), {.buffer_bytes = 16 << 10});
  constexpr int kSaved = 100'000;
  for (int i = 0; i < kSaved; ++i) hook->SaveScalar("early", i);
  const HookStats stats = hook->stats();
  EXPECT_GT(stats.dropped, kSaved / 2);
  EXPECT_EQ(stats.stalls, 0);  // No room would come before the step.
  hook->BeginStep();
  hook->Close();
  EXPECT_EQ(hook->stats().scalars_saved + hook->stats().dropped, kSaved);
}

TEST_F(HookScalarTest, TheLatestOfSeveralInAStepIsShownAndNoneIsLost) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("s", 1);
  hook->SaveScalar("s", 2);
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0).at("scalar/s").As<double>(),
              ElementsAre(2));
  EXPECT_EQ(AllOf("scalar/s").size(), 2u);
}

TEST_F(HookScalarTest, AFileComesWhenEnoughScalarsWait) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 1000});
  auto hook = Open(config, {.scalar_limit = 10});
  for (int i = 0; i < 35; ++i) {
    hook->BeginStep();
    hook->SaveScalar("loss", i);
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(9, 19, 29, 34));
  EXPECT_EQ(AllOf("scalar/loss").size(), 35u);
  EXPECT_EQ(hook->stats().scalars_saved, 35);
}

TEST_F(HookScalarTest, AFileComesWhenScalarsHaveWaitedLong) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 1000});
  auto hook = Open(config, {.scalar_delay = std::chrono::milliseconds(0)});
  for (int i = 0; i < 3; ++i) {
    hook->BeginStep();
    hook->SaveScalar("loss", i);
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 1, 2));
}

TEST_F(HookScalarTest, AScalarAfterEndStepDoesNotTouchThePublishedFile) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->EndStep();
  hook->SaveScalar("s", 1);
  hook->BeginStep();
  SaveFloats(*hook, "x", {2});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 1));
  EXPECT_THAT(AllOf("scalar/s"), ElementsAre(Seen{1, 0, Mode::kGlobal, 0, 1}));
}

TEST_F(HookScalarTest, AScalarAfterCloseIsCounted) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  hook->Close();
  const auto files = testing::Keys(*storage_);
  hook->SaveScalar("s", 1);
  EXPECT_EQ(hook->stats().dropped, 1);
  EXPECT_EQ(testing::Keys(*storage_), files);
}

TEST_F(HookScalarTest, KeepsNanAndInfinity) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  hook->SaveScalar("nan", std::numeric_limits<double>::quiet_NaN());
  hook->SaveScalar("inf", -kInfinity);
  hook->Close();
  EXPECT_TRUE(std::isnan(AllOf("scalar/nan").at(0).value));
  EXPECT_EQ(AllOf("scalar/inf").at(0).value, -kInfinity);
}

TEST_F(HookScalarTest, AScalarOfAStepThatIsOverHasItsMode) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  for (int i = 0; i < 3; ++i) hook->BeginStep();
  hook->SetMode(Mode::kEval);
  for (int i = 0; i < 2; ++i) hook->BeginStep();
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  hook->SaveScalar("s", 1, {.step = 1});
  hook->SaveScalar("s", 4, {.step = 4});
  hook->SaveScalar("s", 5, {.step = 5});
  hook->Close();
  EXPECT_THAT(AllOf("scalar/s"), ElementsAre(Seen{5, 1, Mode::kTrain, 1, 1},
                                             Seen{5, 4, Mode::kEval, 1, 4},
                                             Seen{5, 5, Mode::kTrain, 3, 5}));
}

TEST_F(HookScalarTest, AScalarOfAStepToComeWaitsForIt) {
  auto hook = Open(SaveEverything());
  hook->SaveScalar("s", 2, {.step = 2});
  hook->SaveScalar("s", 0, {.step = 0});
  for (int i = 0; i < 2; ++i) {
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
  }
  hook->SetMode(Mode::kEval);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->Close();
  EXPECT_THAT(AllOf("scalar/s"), ElementsAre(Seen{0, 0, Mode::kGlobal, 0, 0},
                                             Seen{2, 2, Mode::kEval, 0, 2}));
}

TEST_F(HookScalarTest, AScalarOfAStepThatNeverComesHasNoModeAndNoFile) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("s", 9, {.step = 9});
  hook->SaveScalar("s", 7, {.step = 7});
  hook->Close();
  const Mode mode = Mode::kGlobal;
  EXPECT_THAT(AllOf("scalar/s"),
              ElementsAre(Seen{0, 7, mode, 7, 7}, Seen{0, 9, mode, 9, 9}));
  EXPECT_THAT(Steps(*storage_), ElementsAre(0));
}

TEST_F(HookScalarTest, StepsOfTheCallersNeedNoStepOfTheHook) {
  auto hook = Open(SaveEverything());
  for (int i = 0; i < 3; ++i) {
    hook->SaveScalar("loss", i, {.step = 100 * i});
    hook->SaveScalar("loss", i, {.step = 100 * i});  // The later one counts.
  }
  hook->Close();
  EXPECT_EQ(hook->stats().scalars_saved, 6);
  EXPECT_THAT(Steps(*storage_), ElementsAre(200));
}

TEST_F(HookScalarTest, AScalarThatComesTooLateForTheLastFileHasAFileAfterIt) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->EndStep();
  hook->SaveScalar("s", 9, {.step = 9});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 1));
  EXPECT_THAT(AllOf("scalar/s"), ElementsAre(Seen{1, 9, Mode::kGlobal, 9, 9}));
}

TEST_F(HookScalarTest, AStepBelowZeroIsSkippedAndCounted) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  hook->SaveScalar("s", 1, {.step = -1});
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 1);
  EXPECT_EQ(hook->stats().errors, 0);
  EXPECT_THAT(AllOf("scalar/s"), IsEmpty());
}

TEST_F(HookScalarTest, ScalarsOfStepsToComeAreBounded) {
  auto hook = Open(SaveEverything(), {.buffer_bytes = 16 << 10});
  constexpr int kSaved = 100'000;
  hook->BeginStep();
  for (int i = 0; i < kSaved; ++i) hook->SaveScalar("s", i, {.step = i + 1});
  EXPECT_GT(hook->stats().dropped, kSaved / 2);
  SaveFloats(*hook, "x", {1});  // Still has room.
  hook->Close();
  EXPECT_EQ(hook->stats().scalars_saved + hook->stats().dropped, kSaved);
  EXPECT_EQ(hook->stats().values_saved, 1);
}

// What the run's collections file has in `collection`.
std::set<std::string, std::less<>> MembersOf(const Storage& storage,
                                             const std::string& collection) {
  const std::string key = run::CollectionsFileKey("worker_0");
  const auto file =
      index::ParseCollectionsFile(*testing::GetFile(storage, key), key);
  const auto found = file.collections.find(collection);
  if (found == file.collections.end()) return {};
  return found->second.tensor_names;
}

TEST_F(HookScalarTest, MetricsOfTheJobAreInTheirCollection) {
  auto hook = Open(SaveEverything());
  hook->SaveScalar("first", 1, {.sm_metric = true});
  hook->Configure(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("accuracy", 0.5, {.sm_metric = true});
  hook->SaveScalar("late", 0.5, {.step = 5, .sm_metric = true});
  hook->SaveScalar("lr", 0.1);
  hook->Close();
  EXPECT_THAT(MembersOf(*storage_, "sm_metrics"),
              ElementsAre("scalar/accuracy", "scalar/first", "scalar/late"));
  EXPECT_THAT(AllOf("scalar/accuracy"), SizeIs(1));
}

TEST_F(HookScalarTest, TheCollectionOfMetricsAsksForNoStep) {
  HookConfig config;
  config.out_dir = "unused";
  config.save_config = SaveConfig::Every({.save_interval = 1});
  EditCollection(config, "losses").save_config =
      SaveConfig::Every({.end_step = 0});
  auto hook = Open(config);
  for (int step = 0; step < 3; ++step) {
    hook->BeginStep();
    EXPECT_FALSE(hook->StepIsDue());
    hook->SaveScalar("accuracy", 0.5, {.sm_metric = true});
  }
  hook->Close();
  EXPECT_THAT(MembersOf(*storage_, "sm_metrics"),
              ElementsAre("scalar/accuracy"));
}

TEST_F(HookScalarTest, AMetricThatComesAfterTheEndIsNoMember) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->Close();
  hook->SaveScalar("accuracy", 0.5, {.sm_metric = true});
  EXPECT_EQ(hook->GetCollection("sm_metrics"), std::nullopt);
}

}  // namespace
}  // namespace smdebug
