#include "smdebug/hook.h"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/ledger.h"
#include "tests/testing/environment.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GetFile;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::Keys;
using ::testing::Not;
using testing::ReadIndex;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::SaveFloatsTo;
using testing::Steps;

using HookTest = testing::HookFixture;

TEST_F(HookTest, LeavesOneEventAndOneIndexFilePerSavedStep) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "w", {1, 2, 3});
  hook->BeginStep();
  hook->Close();
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("collections/000000000/worker_0_collections.json",
                          "events/000000000000/000000000000_worker_0.tfevents",
                          "index/000000000/000000000000_worker_0.json",
                          "ledger/worker_0.json", "training_job_end.ts"));
}

TEST_F(HookTest, ValuesReadBackWithNameStepAndMode) {
  auto hook = Open(SaveEverything());
  hook->SetMode(Mode::kTrain);
  hook->BeginStep();
  hook->SetMode(Mode::kEval);
  hook->BeginStep();
  SaveFloats(*hook, "layer:0", {1.5f, -2});
  hook->Close();
  const auto step = ReadStep(*storage_, 1);
  const auto& record = step.at("layer:0");
  EXPECT_THAT(record.As<float>(), ElementsAre(1.5f, -2));
  EXPECT_EQ(record.tensor.step, 1);
  EXPECT_EQ(record.tensor.mode, Mode::kEval);
  EXPECT_EQ(record.tensor.mode_step, 0);
  EXPECT_EQ(ReadIndex(*storage_, 1)->mode, Mode::kEval);
  EXPECT_EQ(ReadIndex(*storage_, 1)->mode_step, 0);
}

TEST_F(HookTest, SavesEveryDtypeAsItIs) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  std::array<std::byte, 16> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * 37);
  std::vector<DType> dtypes;
  for (int number = 1; number < 32; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (ItemSize(dtype) == 0) continue;
    dtypes.push_back(dtype);
    const int64_t shape[] = {static_cast<int64_t>(16 / ItemSize(dtype))};
    hook->Save(DTypeName(dtype), {bytes.data(), dtype, shape, {}});
  }
  hook->Close();
  EXPECT_EQ(dtypes.size(), kElementTypes.size() - 1);
  const auto step = ReadStep(*storage_, 0);
  for (const DType dtype : dtypes) {
    const auto& record = step.at(std::string(DTypeName(dtype)));
    EXPECT_EQ(record.tensor.dtype, dtype);
    EXPECT_TRUE(std::ranges::equal(record.tensor.content, bytes));
  }
}

TEST_F(HookTest, SavesStringsScalarsAndStridedTensors) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  const std::array<std::string_view, 3> text = {"foo", "", "b\xC3\xA4rz"};
  const int64_t three[] = {3};
  hook->Save("text", ViewOf<std::string_view>(text, three));
  const double pi = 3.25;
  hook->Save("rank0", ViewOf<double>({&pi, 1}, {}));
  const std::vector<int32_t> matrix = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {3, 2};
  const int64_t strides[] = {1, 3};
  hook->Save("transposed", {matrix.data(), DType::kInt32, shape, strides});
  hook->Close();
  const auto step = ReadStep(*storage_, 0);
  EXPECT_THAT(step.at("text").tensor.strings,
              ElementsAre("foo", "", "b\xC3\xA4rz"));
  EXPECT_THAT(step.at("rank0").tensor.shape, IsEmpty());
  EXPECT_THAT(step.at("rank0").As<double>(), ElementsAre(3.25));
  EXPECT_THAT(step.at("transposed").As<int32_t>(),
              ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(HookTest, AnEmptyTensorLeavesItsShape) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  const int64_t shape[] = {0, 3};
  hook->Save("none", ViewOf<float>({}, shape));
  hook->Close();
  const auto step = ReadIndex(*storage_, 0);
  ASSERT_EQ(step->shapes.size(), 1u);
  EXPECT_THAT(step->shapes[0].shape, ElementsAre(0, 3));
  EXPECT_EQ(step->shapes[0].dtype, DType::kFloat32);
  EXPECT_THAT(step->tensors, IsEmpty());
  EXPECT_EQ(step->event_file, "");
  EXPECT_EQ(hook->stats().values_saved, 1);
  EXPECT_EQ(index::CountValues(*step), 1);
}

TEST_F(HookTest, AnEmptyTensorThatIsOnlyReducedLeavesItsShapeToo) {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.reductions = {{ReductionOp::kSum}}};
  auto hook = Open(config);
  hook->BeginStep();
  const int64_t shape[] = {3, 0};
  hook->Save("none", ViewOf<float>({}, shape));
  SaveFloats(*hook, "some", {1});
  hook->Close();
  EXPECT_THAT(
      ReadIndex(*storage_, 0)->shapes,
      ElementsAre(index::ShapeEntry{"none", "none", {3, 0}, DType::kFloat32}));
}

TEST_F(HookTest, SavesReductionsInsteadOfTheTensor) {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.reductions = {{ReductionOp::kMean, false},
                                     {ReductionOp::kL2, true},
                                     {ReductionOp::kMedian, false},
                                     {ReductionOp::kStd, false}}};
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloats(*hook, "w", {3, -4, 0, NAN});
  SaveFloats(*hook, "v", {1, 3, 5, 7});
  hook->Close();
  const auto step = ReadStep(*storage_, 0);
  EXPECT_THAT(step, Not(::testing::Contains(Key("v"))));
  const auto value = [&](const std::string& name) {
    const auto& record = step.at(name);
    EXPECT_EQ(record.tensor.dtype, DType::kFloat64);
    EXPECT_THAT(record.tensor.shape, IsEmpty());
    return record.As<double>().at(0);
  };
  EXPECT_EQ(value("smdebug/reductions/mean/v"), 4);
  EXPECT_EQ(value("smdebug/reductions/median/v"), 4);
  EXPECT_EQ(value("smdebug/reductions/abs_l2/v"), std::sqrt(84.0));
  EXPECT_EQ(value("smdebug/reductions/std/v"), std::sqrt(5.0));
  EXPECT_TRUE(std::isnan(value("smdebug/reductions/mean/w")));
  const auto counts = ReadIndex(*storage_, 0)->counts;
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0],
            (index::CountsEntry{.name = "w",
                                .values = {.count = 4, .nan = 1, .zero = 1}}));
}

TEST_F(HookTest, RawAndReducedAgree) {
  HookConfig config = SaveEverything();
  config.reduction_config = ReductionConfig{
      .reductions = {{ReductionOp::kSum, false}}, .save_raw_tensor = true};
  auto hook = Open(config);
  hook->BeginStep();
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2};
  const int64_t strides[] = {4};
  hook->Save("x", {values.data(), DType::kFloat32, shape, strides});
  hook->Close();
  const auto step = ReadStep(*storage_, 0);
  EXPECT_THAT(step.at("x").As<float>(), ElementsAre(1, 5));
  EXPECT_THAT(step.at("smdebug/reductions/sum/x").As<double>(), ElementsAre(6));
}

TEST_F(HookTest, AShapeIsWrittenWhereNoRecordTellsIt) {
  HookConfig config = SaveEverything();
  config.reduction_config = ReductionConfig{.save_shape = true};
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1, 2});
  hook->Close();
  const auto step = ReadIndex(*storage_, 0);
  ASSERT_EQ(step->shapes.size(), 1u);
  EXPECT_EQ(step->shapes[0],
            (index::ShapeEntry{"x", "x", std::vector<int64_t>{2}}));
  EXPECT_THAT(Keys(*storage_, "events/"), IsEmpty());
}

TEST_F(HookTest, SavesOnlyTheStepsThatAreDue) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 5,
                                          .start_step = 4,
                                          .end_step = 10,
                                          .save_steps = {3, 12}});
  auto hook = Open(config);
  for (int i = 0; i < 15; ++i) {
    hook->BeginStep();
    EXPECT_EQ(hook->StepIsDue(), i == 3 || i == 5 || i == 12);
    EXPECT_EQ(hook->IsDue("x"), hook->StepIsDue());
    SaveFloats(*hook, "x", {float(i)});
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(3, 5, 12));
  EXPECT_EQ(hook->stats().steps_saved, 3);
  EXPECT_EQ(hook->stats().values_saved, 3);
}

TEST_F(HookTest, WhatComesBetweenTwoStepsIsCountedIfItHadBeenDue) {
  auto hook = Open(SaveEverything());
  SaveFloats(*hook, "x", {1});  // No step has ended.
  hook->BeginStep();
  hook->EndStep();
  SaveFloats(*hook, "x", {1});
  TensorName name("y");
  EXPECT_FALSE(hook->Offer(name));
  const std::vector<std::string_view> names = {"a", "b"};
  const int64_t shape[] = {0};
  hook->SaveAs(names, ViewOf<float>({}, shape));
  EXPECT_EQ(hook->stats().dropped, 4);
  EXPECT_FALSE(hook->IsDue("x"));
  hook->BeginStep();
  EXPECT_TRUE(hook->Offer("x"));
  EXPECT_EQ(hook->stats().dropped, 4);
  hook->SetMode(Mode::kEval);
  EXPECT_FALSE(hook->Offer("x"));
  EXPECT_EQ(hook->stats().dropped, 5);
  hook->Close();
  const auto ledger =
      run::ParseLedger(*GetFile(*storage_, "ledger/worker_0.json"), "ledger");
  EXPECT_EQ(ledger.messages.at("ended"),
            "tensor 'x' came after step 0 had ended and before the next one "
            "began");
}

TEST_F(HookTest, WhatWasNotDueMayComeBetweenTwoSteps) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 2});
  auto hook = Open(config);
  hook->BeginStep();
  hook->BeginStep();
  hook->EndStep();
  EXPECT_TRUE(hook->IsIdle());
  SaveFloats(*hook, "x", {1});
  EXPECT_EQ(hook->stats().dropped, 0);
}

TEST_F(HookTest, ANameThatIsKeptForReductionsIsRefused) {
  auto hook = Open(SaveEverything());
  const std::string name = "smdebug/reductions/mean/zz";
  hook->BeginStep();
  SaveFloats(*hook, name, {1, 2});
  SaveFloats(*hook, name, {1, 2});
  EXPECT_EQ(hook->stats().skipped, 1);
  SaveFloatsTo(*hook, name, {1, 2}, {"mine"});
  EXPECT_EQ(hook->stats().skipped, 2);
  testing::SaveFloatsForNextStep(*hook, name, {1, 2}, {"mine"});
  hook->SaveScalar(name, 1);
  EXPECT_EQ(hook->stats().skipped, 4);
  SaveFloats(*hook, "x", {1});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("x")));
}

TEST_F(HookTest, ATensorSavedAfterCloseIsCounted) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  hook->Close();
  SaveFloatsTo(*hook, "x", {1}, {"mine"});
  SaveFloats(*hook, "x", {1});
  EXPECT_FALSE(hook->Offer("x"));
  EXPECT_EQ(hook->stats().dropped, 3);
}

TEST_F(HookTest, OnlyTheFirstLineOfAReasonIsKept) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  hook->LeaveOut("x", "ValueError: no\nTraceback:\n  line 1");
  hook->Close();
  const auto ledger =
      run::ParseLedger(*GetFile(*storage_, "ledger/worker_0.json"), "ledger");
  EXPECT_EQ(ledger.messages.at("'x'"), "'x' is left out: ValueError: no");
}

TEST_F(HookTest, EndStepShowsTheStepAtOnce) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->EndStep();
  EXPECT_FALSE(hook->StepIsDue());
  SaveFloats(*hook, "y", {1});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("x")));
}

TEST_F(HookTest, ATrainerMayCountItsOwnSteps) {
  auto hook = Open(SaveEverything());
  for (const int64_t step : {3, 10, 10, 7, 11}) {
    hook->BeginStep(step);
    SaveFloats(*hook, "x" + std::to_string(step), {1});
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(3, 10, 11));
  EXPECT_EQ(hook->stats().errors, 1);
}

TEST_F(HookTest, SaveTensorReachesAllNamedCollections) {
  HookConfig config;
  config.out_dir = "unused";
  config.save_config = SaveConfig::Every({.save_interval = 2});
  auto hook = Open(config);
  for (int i = 0; i < 4; ++i) {
    hook->BeginStep();
    SaveFloatsTo(*hook, "mine", {float(i)}, {"first", "second"});
  }
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 2));
  EXPECT_THAT(ReadStep(*storage_, 2).at("mine").As<float>(), ElementsAre(2));
  const auto text =
      *GetFile(*storage_, "collections/000000000/worker_0_collections.json");
  for (const char* name : {"first", "second"}) {
    const auto at = text.find(std::string("\"") + name + "\": {");
    ASSERT_NE(at, std::string::npos);
    EXPECT_THAT(text.substr(at, 200), HasSubstr(R"("tensor_names": ["mine"])"));
  }
}

TEST_F(HookTest, DryRunWritesNothing) {
  HookConfig config = SaveEverything();
  config.dry_run = true;
  auto hook = Open(config);
  hook->BeginStep();
  SaveFloats(*hook, "x", {1});
  hook->SaveScalar("s", 1);
  hook->Close();
  EXPECT_THAT(Keys(*storage_), IsEmpty());
}

TEST_F(HookTest, ARunThatSavedNothingIsStillReadable) {
  Open(SaveEverything())->Close();
  EXPECT_THAT(Keys(*storage_),
              ElementsAre("collections/000000000/worker_0_collections.json",
                          "ledger/worker_0.json", "training_job_end.ts"));
}

TEST_F(HookTest, ClosesOnce) {
  auto hook = Open(SaveEverything());
  hook->Close();
  storage_->Remove("training_job_end.ts");
  hook->Close();
  hook.reset();
  EXPECT_FALSE(storage_->Stat("training_job_end.ts"));
}

TEST_F(HookTest, RefusesABadConfigurationAtConstruction) {
  HookConfig config = SaveEverything();
  config.include_regex = {"a(b"};
  EXPECT_THROW(Open(config), ConfigError);
  config = SaveEverything();
  config.collections = {{.name = "empty"}};
  config.include_collections = {"empty"};
  EXPECT_THROW(Open(config), InvalidCollectionConfiguration);
  EXPECT_THROW(Open(SaveEverything(), {}, {.name = "a/b"}), ConfigError);
  EXPECT_THROW(Open(SaveEverything(), {}, {.count = 0}), ConfigError);
  EXPECT_THROW(Worker::OfRank(2, 2), ConfigError);
}

TEST_F(HookTest, CollectionsCanBeChangedUntilTheFirstStep) {
  HookConfig config;
  config.out_dir = "unused";
  config.include_collections = {"mine"};
  config.collections = {{.name = "mine", .include_regex = {"^a$"}}};
  auto hook = Open(config);
  Collection mine = *hook->GetCollection("mine");
  mine.include_regex = {"^b$"};
  hook->SetCollection(mine);
  hook->BeginStep();
  SaveFloats(*hook, "a", {1});
  SaveFloats(*hook, "b", {1});
  EXPECT_THROW(hook->SetCollection(mine), Error);
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("b")));
  EXPECT_EQ(hook->GetCollection("unheard of"), std::nullopt);
}

TEST_F(HookTest, CollectionsAreAllThatThereAre) {
  HookConfig config = SaveEverything();
  config.collections = {{.name = "mine", .include_regex = {"^x$"}}};
  auto hook = Open(config);
  const auto names = [&] {
    std::vector<std::string> found;
    for (const Collection& one : hook->Collections()) {
      EXPECT_EQ(one, hook->GetCollection(one.name));
      found.push_back(one.name);
    }
    return found;
  };
  EXPECT_THAT(names(), ElementsAre("all", "biases", "default", "gradients",
                                   "losses", "mine", "weights"));
  hook->BeginStep();
  SaveFloatsTo(*hook, "y", {1}, {"by_hand"});
  EXPECT_THAT(names(), Contains("by_hand"));
  hook->Close();
}

TEST_F(HookTest, WhatIsSavedMayBeReplacedUntilTheFirstStep) {
  HookConfig config;
  EditCollection(config, "mine").include_regex = {"^a$"};
  config.include_collections = {"mine"};
  auto hook = Open(config);
  hook->SaveScalar("early", 1);
  const float value[] = {2};
  const int64_t shape[] = {1};
  const std::string_view mine[] = {"mine"};
  hook->SaveTensorForNextStep("waits", ViewOf<float>(value, shape), mine);
  HookConfig other = config;
  EditCollection(other, "mine").include_regex = {"("};
  EXPECT_THROW(hook->Configure(other), Error);
  EXPECT_EQ(hook->GetCollection("mine")->include_regex,
            std::vector<std::string>{"^a$"});
  EditCollection(other, "mine").include_regex = {"^b$"};
  other.out_dir = "/elsewhere";
  hook->Configure(other);
  EXPECT_EQ(hook->config().out_dir, config.out_dir);
  hook->BeginStep();
  SaveFloats(*hook, "a", {1});
  SaveFloats(*hook, "b", {1});
  EXPECT_THROW(hook->Configure(config), Error);
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0),
              ElementsAre(Key("b"), Key("scalar/early"), Key("waits")));
}

TEST_F(HookTest, CountsWhatItCannotSave) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  const std::array<std::string_view, 1> text = {"x"};
  const int64_t square[] = {1, 1};
  hook->Save("matrix of text", ViewOf<std::string_view>(text, square));
  const int64_t negative[] = {-1};
  hook->Save("negative", {text.data(), DType::kFloat32, negative, {}});
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  hook->Save("huge", {text.data(), DType::kFloat32, huge, {}});
  const int64_t one[] = {1};
  hook->Save("null", {nullptr, DType::kFloat32, one, {}});
  hook->Save("unknown", {text.data(), static_cast<DType>(99), one, {}});
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 5);
  EXPECT_EQ(hook->stats().errors, 0);
  const auto ledger =
      run::ParseLedger(*GetFile(*storage_, "ledger/worker_0.json"), "ledger");
  EXPECT_EQ(ledger.stats.skipped, 5);
  EXPECT_THAT(ledger.messages.at("kind"), HasSubstr("matrix of text"));
}

TEST_F(HookTest, CountsWhatItsCallerCouldNotHandOver) {
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  hook->Skip("a", "is on the meta device");
  hook->Skip("b", "is on the meta device");
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 2);
  const auto ledger =
      run::ParseLedger(*GetFile(*storage_, "ledger/worker_0.json"), "ledger");
  EXPECT_EQ(ledger.messages.at("is on the meta device"),
            "tensor 'a' is on the meta device");
}

TEST_F(HookTest, AnAbandonedRunIsWholeUnfinishedAndSetAsideByTheNext) {
  auto first = Open(SaveEverything());
  first->BeginStep();
  SaveFloats(*first, "a", {1});
  first->Abandon();
  first->BeginStep();
  SaveFloats(*first, "late", {1});
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("a")));
  EXPECT_EQ(GetFile(*storage_, "training_job_end.ts"), std::nullopt);

  auto second = Open(SaveEverything());
  second->BeginStep();
  SaveFloats(*second, "b", {1});
  second->Close();
  first.reset();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("b")));
  EXPECT_NE(GetFile(*storage_, "training_job_end.ts"), std::nullopt);
  EXPECT_NE(GetFile(*storage_, "previous/1/ledger/worker_0.json"),
            std::nullopt);
}

TEST_F(HookTest, ATensorAbove2GiBIsCountedAndTheRestOfItIsSaved) {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.save_raw_tensor = true, .save_shape = true};
  auto hook = Open(config);
  hook->BeginStep();
  // One element seen a billion times: large without the memory.
  const float value = 7;
  const int64_t shape[] = {1 << 10, 1 << 20};
  const int64_t strides[] = {0, 0};
  hook->Save("big", {&value, DType::kFloat32, shape, strides});
  SaveFloats(*hook, "small", {1});
  hook->Close();
  EXPECT_EQ(hook->stats().skipped, 1);
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("small")));
  EXPECT_EQ(
      ReadIndex(*storage_, 0)->shapes,
      (std::vector<index::ShapeEntry>{{"big", "big", {1 << 10, 1 << 20}}}));
  EXPECT_EQ(hook->stats().errors, 0);
}

TEST_F(HookTest, StrictRethrows) {
  auto hook = Open(SaveEverything(), {.strict = true});
  hook->BeginStep(5);
  EXPECT_THROW(hook->BeginStep(3), Error);
}

TEST(RuntimeOptionsTest, ComeFromTheEnvironment) {
  const auto with = [](const char* name, const char* value) {
    const testing::ScopedEnvironment set(name, value);
    return RuntimeOptions::FromEnvironment();
  };
  EXPECT_EQ(with("SMDEBUG_BUFFER_MB", "3").buffer_bytes, uint64_t{3} << 20);
  EXPECT_EQ(with("SMDEBUG_ON_FULL", "drop").on_full, OnFull::kDrop);
  EXPECT_EQ(with("SMDEBUG_FSYNC", "step").durability, Durability::kPowerLoss);
  EXPECT_TRUE(with("SMDEBUG_STRICT", "1").strict);
  EXPECT_THROW(with("SMDEBUG_BUFFER_MB", "0"), ConfigError);
  EXPECT_THROW(with("SMDEBUG_BUFFER_MB", "much"), ConfigError);
  EXPECT_THROW(with("SMDEBUG_ON_FULL", "wait"), ConfigError);
  EXPECT_THROW(with("SMDEBUG_FSYNC", "always"), ConfigError);
  EXPECT_THROW(with("SMDEBUG_STRICT", "maybe"), ConfigError);
}

TEST_F(HookTest, ShapesAndStridesThatNoMemoryHoldsAreSkipped) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::array<float, 4> values = {};
  const std::array<int64_t, 2> huge = {kMost, kMost};
  const std::array<int64_t, 1> long_one = {kMost / 2};
  const std::array<int64_t, 2> small = {2, 2};
  const std::array<int64_t, 2> far = {kMost, 1};
  const std::array<int64_t, 2> back = {std::numeric_limits<int64_t>::min(), 1};
  const TensorView views[] = {
      {values.data(), DType::kFloat32, huge, {}},
      {values.data(), DType::kFloat32, long_one, {}},
      {values.data(), DType::kFloat32, small, far},
      {values.data(), DType::kFloat32, small, back},
  };
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  for (const TensorView& view : views) hook->Save("x", view);
  EXPECT_EQ(hook->stats().skipped, 4);
  const std::string_view collections[] = {"mine"};
  hook->SaveTensorForNextStep("y", views[0], collections);
  EXPECT_EQ(hook->stats().dropped, 1);
  SaveFloats(*hook, "z", {1});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("z")));
}

}  // namespace
}  // namespace smdebug
