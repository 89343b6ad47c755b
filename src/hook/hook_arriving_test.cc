#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "smdebug/internal/arriving.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

// Tensors that are on their way from a device when the hook gets them.
namespace smdebug {
namespace {

using internal::ArrivingScalar;
using internal::ArrivingTensor;
using internal::Parts;
using internal::PartStatistics;
using internal::ToldArrival;
using internal::Wanted;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::ReadStep;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::Steps;
using ::testing::UnorderedElementsAre;

// Memory of the host that a device writes into.
struct Host {
  explicit Host(size_t size) : values(std::make_shared<Values>(size)) {}

  using Values = std::vector<float>;

  void Arrive(const std::vector<float>& what) const {
    std::ranges::copy(what, values->begin());
    arrival->Tell();
  }

  ArrivingTensor Tensor() const {
    return {.shape = std::span(&count, 1),
            .content = std::as_bytes(std::span(*values)),
            .owner = values,
            .arrival = arrival};
  }

  std::shared_ptr<Values> values;
  std::shared_ptr<ToldArrival> arrival = std::make_shared<ToldArrival>();
  int64_t count = static_cast<int64_t>(values->size());
};

class HookArrivingTest : public testing::HookFixture {
 protected:
  std::vector<float> Read(int64_t step, const std::string& name) {
    return ReadStep(*storage_, step).at(name).As<float>();
  }
};

HookConfig Reduced(std::vector<Reduction> reductions) {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.reductions = std::move(reductions)};
  return config;
}

TEST_F(HookArrivingTest, WhatComesAfterItsStepIsOfItsStep) {
  auto hook = Open(SaveEverything());
  const Host first(2);
  const Host second(2);
  hook->BeginStep();
  SaveFloats(*hook, "before", {1});
  hook->SaveArriving("w", first.Tensor());
  SaveFloats(*hook, "after", {2});
  hook->BeginStep();
  hook->SaveArriving("w", second.Tensor());
  second.Arrive({5, 6});  // Devices differ in how fast they are.
  hook->EndStep();
  first.Arrive({3, 4});
  hook->Close();
  EXPECT_THAT(Steps(*storage_), ElementsAre(0, 1));
  EXPECT_THAT(ReadStep(*storage_, 0),
              UnorderedElementsAre(Key("before"), Key("w"), Key("after")));
  EXPECT_THAT(Read(0, "w"), ElementsAre(3, 4));
  EXPECT_THAT(Read(1, "w"), ElementsAre(5, 6));
  EXPECT_EQ(hook->stats().lost, 0);
}

TEST_F(HookArrivingTest, TheHookSaysWhatHasToCome) {
  const auto wanted = [&](const HookConfig& config) {
    storage_ = OpenMemoryStorage();
    auto hook = Open(config);
    EXPECT_FALSE(hook->WantedOf("w").anything);
    hook->BeginStep();
    return hook->WantedOf("w");
  };
  EXPECT_TRUE(wanted(SaveEverything()).content);
  EXPECT_FALSE(wanted(SaveEverything()).statistics);
  const Wanted mean = wanted(Reduced({{ReductionOp::kMean}}));
  EXPECT_TRUE(mean.anything);
  EXPECT_FALSE(mean.content);
  EXPECT_TRUE(mean.statistics);
  EXPECT_FALSE(mean.deviations);
  EXPECT_TRUE(wanted(Reduced({{ReductionOp::kStd}})).deviations);
  EXPECT_TRUE(wanted(Reduced({{ReductionOp::kMedian}})).content);
  EXPECT_TRUE(wanted(Reduced({{ReductionOp::kProd, true}})).content);
  HookConfig shapes = SaveEverything();
  shapes.reduction_config = ReductionConfig{.save_shape = true};
  EXPECT_TRUE(wanted(shapes).anything);
  EXPECT_FALSE(wanted(shapes).content || wanted(shapes).statistics);
}

TEST_F(HookArrivingTest, StatisticsOfTheDeviceAreJoined) {
  auto hook = Open(Reduced(
      {{ReductionOp::kMean}, {ReductionOp::kMax}, {ReductionOp::kStd}}));
  // Of 1, 2, 3 | 6.
  const auto rows = std::make_shared<const std::vector<PartStatistics>>(
      std::vector<PartStatistics>{{.nan = 0,
                                   .pos_inf = 0,
                                   .neg_inf = 0,
                                   .zero = 0,
                                   .min = 1,
                                   .max = 3,
                                   .abs_min = 1,
                                   .sum = 6,
                                   .abs_sum = 6,
                                   .sum_squares = 14,
                                   .deviations = 2,
                                   .abs_deviations = 2},
                                  {.nan = 0,
                                   .pos_inf = 0,
                                   .neg_inf = 0,
                                   .zero = 0,
                                   .min = 6,
                                   .max = 6,
                                   .abs_min = 6,
                                   .sum = 6,
                                   .abs_sum = 6,
                                   .sum_squares = 36,
                                   .deviations = 0,
                                   .abs_deviations = 0}});
  const int64_t shape[] = {2, 2};
  ArrivingTensor tensor = {.shape = shape, .owner = rows};
  tensor.parts.push_back({.rows = rows->data(), .elements = 4, .width = 3});
  hook->BeginStep();
  hook->SaveArriving("w", tensor);
  hook->Close();
  const auto values = ReadStep(*storage_, 0);
  const auto value = [&](const std::string& reduction) {
    return values.at("smdebug/reductions/" + reduction + "/w")
        .As<double>()
        .at(0);
  };
  EXPECT_EQ(value("mean"), 3);
  EXPECT_EQ(value("max"), 6);
  EXPECT_DOUBLE_EQ(value("std"), std::sqrt(14.0 / 4));
}

TEST_F(HookArrivingTest, WhatTheCoreHasToReduceIsReducedWhenItHasCome) {
  auto hook = Open(Reduced({{ReductionOp::kMedian}}));
  const Host host(3);
  hook->BeginStep();
  hook->SaveArriving("w", host.Tensor());
  hook->EndStep();
  host.Arrive({7, 1, 2});
  hook->Close();
  EXPECT_THAT(
      ReadStep(*storage_, 0).at("smdebug/reductions/median/w").As<double>(),
      ElementsAre(2));
}

TEST_F(HookArrivingTest, WhatNeverComesIsLostAndHoldsNobodyUp) {
  auto hook = Open(SaveEverything(), {.stuck_after = milliseconds(600)});
  const Host never(2);
  const Host there(1);
  const Host failed(1);
  hook->BeginStep();
  hook->SaveArriving("never", never.Tensor());
  hook->SaveArriving("with it", never.Tensor());
  hook->SaveArriving("failed", failed.Tensor());
  failed.arrival->Fail("is gone");
  SaveFloats(*hook, "here", {1});
  hook->BeginStep();
  hook->SaveArriving("there", there.Tensor());
  there.Arrive({9});
  hook->EndStep();
  EXPECT_FALSE(hook->Flush());
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("here")));
  EXPECT_THAT(Read(1, "there"), ElementsAre(9));
  EXPECT_EQ(hook->stats().lost, 3);
  EXPECT_EQ(hook->stats().errors, 2);
}

TEST_F(HookArrivingTest, AStrictHookThrowsWhatNeverCame) {
  auto hook = Open(SaveEverything(), {.strict = true});
  const Host never(1);
  hook->BeginStep();
  hook->SaveArriving("never", never.Tensor());
  never.arrival->Fail("is gone");
  EXPECT_THROW(hook->Close(), std::exception);
}

TEST_F(HookArrivingTest, RoomIsGivenBackWhenItIsWritten) {
  const uint64_t budget = uint64_t{4} << 20;
  const uint64_t half = budget / 2 + (uint64_t{1} << 20);
  auto hook = Open(SaveEverything(), {.buffer_bytes = budget});
  const std::string_view names[] = {"w"};
  hook->BeginStep();
  {
    Host host(half / sizeof(float));
    auto room = hook->Reserve(names, half, /*waits=*/true);
    ASSERT_NE(room, nullptr);
    ArrivingTensor tensor = host.Tensor();
    // Both go with the last that has them.
    tensor.owner = std::make_shared<
        std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
        host.values, std::move(room));
    hook->SaveArriving("w", tensor);
    EXPECT_EQ(hook->Reserve(names, half, /*waits=*/false), nullptr);
    host.arrival->Tell();
  }
  hook->EndStep();
  EXPECT_NE(hook->Reserve(names, half, /*waits=*/true), nullptr);
  EXPECT_EQ(hook->stats().dropped, 0);
}

TEST_F(HookArrivingTest, WithoutRoomEachTensorIsDroppedAndCounted) {
  const uint64_t budget = uint64_t{2} << 20;
  auto hook = Open(SaveEverything(),
                   {.buffer_bytes = budget, .on_full = OnFull::kDrop});
  const std::string_view names[] = {"a", "b"};
  hook->BeginStep();
  // More than there is at all is had while nothing else is.
  const auto all = hook->Reserve(names, 4 * budget, /*waits=*/true);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(hook->Reserve(names, budget, /*waits=*/true), nullptr);
  EXPECT_EQ(hook->stats().dropped, 2);
}

TEST_F(HookArrivingTest, RoomMayOutliveTheHook) {
  auto hook = Open(SaveEverything());
  const std::string_view names[] = {"w"};
  hook->BeginStep();
  auto room = hook->Reserve(names, 8, /*waits=*/true);
  hook.reset();
  EXPECT_NE(std::exchange(room, nullptr), nullptr);
}

TEST_F(HookArrivingTest, ATensorOfAnotherStepIsDropped) {
  auto hook = Open(SaveEverything());
  const Host host(1);
  host.Arrive({1});
  ArrivingTensor tensor = host.Tensor();
  tensor.step = 0;
  hook->BeginStep();
  hook->BeginStep();
  hook->SaveArriving("w", tensor);
  hook->Close();
  EXPECT_THAT(Steps(*storage_), IsEmpty());
  EXPECT_EQ(hook->stats().dropped, 1);
  hook->SaveArriving("w", host.Tensor());
  EXPECT_EQ(hook->stats().dropped, 2);
}

TEST_F(HookArrivingTest, ATensorOfItsOwnCollectionsMayWaitForTheNextStep) {
  auto hook = Open(SaveEverything());
  const Host now(1);
  const Host next(1);
  ArrivingTensor tensor = now.Tensor();
  tensor.collections = {"mine"};
  hook->BeginStep();
  hook->SaveArriving("now", tensor);
  tensor = next.Tensor();
  tensor.collections = {"mine"};
  tensor.for_next_step = true;
  hook->SaveArriving("next", tensor);
  hook->BeginStep();
  hook->EndStep();
  now.Arrive({1});
  next.Arrive({2});
  hook->Close();
  EXPECT_THAT(Read(0, "now"), ElementsAre(1));
  EXPECT_THAT(Read(1, "next"), ElementsAre(2));
  EXPECT_THAT(hook->GetCollection("mine")->tensor_names,
              UnorderedElementsAre("now", "next"));
}

TEST_F(HookArrivingTest, ANumberArrivesForTheStepItWasSavedAt) {
  auto hook = Open(SaveEverything(), {.stuck_after = milliseconds(600)});
  const auto value = std::make_shared<double>(0);
  const auto small = std::make_shared<float>(0.5f);
  const auto arrival = std::make_shared<ToldArrival>();
  hook->BeginStep();
  SaveFloats(*hook, "w", {1});
  hook->SaveArriving(
      "loss", {.value = value.get(), .owner = value, .arrival = arrival});
  hook->SaveArriving("small",
                     {.value = small.get(), .is_float = true, .owner = small});
  hook->SaveArriving("never", {.value = value.get(),
                               .owner = value,
                               .arrival = std::make_shared<ToldArrival>()});
  hook->EndStep();
  *value = 2.5;
  arrival->Tell();
  hook->Close();
  const auto values = ReadStep(*storage_, 0);
  EXPECT_THAT(values.at("scalar/loss").As<double>(), ElementsAre(2.5));
  EXPECT_THAT(values.at("scalar/small").As<double>(), ElementsAre(0.5));
  EXPECT_EQ(hook->stats().lost, 1);
}

TEST_F(HookArrivingTest, ATensorWithoutElementsNeedNotCome) {
  for (const HookConfig& config :
       {SaveEverything(), Reduced({{ReductionOp::kMean}})}) {
    storage_ = OpenMemoryStorage();
    auto hook = Open(config);
    const int64_t shape[] = {0, 3};
    hook->BeginStep();
    hook->SaveArriving("empty", {.shape = shape});
    const std::vector<float> nothing;
    hook->Save("ordinary", ViewOf<float>(nothing, shape));
    hook->Close();
    auto shapes = testing::ReadIndex(*storage_, 0)->shapes;
    ASSERT_EQ(shapes.size(), 2);
    shapes[0].name = shapes[1].name;
    shapes[0].original_name = shapes[1].original_name;
    EXPECT_EQ(shapes[0], shapes[1]);
    EXPECT_EQ(hook->stats().lost, 0);
  }
}

TEST_F(HookArrivingTest, AHookThatWritesNothingTakesNothing) {
  HookConfig config = SaveEverything();
  config.dry_run = true;
  auto hook = Open(config);
  const Host never(1);
  const std::string_view names[] = {"w"};
  hook->BeginStep();
  EXPECT_FALSE(hook->WantedOf("w").anything);
  EXPECT_FALSE(hook->WantedOf("w", names).anything);
  EXPECT_EQ(hook->Reserve(names, 1, /*waits=*/true), nullptr);
  hook->SaveArriving("w", never.Tensor());
  hook->Close();
  EXPECT_EQ(hook->stats().dropped, 0);
}

TEST_F(HookArrivingTest, AForkedChildLeavesEverythingToItsParent) {
  auto hook = Open(SaveEverything());
  const Host host(1);
  const std::string_view names[] = {"w"};
  hook->BeginStep();
  auto room = hook->Reserve(names, 8, /*waits=*/true);
  hook->SaveArriving("w", host.Tensor());
  hook->EndStep();
  const pid_t child = fork();
  if (child == 0) {
    hook->SaveArriving("other", host.Tensor());
    const bool is_inert = !hook->WantedOf("w").anything &&
                          hook->Reserve(names, 1, /*waits=*/true) == nullptr;
    room.reset();
    hook.reset();
    _exit(is_inert ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  host.Arrive({4});
  hook->Close();
  EXPECT_THAT(Read(0, "w"), ElementsAre(4));
}

}  // namespace
}  // namespace smdebug
