#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "src/hook/recorder.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/hook.h"

// What a hook holds while its store does not answer.
namespace smdebug::hook {
namespace {

using smdebug::testing::FaultStorage;
using smdebug::testing::Operation;
using smdebug::testing::SaveEverything;
using std::chrono::milliseconds;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBudget = 2 * kMiB;

// Reductions only, and no bytes.
HookConfig Reduced() {
  HookConfig config = SaveEverything();
  config.reduction_config =
      ReductionConfig{.reductions = {{ReductionOp::kMax}}};
  return config;
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Sanitizers keep what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsTrue = false;
#else
constexpr bool kMemoryIsTrue = true;
#endif

class HookMemoryTest : public ::testing::Test {
 protected:
  // A recorder whose thread hangs in the store from the first step on. It stays
  // behind, with all it needs, as a hook leaves it.
  Recorder& OpenStuck(const HookConfig& config, OnFull on_full) {
    const auto store = std::make_shared<FaultStorage>(OpenMemoryStorage());
    auto* const recorder =
        new Recorder(config, {},
                     RuntimeOptions{.buffer_bytes = kBudget,
                                    .on_full = on_full,
                                    .stuck_after = milliseconds(10)},
                     store, nullptr);
    Stuck().push_back(recorder);
    store->plan().Block(Operation::kCreate);
    return *recorder;
  }

  static void SaveSteps(Recorder& recorder, int steps) {
    const std::vector<float> values(8, 1.0f);
    const int64_t shape[] = {8};
    for (int step = 0; step < steps; ++step) {
      recorder.BeginStep(std::nullopt);
      for (const std::string& name : Names()) {
        recorder.Save(name, ViewOf<float>(values, shape));
      }
    }
  }

  static const std::vector<std::string>& Names() {
    static const auto* const names = [] {
      auto* all = new std::vector<std::string>;
      for (int i = 0; i < 200; ++i) {
        all->push_back("layer" + std::to_string(i) + ".weight");
      }
      return all;
    }();
    return *names;
  }

 private:
  // Reachable, so that nobody takes them for leaks.
  static std::vector<Recorder*>& Stuck() {
    static auto* const all = new std::vector<Recorder*>;
    return *all;
  }
};

TEST_F(HookMemoryTest, ReductionsStayWithinTheBudget) {
  for (const OnFull on_full : {OnFull::kDrop, OnFull::kBlock}) {
    Recorder& recorder = OpenStuck(Reduced(), on_full);
    SaveSteps(recorder, 10);
    const uint64_t before = ResidentBytes();
    SaveSteps(recorder, 500);  // 43 MiB, if all of it were kept.
    if (kMemoryIsTrue) {
      EXPECT_LE(ResidentBytes(), before + kBudget + 8 * kMiB);
    }
    EXPECT_LE(recorder.held_bytes(),
              kBudget + BufferPool::kFreeBytes + size_t{64} * 1024);
    EXPECT_GE(recorder.held_bytes(), kBudget);
    // Counted as they are dropped.
    EXPECT_GT(recorder.stats().dropped, 400 * 200);
    // Nobody waits again for a writer that was found stuck.
    EXPECT_EQ(recorder.stats().stalls, on_full == OnFull::kBlock ? 1 : 0);
  }
}

TEST_F(HookMemoryTest, ScalarsStayWithinTheBudget) {
  Recorder& recorder = OpenStuck(Reduced(), OnFull::kDrop);
  const int kSteps = 50'000;
  for (int step = 0; step < kSteps; ++step) {
    recorder.BeginStep(std::nullopt);
    recorder.SaveScalar("loss", step, {});
  }
  EXPECT_LE(recorder.held_bytes(),
            kBudget + BufferPool::kFreeBytes + size_t{64} * 1024);
  EXPECT_GT(recorder.stats().dropped, kSteps / 2);
}

TEST_F(HookMemoryTest, WhatIsPublishedGivesItsRoomBack) {
  auto recorder = std::make_unique<Recorder>(
      Reduced(), Worker{}, RuntimeOptions{.buffer_bytes = kBudget},
      OpenMemoryStorage(), nullptr);
  SaveSteps(*recorder, 300);
  recorder->Close(Ending::kFinished, {});
  EXPECT_EQ(recorder->stats().dropped, 0);
  EXPECT_EQ(recorder->stats().values_saved, 300 * 200);
  // What is kept for the next tensor, at most.
  EXPECT_LE(recorder->held_bytes(), 64u * 1024);
}

}  // namespace
}  // namespace smdebug::hook
