// Damaged files hide nothing but themselves.

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/trial_run.h"

namespace smdebug::trial {
namespace {

using testing::TestTrial;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

const std::string kWorker = "worker_0";

class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made_.run.Declare({kWorker});
    for (int64_t step = 0; step < 3; ++step) {
      made_.run.At(step)
          .Tensor("x", {static_cast<float>(step)})
          .Tensor("y", {7})
          .Publish();
    }
  }

  // The content of a file, with `change` applied to it.
  template <typename Change>
  void Edit(const std::string& key, Change change) {
    std::string content = testing::GetFile(*made_.storage, key).value();
    change(content);
    testing::PutFile(*made_.storage, key, content);
  }

  TestTrial made_;
};

TEST_F(DamageTest, ADamagedIndexCostsItsStepAndIsNamed) {
  const std::string key = run::IndexFileKey(1, kWorker);
  testing::PutFile(*made_.storage, key, R"({"meta": )");
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 2));
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_THAT(trial.damage()[0].reason, HasSubstr("is not JSON"));
  EXPECT_EQ(trial.tensor("x").At(2).Get(0), 2);
  try {
    trial.tensor("x").At(1);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.file(), key);
  }
}

TEST_F(DamageTest, AnIndexThatIsStillBeingCopiedIsReadWhenItIsWhole) {
  const std::string key = run::IndexFileKey(1, kWorker);
  const std::string whole = testing::GetFile(*made_.storage, key).value();
  testing::PutFile(*made_.storage, key, whole.substr(0, whole.size() / 2));
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 2));
  testing::PutFile(*made_.storage, key, whole);
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  EXPECT_THAT(trial.damage(), IsEmpty());
}

TEST_F(DamageTest, AFileThatIsNoIndexIsNamed) {
  testing::PutFile(*made_.storage, "index/000000000/readme.json", "{}");
  testing::PutFile(*made_.storage, "index/000000000/readme.txt", "hello");
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, "index/000000000/readme.json");
}

TEST_F(DamageTest, AFlippedBitInAPayloadIsNoticedAndSparesTheOtherTensors) {
  const std::string key = run::EventFileKey(1, kWorker);
  Edit(key, [](std::string& file) {
    const auto one = file.find(std::string("\0\0\x80\x3f", 4));
    ASSERT_NE(one, std::string::npos);
    file[one] = 1;
  });
  Trial& trial = made_.Open();
  EXPECT_THAT([&] { trial.tensor("x").At(1); },
              ThrowsMessage<FormatError>(
                  AllOf(StartsWith(key), HasSubstr("(step 1)"))));
  EXPECT_THROW(trial.tensor("x").At(1), FormatError);
  EXPECT_EQ(trial.tensor("y").At(1).Get(0), 7);
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_EQ(trial.damage()[0].tensor, "x");
  EXPECT_THAT(trial.damage()[0].reason, HasSubstr("checksum"));
}

TEST_F(DamageTest, ChecksumsCanBeLeftUnchecked) {
  const std::string key = run::EventFileKey(1, kWorker);
  Edit(key, [](std::string& file) {
    file[file.find(std::string("\0\0\x80\x3f", 4))] = 1;
  });
  TrialOptions options = TestTrial::Options();
  options.verify_checksums = false;
  EXPECT_NEAR(made_.Open(options).tensor("x").At(1).Get(0), 1, 1e-6);
}

TEST_F(DamageTest, ATruncatedEventFileIsNamed) {
  Edit(run::EventFileKey(1, kWorker),
       [](std::string& file) { file.resize(file.size() - 3); });
  Trial& trial = made_.Open();
  EXPECT_EQ(trial.tensor("x").At(1).Get(0), 1);
  EXPECT_THROW(trial.tensor("y").At(1), FormatError);
  EXPECT_THAT(trial.damage()[0].reason, HasSubstr("is cut short"));
}

TEST_F(DamageTest, EveryStepWhoseScalarsRodeInADamagedFileIsNamed) {
  made_.run.At(5)
      .Rider("loss", 3, 3, Mode::kGlobal, 3)
      .Rider("loss", 4, 4, Mode::kGlobal, 4)
      .Tensor("x", {5})
      .Publish();
  const std::string key = run::EventFileKey(5, kWorker);
  const std::string whole = testing::GetFile(*made_.storage, key).value();
  const auto lost_steps = [&]() -> std::set<int64_t> {
    TrialOptions options = TestTrial::Options();
    options.missing_file_retries = 0;
    Trial& trial = made_.Open(options);
    for (const int64_t step : {3, 4, 5}) {
      EXPECT_ANY_THROW(trial.tensor(step == 5 ? "x" : "loss").At(step));
    }
    std::set<int64_t> steps;
    for (const Damage& damage : trial.damage()) steps.insert(damage.step);
    return steps;
  };
  testing::PutFile(*made_.storage, key, whole.substr(0, 10));
  EXPECT_THAT(lost_steps(), ElementsAre(3, 4, 5));
  made_.storage->Remove(key);
  EXPECT_THAT(lost_steps(), ElementsAre(3, 4, 5));
}

TEST_F(DamageTest, AMissingEventFileIsATensorThatIsNotThere) {
  made_.storage->Remove(run::EventFileKey(1, kWorker));
  Trial& trial = made_.Open();
  const std::string key = run::EventFileKey(1, kWorker);
  EXPECT_THAT([&] { trial.tensor("x").At(1); },
              ThrowsMessage<TensorUnavailableForStep>(
                  HasSubstr("as " + key + " is missing, but the index names")));
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_THAT(trial.damage()[0].reason, HasSubstr("is missing"));
}

TEST_F(DamageTest, AMissingEventFileIsDamageOfItsStepAndOfWhatIsReadOfIt) {
  made_.run.At(3)
      .Tensor("x", {1})
      .Rider("loss", 0.5F, 2, Mode::kGlobal, 2)
      .Publish();
  const std::string key = run::EventFileKey(3, kWorker);
  made_.storage->Remove(key);
  Trial& trial = made_.Open();
  EXPECT_THROW(trial.tensor("loss").At(2), TensorUnavailableForStep);
  ASSERT_EQ(trial.damage().size(), 2u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_EQ(trial.damage()[0].step, 3);
  EXPECT_EQ(trial.damage()[1].file, key);
  EXPECT_EQ(trial.damage()[1].step, 2);
}

TEST_F(DamageTest, CollectionsOfAWorkerThatIsDoneAreDamageIfMissing) {
  const std::string key = run::CollectionsFileKey(kWorker);
  made_.storage->Remove(key);
  TrialOptions options = TestTrial::Options();
  options.wait_for_run = false;
  Trial& trial = made_.Open(options);
  EXPECT_THAT(trial.damage(), IsEmpty());
  made_.run.End();
  trial.Refresh();
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_EQ(trial.damage()[0].reason,
            "is missing, but worker_0 has saved steps");
}

TEST_F(DamageTest, StepsThatALedgerCountsAndNobodyHasAreDamageAtTheEnd) {
  run::Ledger ledger = {.worker = kWorker, .closed = true};
  ledger.stats.steps_saved = 4;
  testing::PutFile(*made_.storage, run::LedgerKey(kWorker), ToJson(ledger));
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.damage(), IsEmpty());
  made_.run.End();
  trial.Refresh();
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].kind, DamageKind::kMissingSteps);
  EXPECT_THAT(trial.damage()[0].reason, StartsWith("1 step is missing: "));
}

TEST_F(DamageTest, WhoLooksAtAFewStepsMissesNoOthers) {
  run::Ledger ledger = {.worker = kWorker, .closed = true};
  ledger.stats.steps_saved = 3;
  testing::PutFile(*made_.storage, run::LedgerKey(kWorker), ToJson(ledger));
  made_.run.End();
  TrialOptions options = TestTrial::Options();
  options.begin_step = 1;
  Trial& trial = made_.Open(options);
  EXPECT_THAT(trial.Steps(), ElementsAre(1, 2));
  EXPECT_THAT(trial.damage(), IsEmpty());
}

TEST_F(DamageTest, AnIndexUnderTheNameOfAnotherStepIsDamaged) {
  const std::string key = run::IndexFileKey(4, kWorker);
  testing::PutFile(
      *made_.storage, key,
      *testing::GetFile(*made_.storage, run::IndexFileKey(1, kWorker)));
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  ASSERT_EQ(trial.damage().size(), 1u);
  EXPECT_EQ(trial.damage()[0].file, key);
  EXPECT_EQ(trial.damage()[0].reason, "is that of step 1");
}

TEST_F(DamageTest, AnEntryThatPointsAtAnotherTensorIsNoticed) {
  auto step = made_.run.At(3);
  step.Tensor("x", {1}).Tensor("y", {2});
  std::swap(step.index.tensors[0].location, step.index.tensors[1].location);
  step.Publish();
  Trial& trial = made_.Open();
  EXPECT_THROW(trial.tensor("x").At(3), FormatError);
  EXPECT_THAT(trial.damage()[0].reason, HasSubstr("holds 'y'"));
}

TEST_F(DamageTest, AReductionThatIsNotOneNumberIsNoticed) {
  made_.run.At(3).Tensor("smdebug/reductions/min/z", {1, 2}).Publish();
  Trial& trial = made_.Open();
  EXPECT_THROW(trial.tensor("z").ReductionValue(3, {ReductionOp::kMin, false}),
               FormatError);
}

TEST_F(DamageTest, ADamagedCollectionsFileLeavesTheStepsReadable) {
  testing::PutFile(*made_.storage, run::CollectionsFileKey(kWorker), "[]");
  Trial& trial = made_.Open();
  EXPECT_THAT(trial.Steps(), ElementsAre(0, 1, 2));
  EXPECT_THAT(trial.Collections(), IsEmpty());
  EXPECT_EQ(trial.damage().size(), 1u);
}

TEST_F(DamageTest, ABadRegexOfACollectionMatchesNothing) {
  Collection bad;
  bad.name = "bad";
  bad.include_regex = {"(", "^y$"};
  made_.run.Declare({kWorker}, 1, {{"bad", bad}});
  EXPECT_THAT(made_.Open().TensorNames({.collection = "bad"}),
              ElementsAre("y"));
}

TEST_F(DamageTest, ATensorMayShareTheRecordOfAnother) {
  auto step = made_.run.At(3);
  step.Tensor("x", {1, 2});
  auto shared = step.index.tensors[0];
  shared.name = "y";
  shared.stored_as = "x";
  auto stray = shared;
  stray.name = "z";
  stray.stored_as = "";
  step.index.tensors.push_back(shared);
  step.index.tensors.push_back(stray);
  step.Publish();
  Trial& trial = made_.Open();
  EXPECT_EQ(trial.tensor("y").At(3).Get(1), 2);
  try {
    trial.tensor("z").At(3);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds 'x' where the index has 'z'"));
  }
}

}  // namespace
}  // namespace smdebug::trial
