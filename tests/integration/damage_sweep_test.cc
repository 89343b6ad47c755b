// Every truncation and every flipped bit of a small run: nothing crashes, hangs
// or yields a value that was not written, and damage is named.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/trial.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/observe.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using testing::GetFile;
using testing::Observation;
using testing::PutFile;
using testing::SaveEverything;

// Sanitizers make a sweep fifty times as slow; they get a sample.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStride = 31;
#else
constexpr size_t kStride = 1;
#endif

TrialOptions Quick() {
  TrialOptions options;
  options.wait_for_run = false;
  options.end_delay = std::chrono::milliseconds(0);
  options.missing_file_retries = 0;
  return options;
}

// A finished run with every kind of entry: values of several types, strings,
// reductions with counts, shapes, and scalars that ride.
void WriteRun(const std::shared_ptr<Storage>& storage) {
  HookConfig config = SaveEverything();
  config.save_config = SaveConfig::Every({.save_interval = 2});
  config.collections = {
      {.name = "reduced",
       .include_regex = {"^reduced"},
       .reduction_config =
           ReductionConfig{
               .reductions = {{ReductionOp::kMin}, {ReductionOp::kL2, true}}}},
      {.name = "shaped",
       .include_regex = {"^shaped"},
       .reduction_config = ReductionConfig{.save_shape = true}}};
  Hook hook(config, {}, {}, storage, nullptr);
  hook.SetMode(Mode::kTrain);
  for (int step = 0; step < 3; ++step) {
    hook.BeginStep();
    testing::SaveFloats(hook, "floats", {1.5f, float(step), -2});
    testing::SaveFloats(hook, "reduced", {4, float(step)});
    testing::SaveFloats(hook, "shaped", {1, 2, 3, 4, 5});
    const int64_t shape[] = {2};
    const std::vector<int16_t> shorts = {-7, int16_t(step)};
    hook.Save("shorts", ViewOf<int16_t>(shorts, shape));
    const std::vector<std::string_view> words = {"a", "b\xC3\xA4r"};
    hook.Save("words", ViewOf<std::string_view>(words, shape));
    hook.SaveScalar("loss", 1.0 / (step + 1));
  }
}

class DamageSweepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteRun(storage_);
    const Result whole = Read();
    ASSERT_THAT(whole.damage, ::testing::IsEmpty());
    whole_ = whole.seen;
    ASSERT_GT(whole_.size(), 40u);
  }

  struct Result {
    Observation seen;
    std::vector<Damage> damage;
  };

  // Reads the run as it is now. The store is lent to the trial.
  Result Read() {
    Result result;
    try {
      Trial trial(storage_, Quick());
      result.seen = testing::Observe(trial);
      result.damage = trial.damage();
    } catch (const Error& error) {
      result.damage.push_back({"", error.what()});
    }
    return result;
  }

  // What is read now was written, and what is missing is accounted for.
  // Returns whether damage was noticed.
  bool Check(const std::string& what) {
    const Result now = Read();
    for (const auto& [question, answer] : now.seen) {
      const auto expected = whole_.find(question);
      if (expected == whole_.end() || expected->second != answer) {
        ADD_FAILURE() << what << ": " << question << " is wrong";
      }
    }
    if (now.seen.size() < whole_.size() && now.damage.empty()) {
      ADD_FAILURE() << what << ": something is missing without a word";
    }
    return !now.damage.empty();
  }

  std::vector<std::string> Files(std::string_view prefix) const {
    std::vector<std::string> keys;
    for (const FileInfo& file : storage_->List(prefix)) {
      keys.push_back(file.key);
    }
    return keys;
  }

  // Calls `visit` with one bit of `key` flipped, for each or every `stride`th.
  template <typename Visit>
  void FlipBits(const std::string& key, size_t stride, Visit visit) {
    const std::string content = GetFile(*storage_, key).value();
    for (size_t bit = 0; bit < 8 * content.size(); bit += stride) {
      std::string flipped = content;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      PutFile(*storage_, key, flipped);
      visit(bit, content);
    }
    PutFile(*storage_, key, content);
  }

  std::shared_ptr<Storage> storage_ = OpenMemoryStorage();
  Observation whole_;
};

TEST_F(DamageSweepTest, EveryTruncationOfEveryFileIsNamed) {
  for (const char* folder : {"index/", "events/", "collections/"}) {
    for (const std::string& key : Files(folder)) {
      const std::string content = GetFile(*storage_, key).value();
      for (size_t length = 0; length < content.size(); length += kStride) {
        PutFile(*storage_, key, content.substr(0, length));
        const std::string what = fmt::format("{} cut at {}", key, length);
        EXPECT_TRUE(Check(what)) << what;
      }
      PutFile(*storage_, key, content);
    }
  }
}

TEST_F(DamageSweepTest, EveryFlippedBitOfAnEventFileIsNamed) {
  for (const std::string& key : Files("events/")) {
    FlipBits(key, kStride, [&](size_t bit, const std::string&) {
      const std::string what = fmt::format("{} bit {}", key, bit);
      EXPECT_TRUE(Check(what)) << what;
    });
  }
}

TEST_F(DamageSweepTest, EveryFlippedBitOfAnIndexIsNamedOrHarmless) {
  const std::string key = Files("index/").back();
  FlipBits(key, kStride, [&](size_t bit, const std::string& content) {
    const bool noticed = Check(fmt::format("{} bit {}", key, bit));
    // Only the name of the checksum's key can be flipped unnoticed.
    if (bit / 8 < content.rfind(", \"index_crc32c\"")) {
      EXPECT_TRUE(noticed) << bit;
    }
  });
}

TEST_F(DamageSweepTest, NoFlippedBitOfACollectionsFileChangesAValue) {
  for (const std::string& key : Files("collections/")) {
    FlipBits(key, 11 * kStride, [&](size_t bit, const std::string&) {
      Check(fmt::format("{} bit {}", key, bit));
    });
  }
}

TEST_F(DamageSweepTest, AMissingFileIsNamedOrItsStepIsMissing) {
  for (const std::string& key : Files("events/")) {
    const std::string content = GetFile(*storage_, key).value();
    storage_->Remove(key);
    EXPECT_TRUE(Check(key + " removed"));
    PutFile(*storage_, key, content);
  }
}

// Large values are mapped rather than read.
TEST(DamageMappedTest, ATruncatedMappedFileIsNamed) {
  const testing::TempDir dir;
  const std::string run = dir / "run";
  {
    Hook hook(SaveEverything(run));
    hook.BeginStep();
    testing::SaveFloats(hook, "large", std::vector<float>(1 << 18, 2.5f));
  }
  const std::string file =
      run + "/events/000000000000/000000000000_worker_0.tfevents";
  const std::string content = testing::ReadFile(file);
  const auto trial = Trial::Open(run, Quick());
  EXPECT_EQ(trial->tensor("large").At(0).Get(1000), 2.5);
  for (const size_t length : {content.size() - 1, content.size() / 2,
                              size_t{4096}, size_t{1}, size_t{0}}) {
    testing::WriteFile(file, std::string_view(content).substr(0, length));
    EXPECT_THROW(trial->tensor("large").At(0), FormatError) << length;
  }
  std::string flipped = content;
  for (const size_t at :
       {size_t{20}, content.size() / 3, content.size() - 50}) {
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    testing::WriteFile(file, flipped);
    EXPECT_THROW(trial->tensor("large").At(0), FormatError) << at;
    flipped[at] = content[at];
  }
  testing::WriteFile(file, content);
  EXPECT_EQ(trial->tensor("large").At(0).Get(1000), 2.5);
}

}  // namespace
}  // namespace smdebug
