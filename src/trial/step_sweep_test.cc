#include "src/trial/step_sweep.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "tests/testing/trial_run.h"
#include "tests/testing/wrapped_storage.h"

namespace smdebug::trial {
namespace {

using ::testing::ElementsAre;

// Counts how often event files are read.
class CountingStorage final : public testing::WrappedStorage {
 public:
  using WrappedStorage::WrappedStorage;
  int reads() const { return reads_; }

 private:
  void Before(testing::Operation operation,
              std::string_view key) const override {
    if (operation == testing::Operation::kRead &&
        key.starts_with(run::kEventsPrefix)) {
      ++reads_;
    }
  }
  mutable int reads_ = 0;
};

class StepSweepTest : public ::testing::Test {
 protected:
  StepSweepTest() { run_.Declare({"a", "b"}); }

  // Two steps of TRAIN, 10 and 11, with tensors in another order than by name.
  void Save(std::string_view worker, float base) {
    for (int64_t step = 0; step < 2; ++step) {
      const auto number = static_cast<float>(step) + base;
      run_.At(step, std::string(worker), Mode::kTrain, step + 10)
          .Number("y", number + 0.5f)
          .Number("x", number)
          .Publish();
    }
  }

  std::unique_ptr<StepSweep> Open() {
    run_.End();
    trial_ = std::make_unique<Trial>(storage_, testing::TestTrial::Options());
    trial_->Refresh();
    return std::make_unique<StepSweep>(&trial_->reader(),
                                       std::vector{*Find("x"), *Find("y")});
  }

  std::optional<Reader::TensorId> Find(std::string_view name) {
    return trial_->reader().Find(name);
  }

  std::string Describe(const Found& found) {
    return found.name() + " of " + found.worker() + ": " +
           std::to_string(
               static_cast<int>(10 * trial_->reader().ValueOf(found).Get(0)));
  }

  std::vector<std::string> Describe(std::span<const Found> items) {
    std::vector<std::string> texts;
    for (const Found& item : items) texts.push_back(Describe(item));
    return texts;
  }

  std::shared_ptr<CountingStorage> storage_ =
      std::make_shared<CountingStorage>(OpenMemoryStorage());
  testing::TestRun run_{storage_.get()};
  std::unique_ptr<Trial> trial_;
};

TEST_F(StepSweepTest, GivesWhatEverybodySavedByTensorAndWorker) {
  Save("a", 0);
  Save("b", 5);
  const auto sweep = Open();
  std::vector<int64_t> steps;
  for (const auto& place : sweep->Steps(Mode::kTrain)) {
    EXPECT_EQ(place.mode_step, place.step + 10);
    steps.push_back(place.step);
  }
  EXPECT_THAT(steps, ElementsAre(0, 1));
  EXPECT_THAT(
      Describe(sweep->MoveTo(11, Mode::kTrain)),
      ElementsAre("x of a: 10", "x of b: 60", "y of a: 15", "y of b: 65"));
  EXPECT_THAT(
      Describe(sweep->MoveTo(0, Mode::kGlobal)),
      ElementsAre("x of a: 0", "x of b: 50", "y of a: 5", "y of b: 55"));
  EXPECT_TRUE(sweep->MoveTo(2, Mode::kGlobal).empty());
  EXPECT_TRUE(sweep->MoveTo(12, Mode::kTrain).empty());
}

TEST_F(StepSweepTest, ReadsWhatLiesTogetherAtOnce) {
  Save("a", 0);
  Save("b", 5);
  const auto sweep = Open();
  const int before = storage_->reads();
  const auto items = sweep->MoveTo(1, Mode::kGlobal);
  EXPECT_EQ(storage_->reads(), before);
  Describe(items);
  Describe(items);
  EXPECT_EQ(storage_->reads(), before + 2);  // One file of each worker.
}

TEST_F(StepSweepTest, WhatIsMissingHidesNothingElse) {
  Save("a", 0);
  Save("b", 5);
  storage_->Remove(run::EventFileKey(1, "a"));
  const auto sweep = Open();
  const auto items = sweep->MoveTo(1, Mode::kGlobal);
  ASSERT_EQ(items.size(), 4);
  EXPECT_THROW(Describe(items[0]), TensorUnavailableForStep);
  EXPECT_EQ(Describe(items[1]), "x of b: 60");
  EXPECT_THROW(Describe(items[2]), TensorUnavailableForStep);
  EXPECT_EQ(Describe(items[3]), "y of b: 65");
}

}  // namespace
}  // namespace smdebug::trial
