#include "src/hook/selector.h"

#include <array>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::hook {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Stamp Train(int64_t step) { return {step, Mode::kTrain, step}; }

SaveConfig Every(int64_t interval) {
  return SaveConfig::Every({.save_interval = interval});
}

HookConfig ConfigWith(std::vector<Collection> collections) {
  HookConfig config;
  config.out_dir = "unused";
  config.save_config = Every(10);
  for (Collection& collection : collections) {
    config.include_collections.push_back(collection.name);
    config.collections.push_back(std::move(collection));
  }
  return config;
}

// Who joined a collection since the last time.
std::vector<CollectionChanges::Member> Joined(Selector& selector) {
  const auto changes = selector.TakeChanges();
  if (changes == nullptr) return {};
  return changes->joined;
}

TEST(SelectorTest, ATensorIsSavedWhenACollectionOfItsIsDue) {
  const HookConfig config = ConfigWith(
      {{.name = "often", .include_regex = {"^a"}, .save_config = Every(2)},
       {.name = "seldom", .include_regex = {"b$"}, .save_config = Every(3)}});
  Selector selector(config);
  const auto saved = [&](std::string_view name, int64_t step) {
    selector.BeginStep(Train(step));
    return selector.FormNow(*selector.Find(name)) != nullptr;
  };
  EXPECT_TRUE(saved("ax", 2));
  EXPECT_FALSE(saved("ax", 3));
  EXPECT_TRUE(saved("xb", 3));
  EXPECT_TRUE(saved("ab", 2) && saved("ab", 3) && saved("ab", 6));
  EXPECT_FALSE(saved("ab", 5));
  EXPECT_FALSE(saved("other", 6));
}

TEST(SelectorTest, APrefixIsDueIfAnyNumberAfterItIs) {
  const HookConfig config =
      ConfigWith({{.name = "often",
                   .include_regex = {"relu_output"},
                   .save_config = Every(2)},
                  {.name = "seldom",
                   .include_regex = {"fc_input_(1[0-9]|42)$"},
                   .save_config = Every(3)}});
  Selector selector(config);
  EXPECT_FALSE(selector.AnyIsDue("relu_output_"));
  selector.BeginStep(Train(2));
  EXPECT_TRUE(selector.AnyIsDue("block.relu_output_"));
  EXPECT_FALSE(selector.AnyIsDue("block.relu_input_"));
  EXPECT_FALSE(selector.AnyIsDue("fc_input_"));
  const uint64_t key = selector.due_key();
  selector.BeginStep(Train(3));
  EXPECT_FALSE(selector.AnyIsDue("block.relu_output_"));
  EXPECT_TRUE(selector.AnyIsDue("fc_input_"));
  EXPECT_NE(selector.due_key(), key);
  selector.BeginStep(Train(4));
  EXPECT_EQ(selector.due_key(), key);
  selector.BeginStep(Train(5));
  EXPECT_EQ(selector.due_key(), 0U);
  // Looking does not make anything a member.
  EXPECT_THAT(Joined(selector), IsEmpty());
}

TEST(SelectorTest, NothingIsDueBetweenSteps) {
  const HookConfig config = ConfigWith({{.name = "c", .include_regex = {"."}}});
  Selector selector(config);
  EXPECT_FALSE(selector.AnythingDue());
  selector.BeginStep(Train(10));
  EXPECT_TRUE(selector.AnythingDue());
  selector.EndStep();
  EXPECT_FALSE(selector.AnythingDue());
  EXPECT_EQ(selector.FormNow(*selector.Find("x")), nullptr);
}

TEST(SelectorTest, GradientsAreNotDueOutsideTraining) {
  HookConfig config = ConfigWith({});
  config.include_collections = {"gradients", "weights"};
  Selector selector(config);
  const auto saved = [&](std::string_view name, Mode mode) {
    selector.BeginStep({0, mode, 0});
    return selector.FormNow(*selector.Find(name)) != nullptr;
  };
  for (const Mode mode : kModes) {
    const bool training = mode == Mode::kTrain || mode == Mode::kGlobal;
    EXPECT_EQ(saved("gradient/w", mode), training);
    EXPECT_TRUE(saved("weight", mode));
  }
}

TEST(SelectorTest, OnlyTheDueCollectionsDecideTheForm) {
  const Reduction mean = {ReductionOp::kMean, false};
  const Reduction max = {ReductionOp::kMax, true};
  const HookConfig config = ConfigWith(
      {{.name = "reduced",
        .include_regex = {"x"},
        .reduction_config = ReductionConfig{.reductions = {mean}},
        .save_config = Every(2)},
       {.name = "more",
        .include_regex = {"x"},
        .reduction_config = ReductionConfig{.reductions = {max, mean},
                                            .save_raw_tensor = true,
                                            .save_shape = true},
        .save_config = Every(4)}});
  Selector selector(config);
  selector.BeginStep(Train(2));
  const auto at_two = selector.FormNow(*selector.Find("x"));
  EXPECT_THAT(at_two->reductions, ElementsAre(mean));
  EXPECT_FALSE(at_two->raw || at_two->shape);
  EXPECT_THAT(at_two->reduction_names,
              ElementsAre("smdebug/reductions/mean/x"));
  selector.BeginStep(Train(4));
  const auto at_four = selector.FormNow(*selector.Find("x"));
  EXPECT_THAT(at_four->reductions, UnorderedElementsAre(max, mean));
  EXPECT_TRUE(at_four->raw && at_four->shape);
}

TEST(SelectorTest, ANameIsMatchedOnceAndToldOnce) {
  const HookConfig config = ConfigWith({{.name = "c", .include_regex = {"x"}}});
  Selector selector(config);
  const auto first = selector.Find("x1");
  EXPECT_EQ(selector.Find("x1"), first);
  EXPECT_THAT(Joined(selector), IsEmpty());
  selector.MakeMember(*first);
  const auto told = Joined(selector);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].collection, "c");
  EXPECT_EQ(told[0].name, "x1");
  selector.MakeMember(*selector.Find("x1"));
  EXPECT_THAT(Joined(selector), IsEmpty());
}

TEST(SelectorTest, JoiningHonoursTheScheduleOfEachCollection) {
  const HookConfig config = ConfigWith(
      {{.name = "a", .include_regex = {"^never$"}, .save_config = Every(2)},
       {.name = "b", .include_regex = {"^never$"}, .save_config = Every(3)}});
  Selector selector(config);
  const std::array<std::string_view, 2> both = {"a", "b"};
  const auto saved = [&](int64_t step) {
    std::shared_ptr<TensorPlan> tensor;
    selector.BeginStep(Train(step));
    return selector.Join("t", both, Train(step), tensor) != nullptr;
  };
  EXPECT_TRUE(saved(2) && saved(3) && saved(6));
  EXPECT_FALSE(saved(1) || saved(5));
  EXPECT_EQ(Joined(selector).size(), 2u);
}

TEST(SelectorTest, JoiningMakesAMissingCollection) {
  const HookConfig config = ConfigWith({});
  Selector selector(config);
  const std::array<std::string_view, 1> fresh = {"fresh"};
  std::shared_ptr<TensorPlan> tensor;
  EXPECT_EQ(selector.Join("t", fresh, Train(1), tensor), nullptr);
  const auto form = selector.Join("t", fresh, Train(10), tensor);
  ASSERT_NE(form, nullptr);
  EXPECT_TRUE(form->raw);
  EXPECT_TRUE(selector.plan().contains("fresh"));
}

TEST(SelectorTest, TheHistogramTagNamesAKindOfTensorIfThereIsOne) {
  HookConfig config = ConfigWith({});
  config.export_tensorboard = true;
  config.save_all = true;
  config.include_collections = {"weights"};
  Selector selector(config);
  selector.BeginStep(Train(0));
  EXPECT_EQ(selector.FormNow(*selector.Find("fc.weight"))->histogram_tag,
            "weights/fc.weight");
  EXPECT_EQ(selector.FormNow(*selector.Find("fc:0"))->histogram_tag,
            "all/fc_0");
}

TEST(SelectorTest, EndlessNewNamesDoNotGrowItWithoutBound) {
  const HookConfig config = ConfigWith({{.name = "c", .include_regex = {"x"}}});
  Selector selector(config);
  constexpr int kNames = 200'000;
  for (int i = 0; i < kNames; ++i) selector.Find("x" + std::to_string(i));
  const auto& names = selector.plan().at("c").collection.tensor_names;
  EXPECT_LT(names.size(), size_t{kNames});
  selector.BeginStep(Train(0));
  EXPECT_NE(selector.FormNow(*selector.Find("x199999")), nullptr);
}

}  // namespace
}  // namespace smdebug::hook
