#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

namespace smdebug {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using testing::ReadStep;
using testing::SaveEverything;

using TensorNameTest = testing::HookFixture;

void SaveOne(Hook& hook, TensorName& name) {
  const float value = 1;
  hook.Save(name, ViewOf<float>({&value, 1}, {}));
}

// Saves what `regex` matches at each step that is a multiple of `interval`.
HookConfig SaveMatching(std::string_view regex, int64_t interval) {
  HookConfig config;
  config.out_dir = "unused";
  config.include_collections = {"mine"};
  config.collections = {
      {.name = "mine", .include_regex = {std::string(regex)}}};
  config.save_config = SaveConfig::Every({.save_interval = interval});
  return config;
}

TEST_F(TensorNameTest, SavesAtTheStepsAtWhichItsTextIsDue) {
  TensorName a("a");
  TensorName b("b");
  auto hook = Open(SaveMatching("^a$", 2));
  EXPECT_FALSE(hook->IsDue(a));
  for (int64_t step = 0; step < 4; ++step) {
    hook->BeginStep();
    EXPECT_EQ(hook->IsDue(a), step % 2 == 0);
    EXPECT_FALSE(hook->IsDue(b));
    SaveOne(*hook, a);
    SaveOne(*hook, b);
  }
  hook->Close();
  EXPECT_FALSE(hook->IsDue(a));
  EXPECT_EQ(hook->stats().steps_saved, 2);
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("a")));
  EXPECT_THAT(ReadStep(*storage_, 2), ElementsAre(Key("a")));
  EXPECT_THAT(hook->GetCollection("mine")->tensor_names, ElementsAre("a"));
}

TEST_F(TensorNameTest, IsGoodForAnyHook) {
  TensorName name("a");
  auto saves = Open(SaveMatching("^a$", 1));
  saves->BeginStep();
  EXPECT_TRUE(saves->IsDue(name));
  const auto other_storage = OpenMemoryStorage();
  Hook ignores(SaveMatching("^b$", 1), {}, {}, other_storage, nullptr);
  ignores.BeginStep();
  EXPECT_FALSE(ignores.IsDue(name));
  EXPECT_TRUE(saves->IsDue(name));
  // What it knows of a hook that is gone is not used for the next.
  saves->Abandon();
  saves = Open(SaveMatching("^b$", 1));
  saves->BeginStep();
  EXPECT_FALSE(saves->IsDue(name));
}

TEST_F(TensorNameTest, OutlivesWhatTheHookForgets) {
  TensorName name("a");
  auto hook = Open(SaveEverything());
  hook->BeginStep();
  EXPECT_TRUE(hook->IsDue(name));
  for (int i = 0; i < 200'000; ++i) hook->IsDue("x" + std::to_string(i));
  EXPECT_TRUE(hook->IsDue(name));
  SaveOne(*hook, name);
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("a")));
}

TEST_F(TensorNameTest, IsDueAsItsTextIsHoweverManySetsOfCollectionsAreDue) {
  // Collection i is due at the steps that have bit i set: each step has a set
  // of its own.
  constexpr int64_t kSteps = 4200;
  HookConfig config;
  config.out_dir = "unused";
  for (int i = 0; int64_t{1} << i < kSteps; ++i) {
    std::vector<int64_t> steps;
    for (int64_t step = 0; step < kSteps; ++step) {
      if ((step >> i & 1) != 0) steps.push_back(step);
    }
    const std::string name = "c" + std::to_string(i);
    config.include_collections.push_back(name);
    config.collections.push_back(
        {.name = name,
         .include_regex = {i == 0 ? "^a$" : "^b$"},
         .save_config = SaveConfig::Every(
             {.save_interval = 1'000'000, .save_steps = steps})});
  }
  TensorName name("a");
  auto hook = Open(config);
  for (int64_t step = 0; step < kSteps; ++step) {
    hook->BeginStep();
    ASSERT_EQ(hook->IsDue(name), hook->IsDue("a")) << "step " << step;
  }
}

// The original name of `name` in the index of step 0; nothing without an entry.
std::string OriginalAt0(const Storage& storage, std::string_view name) {
  const auto index = testing::ReadIndex(storage, 0);
  for (const auto& entry : index->shapes) {
    if (entry.name == name) return entry.original_name;
  }
  return "";
}

TEST_F(TensorNameTest, TheOriginalNameIsKeptBesideTheShape) {
  HookConfig config = SaveEverything();
  config.reduction_config = ReductionConfig{.save_shape = true};
  auto hook = Open(config);
  const float value = 1;
  const TensorView view = ViewOf<float>({&value, 1}, {});
  TensorName kernel("conv/weights/conv/kernel:0", "conv/kernel:0");
  hook->BeginStep();
  hook->Save(kernel, view);
  hook->Save("gradients/conv/kernelGrad", view, {.original_name = "AddN_3:0"});
  hook->Save("plain", view);
  hook->Close();
  EXPECT_EQ(OriginalAt0(*storage_, kernel.text()), "conv/kernel:0");
  EXPECT_EQ(OriginalAt0(*storage_, "gradients/conv/kernelGrad"), "AddN_3:0");
  EXPECT_EQ(OriginalAt0(*storage_, "plain"), "plain");
}

TEST_F(TensorNameTest, TheOriginalNameMatchesNothing) {
  auto hook = Open(SaveMatching("kernel", 1));
  const float value = 1;
  const TensorView view = ViewOf<float>({&value, 1}, {});
  hook->BeginStep();
  hook->Save("a", view, {.original_name = "kernel:0"});
  hook->Save("kernel", view, {.original_name = "a"});
  hook->Close();
  EXPECT_THAT(ReadStep(*storage_, 0), ElementsAre(Key("kernel")));
}

}  // namespace
}  // namespace smdebug
