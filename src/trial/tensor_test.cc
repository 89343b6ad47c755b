#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestTrial;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;

constexpr Reduction kMin = {ReductionOp::kMin, false};
constexpr Reduction kAbsMean = {ReductionOp::kMean, true};

// Steps 0 and 2 of TRAIN as 0 and 4 of the job; two workers.
class TensorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made_.run.Declare({"worker_0", "worker_1"});
    for (const int64_t step : {0, 2}) {
      for (const std::string worker : {"worker_0", "worker_1"}) {
        const float base = worker == "worker_0" ? 0 : 100;
        auto saved = made_.run.At(2 * step, worker, Mode::kTrain, step);
        saved.Tensor("raw", {base + 1, base - 3});
        saved.Number("smdebug/reductions/min/reduced", base - 7);
        saved.Number("smdebug/reductions/abs_mean/reduced", base + 5);
        saved.index.counts = {{"reduced", {DType::kBfloat16, 10, 1, 2, 3, 4}}};
        saved.Shape("shaped", {4, 0, 2}, "orig:0");
        if (step == 0) saved.Tensor("once", {1});
        saved.Publish();
      }
    }
    trial_ = &made_.Open();
  }

  TestTrial made_;
  Trial* trial_ = nullptr;
};

TEST_F(TensorTest, AUnknownNameIsRefused) {
  try {
    trial_->tensor("nope");
    FAIL();
  } catch (const TensorUnavailable& error) {
    EXPECT_EQ(error.tensor(), "nope");
  }
  EXPECT_THAT([&] { trial_->tensor("reducd"); },
              ThrowsMessage<TensorUnavailable>(
                  HasSubstr("reducd was not saved. Did you mean 'reduced'?")));
  EXPECT_FALSE(trial_->HasTensor("smdebug/reductions/min/reduced"));
  EXPECT_TRUE(trial_->HasTensor("reduced"));
}

TEST(TensorNameTest, AScalarIsFoundByTheNameItWasSavedWith) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  auto saved = made.run.At(0, "worker_0", Mode::kTrain, 0);
  saved.Number("scalar/loss", 1);
  saved.Number("scalar/both", 2);
  saved.Number("both", 3);
  saved.Publish();
  Trial& trial = made.Open();
  EXPECT_TRUE(trial.HasTensor("loss"));
  EXPECT_EQ(trial.tensor("loss").name(), "scalar/loss");
  EXPECT_EQ(trial.tensor("scalar/loss").name(), "scalar/loss");
  EXPECT_EQ(trial.tensor("both").name(), "both");
  EXPECT_FALSE(trial.HasTensor("scalar/scalar/loss"));
  EXPECT_FALSE(trial.HasTensor("os"));
  EXPECT_THROW(trial.tensor("none"), TensorUnavailable);
}

TEST_F(TensorTest, StepsCountWithinTheMode) {
  const Tensor raw = trial_->tensor("raw");
  EXPECT_THAT(raw.Steps(), ElementsAre(0, 4));
  EXPECT_THAT(raw.Steps(Mode::kTrain), ElementsAre(0, 2));
  EXPECT_THAT(raw.Steps(Mode::kEval), IsEmpty());
  EXPECT_THAT(raw.PrevSteps(4), ElementsAre(0, 4));
  EXPECT_THAT(raw.PrevSteps(3), ElementsAre(0));
  EXPECT_THAT(raw.PrevSteps(4, 1), ElementsAre(4));
  EXPECT_THAT(raw.PrevSteps(2, 5, Mode::kTrain), ElementsAre(0, 2));
}

TEST_F(TensorTest, AValueIsThatOfTheFirstWorkerUnlessOneIsNamed) {
  const Tensor raw = trial_->tensor("raw");
  EXPECT_EQ(raw.At(4).Get(0), 1);
  EXPECT_EQ(raw.At(2, Mode::kTrain).Get(1), -3);
  EXPECT_EQ(raw.At(4, Mode::kGlobal, "worker_1").Get(0), 101);
  EXPECT_THAT(raw.Workers(4), ElementsAre("worker_0", "worker_1"));
  try {
    raw.At(4, Mode::kGlobal, "worker_9");
    FAIL();
  } catch (const InvalidWorker& error) {
    EXPECT_EQ(error.worker(), "worker_9");
  }
  const Value value = raw.At(4);
  EXPECT_EQ(value.dtype(), DType::kFloat32);
  EXPECT_THAT(value.shape(), ElementsAre(2));
  EXPECT_EQ(value.bytes().size(), 8u);
}

TEST_F(TensorTest, ValuesComeByStep) {
  const auto values = trial_->tensor("raw").Values(Mode::kTrain, "worker_1");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].first, 0);
  EXPECT_EQ(values[1].first, 2);
  EXPECT_EQ(values[1].second.Get(1), 97);
  EXPECT_THROW(trial_->tensor("reduced").Values(), TensorUnavailableForStep);
}

TEST_F(TensorTest, EachFailureHasItsOwnException) {
  const Tensor once = trial_->tensor("once");
  EXPECT_THROW(once.At(4), TensorUnavailableForStep);
  EXPECT_THROW(once.At(3), StepUnavailable);
  EXPECT_THROW(once.At(5), StepNotYetAvailable);
  EXPECT_THROW(once.Shape(5), StepNotYetAvailable);
  EXPECT_THROW(once.ReductionValue(3, kMin), StepUnavailable);
  EXPECT_THROW(once.Workers(4), TensorUnavailableForStep);
  made_.run.End();
  EXPECT_THROW(once.At(5), StepUnavailable);
  try {
    trial_->tensor("reduced").At(2, Mode::kTrain);
    FAIL();
  } catch (const TensorUnavailableForStep& error) {
    EXPECT_EQ(error.tensor(), "reduced");
    EXPECT_EQ(error.step(), 2);
    EXPECT_EQ(error.mode(), Mode::kTrain);
    EXPECT_TRUE(error.has_reductions());
  }
}

TEST_F(TensorTest, ASavedReductionIsReadAndOthersComputedFromTheValue) {
  const Tensor reduced = trial_->tensor("reduced");
  EXPECT_EQ(reduced.ReductionValue(4, kMin), -7);
  EXPECT_EQ(reduced.ReductionValue(4, kAbsMean, Mode::kGlobal, "worker_1"),
            105);
  EXPECT_THROW(reduced.ReductionValue(4, {ReductionOp::kMax, false}),
               TensorUnavailableForStep);
  EXPECT_THAT(reduced.ReductionValues(4),
              ElementsAre(Pair(kMin, -7), Pair(kAbsMean, 5)));

  const Tensor raw = trial_->tensor("raw");
  EXPECT_THAT(raw.ReductionValues(4), IsEmpty());
  EXPECT_EQ(raw.ReductionValue(4, kMin), -3);
  EXPECT_EQ(raw.ReductionValue(4, kAbsMean), 2);
  EXPECT_EQ(raw.ReductionValue(4, {ReductionOp::kStd, false}), 2);
  EXPECT_EQ(raw.ReductionValue(4, {ReductionOp::kL1, false}), 4);
  EXPECT_DOUBLE_EQ(raw.ReductionValue(4, {ReductionOp::kL2, false}),
                   std::sqrt(10.0));
}

TEST_F(TensorTest, CountsOfReducedValuesAreKept) {
  EXPECT_EQ(trial_->tensor("reduced").Counts(4),
            (ValueCounts{DType::kBfloat16, 10, 1, 2, 3, 4}));
  EXPECT_EQ(trial_->tensor("raw").Counts(4), std::nullopt);
}

TEST_F(TensorTest, AShapeIsTheSavedOneElseThatOfTheValue) {
  const Tensor shaped = trial_->tensor("shaped");
  EXPECT_EQ(shaped.original_name(), "orig:0");
  EXPECT_THAT(shaped.Shape(4), ElementsAre(4, 0, 2));
  EXPECT_THAT(shaped.Shapes(Mode::kTrain),
              ElementsAre(Pair(0, ElementsAre(4, 0, 2)),
                          Pair(2, ElementsAre(4, 0, 2))));
  EXPECT_THAT(trial_->tensor("raw").Shape(4), ElementsAre(2));
  EXPECT_EQ(trial_->tensor("raw").original_name(), std::nullopt);
  EXPECT_THROW(trial_->tensor("reduced").Shape(4), ShapeUnavailableForStep);
  EXPECT_THROW(shaped.At(4), TensorUnavailableForStep);
}

TEST_F(TensorTest, TellsWhatIsSavedWithoutReadingIt) {
  EXPECT_TRUE(trial_->tensor("raw").SavedAt(4).value);
  EXPECT_TRUE(trial_->tensor("shaped").SavedAt(4).shape);
  EXPECT_THAT(trial_->tensor("reduced").SavedAt(4).reductions,
              ElementsAre(kMin, kAbsMean));
  EXPECT_FALSE(trial_->tensor("raw").SavedAt(77).value);
}

TEST(TensorPayloadTest, AShapeEntryDoesNotHideTheValue) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(0).Tensor("x", {5, 6}).Shape("x", {2}, "x").Publish();
  const Tensor x = made.Open().tensor("x");
  EXPECT_EQ(x.At(0).Get(1), 6);
  EXPECT_THAT(x.Shape(0), ElementsAre(2));
}

TEST(TensorPayloadTest, AnEmptyTensorHasItsTypeAndShape) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  auto step = made.run.At(0);
  step.Shape("x", {3, 0}, "x").Shape("y", {3, 0}, "y");
  step.index.shapes[0].dtype = DType::kInt16;
  step.Publish();
  const Tensor x = made.Open().tensor("x");
  EXPECT_TRUE(x.SavedAt(0).value);
  EXPECT_EQ(x.At(0).dtype(), DType::kInt16);
  EXPECT_THAT(x.At(0).shape(), ElementsAre(3, 0));
  EXPECT_EQ(x.At(0).size(), 0);
  // Of a run that does not say what type it had.
  EXPECT_THROW(made.trial->tensor("y").At(0), TensorUnavailableForStep);
}

TEST(TensorPayloadTest, TheLaterEntryOfANameIsItsValue) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(0).Tensor("x", {5}).Tensor("x", {6}).Publish();
  EXPECT_EQ(made.Open().tensor("x").At(0).Get(0), 6);
}

// The losses of steps 1 and 2 ride in the file of step 3.
TEST(TensorRiderTest, ARidingScalarBelongsToItsOwnStep) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(0).Number("scalar/loss", 9).Publish();
  auto carrier = made.run.At(3, "worker_0", Mode::kTrain, 3);
  carrier.Tensor("x", {1});
  carrier.Rider("scalar/loss", 8, 1, Mode::kTrain, 1);
  carrier.Rider("scalar/loss", 7, 2, Mode::kTrain, 2);
  // What smdebug 1.0 would show: the latest rider, once more.
  carrier.index.tensors.push_back(
      {"scalar/loss", carrier.index.scalars.back().location});
  carrier.Publish();

  Trial& trial = made.Open();
  const Tensor loss = trial.tensor("scalar/loss");
  EXPECT_THAT(loss.Steps(), ElementsAre(0, 1, 2));
  EXPECT_THAT(loss.Steps(Mode::kTrain), ElementsAre(1, 2));
  EXPECT_EQ(loss.At(1).Get(0), 8);
  EXPECT_EQ(loss.At(2, Mode::kTrain).Get(0), 7);
  EXPECT_THROW(loss.At(3), TensorUnavailableForStep);
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 3));
}

TEST(TensorRiderTest, AScalarSavedAgainAtTheCarriersStepIsTheLaterOne) {
  TestTrial made;
  made.run.Declare({"worker_0"});
  auto carrier = made.run.At(3);
  carrier.Rider("scalar/loss", 1, 3, Mode::kGlobal, 3);
  carrier.Number("scalar/loss", 2);
  carrier.Publish();
  EXPECT_EQ(made.Open().tensor("scalar/loss").At(3).Get(0), 2);
}

TEST(TensorLiveTest, AnIncompleteStepIsHiddenButReadable) {
  TestTrial made;
  made.run.Declare({"worker_0", "worker_1"});
  made.run.Save(0, "worker_0");
  Trial& trial = made.Open();
  const Tensor x = trial.tensor("x");
  EXPECT_THAT(x.Steps(), IsEmpty());
  EXPECT_THAT(x.Steps(Mode::kGlobal, true), ElementsAre(0));
  EXPECT_EQ(x.At(0).Get(0), 0);
  made.run.Save(0, "worker_1");
  EXPECT_THAT(x.Steps(), ElementsAre(0));
}

TEST(ValueTest, AnEmptyValueHasNoElements) {
  const Value value;
  EXPECT_EQ(value.size(), 0);
  EXPECT_THAT(value.strings(), IsEmpty());
  EXPECT_THAT(value.bytes(), IsEmpty());
}

}  // namespace
}  // namespace smdebug::trial
