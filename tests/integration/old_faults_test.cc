// The data-loss, hang and re-stamping faults that smdebug 1.0 is known for, one
// test each, named after what this hook does instead.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using testing::FaultStorage;
using ::testing::Ge;
using testing::GetFile;
using ::testing::HasSubstr;
using testing::Keys;
using testing::Operation;
using testing::ReadIndex;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::SaveFloatsTo;
using testing::Steps;

using OldFaultsTest = testing::HookFixture;

HookConfig Every(int64_t interval) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = interval});
  return config;
}

// There, a scalar saved after a step's file was closed truncated that file.
TEST_F(OldFaultsTest, ALateScalarNeverReplacesAPublishedStep) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  SaveFloats(*hook, "x", std::vector<float>(1000, 1));
  hook->EndStep();
  while (hook->stats().steps_saved < 1) std::this_thread::yield();
  const auto events = Keys(*storage_, "events/").at(0);
  const auto before = *GetFile(*storage_, events);
  hook->SaveScalar("after the step", 1);
  hook->SetMode(Mode::kEval);
  hook->SaveScalar("after the mode", 2);
  hook->Close();
  hook->SetMode(Mode::kPredict);
  hook->SaveScalar("after close", 3);
  EXPECT_EQ(*GetFile(*storage_, events), before);
  for (const int64_t step : Steps(*storage_)) {
    EXPECT_GE(ReadIndex(*storage_, step)->mode_step, 0);
  }
  EXPECT_EQ(ReadStep(*storage_, 1).count("scalar/after the step"), 1u);
  EXPECT_EQ(ReadStep(*storage_, 1).count("scalar/after the mode"), 1u);
  EXPECT_EQ(hook->stats().dropped, 1);
}

// There, a scalar without any step made close() wait forever.
TEST_F(OldFaultsTest, AScalarBeforeAnyStepDoesNotHangTheExit) {
  auto hook = Open(SaveEverything());
  hook->SaveScalar("lonely", 1);
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0));
}

// There, any failure in the writer's thread made close() wait forever.
TEST_F(OldFaultsTest, AFailingWriterDoesNotHangTheExit) {
  for (const Operation operation :
       {Operation::kCreate, Operation::kCreateExclusive, Operation::kAppend,
        Operation::kPublish, Operation::kList, Operation::kRead,
        Operation::kRemove}) {
    SCOPED_TRACE(static_cast<int>(operation));
    const auto faulty = std::make_shared<FaultStorage>(OpenMemoryStorage());
    // What a killed job left makes the hook read and remove.
    testing::PutFile(faulty->inner(), "claim.smd", "");
    Hook hook(SaveEverything(), {}, {}, faulty, nullptr);
    faulty->plan().FailAll(operation, EIO);
    for (int i = 0; i < 5; ++i) {
      hook.BeginStep();
      SaveFloats(hook, "x", {1});
      hook.SaveScalar("s", 1);
    }
    hook.Close();
    EXPECT_GT(faulty->plan().failures(), 0u);
    const HookStats stats = hook.stats();
    EXPECT_GT(stats.errors, 0);
    // Each tensor and each scalar is saved, or counted as lost.
    EXPECT_EQ(stats.values_saved + stats.scalars_saved + stats.lost, 10);
  }
}

// There, scalars written after set_mode took the new mode and its step -1.
TEST_F(OldFaultsTest, AScalarKeepsTheModeItWasSavedIn) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("loss", 1);
  hook->SetMode(Mode::kEval);
  hook->Close();
  const auto step = ReadStep(*storage_, 0);
  EXPECT_EQ(step.at("scalar/loss").tensor.mode, Mode::kTrain);
  EXPECT_EQ(step.at("scalar/loss").tensor.mode_step, 0);
}

// There, scalars of unsaved steps were stamped with the next saved step.
TEST_F(OldFaultsTest, AScalarKeepsTheStepItWasSavedAt) {
  auto hook = Open(Every(10));
  for (int i = 0; i < 11; ++i) {
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
    if (i == 3) hook->SaveScalar("loss", 0.5);
  }
  hook->Close();
  const auto scalars = ReadIndex(*storage_, 10)->scalars;
  ASSERT_EQ(scalars.size(), 1u);
  EXPECT_EQ(scalars[0].step, 3);
}

// There, scalars piled up without bound on workers that do not write.
TEST_F(OldFaultsTest, ScalarsDoNotPileUp) {
  HookConfig config = Every(1'000'000);
  auto silent = Open(config, {}, Worker::OfRank(1, 2));
  auto writing = Open(config, {.scalar_limit = 100});
  for (int i = 0; i < 1000; ++i) {
    silent->BeginStep();
    silent->SaveScalar("s", i);
    writing->BeginStep();
    writing->SaveScalar("s", i);
  }
  silent->Close();
  writing->Close();
  EXPECT_THAT(Steps(*storage_).size(), Ge(10u));
  EXPECT_EQ(writing->stats().scalars_saved, 1000);
  EXPECT_EQ(silent->stats().scalars_saved, 0);
}

// There, names seen after the first step were missing from the collections.
TEST_F(OldFaultsTest, TheCollectionsFileLearnsLaterNames) {
  auto hook = Open(SaveEverything());
  for (const char* name : {"first", "second", "third"}) {
    hook->BeginStep();
    SaveFloats(*hook, name, {1});
  }
  hook->Close();
  EXPECT_THAT(
      *GetFile(*storage_, "collections/000000000/worker_0_collections.json"),
      HasSubstr(R"("tensor_names": ["first", "second", "third"])"));
}

// There, a job of one step could leave no collections file at all.
TEST_F(OldFaultsTest, ASingleStepIsReadable) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook.reset();
  EXPECT_TRUE(
      storage_->Stat("collections/000000000/worker_0_collections.json"));
}

// There, an int, bool or half tensor with reductions crashed the training.
TEST_F(OldFaultsTest, EveryDtypeCanBeReduced) {
  HookConfig config = SaveEverything();
  ReductionConfig all;
  for (const ReductionOp op : kReductionOps) {
    all.reductions.push_back({op, false});
    all.reductions.push_back({op, true});
  }
  config.reduction_config = all;
  auto hook = Open(config);
  hook->BeginStep();
  const std::array<std::byte, 16> ones = {std::byte{1}};
  for (const ElementType& type : kElementTypes) {
    if (type.kind == ElementKind::kText) continue;
    const int64_t shape[] = {16 / type.item_size};
    hook->Save(type.name, {ones.data(), type.dtype, shape, {}});
  }
  hook->Close();
  EXPECT_EQ(hook->stats().values_saved,
            std::ssize(kReductionOps) * 2 * (std::ssize(kElementTypes) - 1));
  EXPECT_EQ(hook->stats().errors, 0);
}

// There, of several collections given to save_tensor only the last counted,
// and a tensor saved at an unsaved step was lost.
TEST_F(OldFaultsTest, SaveTensorKeepsEveryCollectionAtEveryDueStep) {
  HookConfig config = Every(1000);
  config.collections = {{.name = "odd",
                         .include_regex = {"^never$"},
                         .save_config = SaveConfig::Every(
                             {.save_interval = 1, .start_step = 3})}};
  config.include_collections = {"odd"};
  auto hook = Open(config);
  for (int i = 0; i < 5; ++i) {
    hook->BeginStep();
    SaveFloatsTo(*hook, "t", {float(i)}, {"odd", "fresh"});
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 3, 4));
}

// There, every process wrote the end marker, so the first to exit ended the
// job for readers; and a slow worker could then be refused its own folder.
TEST_F(OldFaultsTest, AFastWorkerNeitherEndsTheJobNorLocksOutASlowOne) {
  HookConfig config = SaveEverything();
  config.include_workers = IncludeWorkers::kAll;
  Open(config, {}, Worker::OfRank(0, 2))->Close();
  EXPECT_FALSE(storage_->Stat("training_job_end.ts"));
  auto slow = Open(config, {}, Worker::OfRank(1, 2));
  slow->Close();
  EXPECT_TRUE(storage_->Stat("training_job_end.ts"));
}

// There, a crashed run left a claim behind, and the next run wrote nothing.
TEST_F(OldFaultsTest, AnOldClaimDoesNotSilenceTheNextRun) {
  testing::PutFile(*storage_, "claim.smd", "");
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0));
  EXPECT_FALSE(storage_->Stat("claim.smd"));
}

// There, a shape entry hid the value of a tensor saved with its shape.
TEST_F(OldFaultsTest, AShapeDoesNotHideTheValue) {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.save_raw_tensor = true, .save_shape = true};
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1, 2});
  hook->Close();
  EXPECT_TRUE(ReadIndex(*storage_, 0)->shapes.empty());
  EXPECT_THAT(ReadStep(*storage_, 0).at("x").tensor.shape, ElementsAre(2));
}

// There, damaged bytes could not be told from good ones.
TEST_F(OldFaultsTest, EveryRecordHasItsChecksumInTheIndex) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1, 2});
  hook->SaveScalar("s", 1);
  hook->Close();
  const auto index = *ReadIndex(*storage_, 0);
  ASSERT_EQ(index.tensors.size(), 2u);
  for (const auto& entry : index.tensors) {
    EXPECT_TRUE(entry.location.crc32c.has_value());
  }
}

// There, a schedule for some modes only made the other modes raise.
TEST_F(OldFaultsTest, AModeWithoutAScheduleTakesTheDefault) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig();
  (*config.save_config)[Mode::kTrain] = SaveConfigMode{.save_interval = 1};
  auto hook = Open(config);
  hook->SetMode(Mode::kEval);
  for (int i = 0; i < 3; ++i) {
    hook->BeginStep();
    SaveFloats(*hook, "x", {1});
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0));
  EXPECT_EQ(hook->stats().errors, 0);
}

}  // namespace
}  // namespace smdebug
