#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "src/record/tensor_event.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/run.h"

// Tensors of one step with the same content: what one layer gives is what the
// next one takes.
namespace smdebug {
namespace {

using ::testing::Each;
using testing::ReadIndex;
using testing::SaveEverything;
using testing::SaveFloats;
using testing::SaveFloatsTo;
using ::testing::SizeIs;

constexpr size_t kLarge = 8192;  // 32 KiB.

class HookSharingTest : public testing::HookFixture {
 protected:
  // The entry of `name` at a step.
  index::TensorEntry EntryAt(int64_t step, const std::string& name) {
    const auto index = ReadIndex(*storage_, step);
    for (const auto& entry : index->tensors) {
      if (entry.name == name) return entry;
    }
    ADD_FAILURE() << name << " is not in the index";
    return {};
  }

  // What is where the index says that `name` is.
  std::vector<float> Read(const std::string& name, int64_t step) {
    const index::Location location = EntryAt(step, name).location;
    const std::string key = ReadIndex(*storage_, step)->event_file;
    const auto blob = storage_->Read(key, location.start, location.length);
    const auto decoded = record::DecodeTensorRecord(blob->bytes, key);
    std::vector<float> floats(decoded.content.size() / sizeof(float));
    std::memcpy(floats.data(), decoded.content.data(), decoded.content.size());
    return floats;
  }
};

TEST_F(HookSharingTest, TheSameBytesAreStoredOnce) {
  auto hook = Open(SaveEverything());
  const std::vector<float> values(kLarge, 1.5f);
  hook->BeginStep();
  SaveFloats(*hook, "a_output_0", values);
  SaveFloats(*hook, "b_input_0", values);
  SaveFloatsTo(*hook, "by_hand", values, {"mine"});
  hook->Close();
  const auto first = EntryAt(0, "a_output_0");
  EXPECT_EQ(first.stored_as, "");
  for (const std::string name : {"b_input_0", "by_hand"}) {
    const auto entry = EntryAt(0, name);
    EXPECT_EQ(entry.location, first.location);
    EXPECT_EQ(entry.stored_as, "a_output_0");
    EXPECT_EQ(Read(name, 0), values);
  }
  EXPECT_LT(hook->stats().bytes_saved, 2 * kLarge * sizeof(float));
  EXPECT_EQ(hook->stats().values_saved, 3);
}

TEST_F(HookSharingTest, OneTensorOfManyNamesIsStoredOnceHoweverSmall) {
  for (const size_t count : {size_t{3}, kLarge}) {
    auto hook = Open(SaveEverything());
    std::vector<float> values(count, 1.5f);
    const std::vector<std::string_view> names = {"a", "b", "c"};
    hook->BeginStep();
    SaveFloats(*hook, "other", std::vector<float>(count, 2));
    const int64_t shape[] = {static_cast<int64_t>(count)};
    hook->SaveAs(names, {values.data(), DType::kFloat32, shape, {}});
    values.assign(count, 0);  // What was saved is a copy.
    hook->Close();
    EXPECT_EQ(EntryAt(0, "a").stored_as, "");
    for (const std::string name : {"b", "c"}) {
      EXPECT_EQ(EntryAt(0, name).location, EntryAt(0, "a").location);
      EXPECT_EQ(EntryAt(0, name).stored_as, "a");
    }
    EXPECT_EQ(Read("c", 0), std::vector<float>(count, 1.5f));
    EXPECT_EQ(Read("other", 0), std::vector<float>(count, 2));
    EXPECT_EQ(hook->stats().values_saved, 4);
    storage_ = OpenMemoryStorage();
  }
}

TEST_F(HookSharingTest, ManyNamesWithReductionsOnlyAreEachReduced) {
  HookConfig config = SaveEverything();
  ReductionConfig form;
  form.reductions = {{ReductionOp::kMax}};
  config.reduction_config = form;
  auto hook = Open(config);
  const std::vector<float> values(kLarge, 4);
  const std::vector<std::string_view> names = {"a", "b"};
  const int64_t shape[] = {kLarge};
  hook->BeginStep();
  hook->SaveAs(names, {values.data(), DType::kFloat32, shape, {}});
  hook->Close();
  EXPECT_NE(EntryAt(0, "smdebug/reductions/max/a").location,
            EntryAt(0, "smdebug/reductions/max/b").location);
}

TEST_F(HookSharingTest, WhatWasChangedInPlaceIsStoredAnew) {
  auto hook = Open(SaveEverything());
  std::vector<float> values(kLarge, 1.5f);
  hook->BeginStep();
  SaveFloats(*hook, "before", values);
  values.back() = 2;
  SaveFloats(*hook, "after", values);
  SaveFloats(*hook, "again", values);
  hook->Close();
  EXPECT_EQ(EntryAt(0, "after").stored_as, "");
  EXPECT_EQ(EntryAt(0, "again").stored_as, "after");
  EXPECT_EQ(Read("before", 0).back(), 1.5f);
  EXPECT_EQ(Read("after", 0).back(), 2);
  EXPECT_EQ(Read("again", 0).back(), 2);
}

TEST_F(HookSharingTest, ANameWithTwoContentsDoesNotMixThem) {
  auto hook = Open(SaveEverything());
  std::vector<float> first(kLarge, 1);
  const std::vector<float> second(kLarge, 2);
  hook->BeginStep();
  SaveFloats(*hook, "a", first);
  SaveFloats(*hook, "a", second);
  SaveFloats(*hook, "like_first", first);
  hook->Close();
  EXPECT_THAT(Read("like_first", 0), Each(1));
}

TEST_F(HookSharingTest, NothingIsSharedOverSteps) {
  auto hook = Open(SaveEverything());
  const std::vector<float> values(kLarge, 1);
  for (int step = 0; step < 2; ++step) {
    hook->BeginStep();
    SaveFloats(*hook, "a", values);
  }
  hook->Close();
  EXPECT_EQ(EntryAt(1, "a").location.start, 0u);
  EXPECT_EQ(EntryAt(1, "a").stored_as, "");
}

TEST_F(HookSharingTest, AnotherShapeOrTypeIsNotTheSame) {
  auto hook = Open(SaveEverything());
  const std::vector<float> values(kLarge, 0);
  const int64_t flat[] = {kLarge};
  const int64_t table[] = {2, kLarge / 2};
  const int64_t strides[] = {1, 2};  // Not dense.
  hook->BeginStep();
  hook->Save("flat", {values.data(), DType::kFloat32, flat, {}});
  hook->Save("table", {values.data(), DType::kFloat32, table, {}});
  hook->Save("whole", {values.data(), DType::kInt32, flat, {}});
  hook->Save("turned", {values.data(), DType::kFloat32, table, strides});
  hook->Close();
  const auto index = ReadIndex(*storage_, 0);
  for (const auto& entry : index->tensors) {
    EXPECT_EQ(entry.stored_as, "") << entry.name;
  }
}

TEST_F(HookSharingTest, ReductionsAreOfEachName) {
  HookConfig config = SaveEverything();
  ReductionConfig form;
  form.reductions = {{ReductionOp::kMax}};
  form.save_raw_tensor = true;
  config.reduction_config = form;
  auto hook = Open(config);
  const std::vector<float> values(kLarge, 4);
  hook->BeginStep();
  SaveFloats(*hook, "a", values);
  SaveFloats(*hook, "b", values);
  hook->Close();
  EXPECT_EQ(EntryAt(0, "b").stored_as, "a");
  EXPECT_EQ(Read("b", 0), values);
  EXPECT_NE(EntryAt(0, "smdebug/reductions/max/a").location,
            EntryAt(0, "smdebug/reductions/max/b").location);
  EXPECT_THAT(ReadIndex(*storage_, 0)->counts, SizeIs(2));
}

TEST_F(HookSharingTest, ManyLargeTensorsFitThroughASmallBuffer) {
  RuntimeOptions runtime;
  runtime.buffer_bytes = 512 << 10;
  auto hook = Open(SaveEverything(), runtime);
  std::vector<std::vector<float>> layers;
  hook->BeginStep();
  for (int i = 0; i < 50; ++i) {
    layers.emplace_back(kLarge, static_cast<float>(i));
    SaveFloats(*hook, "output_" + std::to_string(i), layers.back());
    SaveFloats(*hook, "input_" + std::to_string(i + 1), layers.back());
  }
  hook->Close();
  EXPECT_EQ(hook->stats().dropped, 0);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(Read("input_" + std::to_string(i + 1), 0), Each(i));
  }
}

}  // namespace
}  // namespace smdebug
