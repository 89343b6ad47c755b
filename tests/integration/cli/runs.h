#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "smdebug/hook.h"
#include "src/run/keys.h"
#include "src/run/ledger.h"
#include "tests/testing/cli.h"
#include "tests/testing/files.h"
#include "tests/testing/hook.h"
#include "tests/testing/temp_dir.h"

// Small runs for the tests of the commands, written by the hook itself.
namespace smdebug::testing {

inline size_t CountLines(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

// Saves weights, losses and gradients at every step; of gradients the mean and
// abs_max instead of the values.
inline HookConfig SmallRunConfig(std::string_view out_dir) {
  HookConfig config;
  config.out_dir = out_dir;
  config.include_collections = {"weights", "gradients"};
  config.save_config = SaveConfig::Every({.save_interval = 1});
  EditCollection(config, "gradients").reduction_config = ReductionConfig{
      .reductions = {{ReductionOp::kMean}, {ReductionOp::kMax, true}}};
  return config;
}

// The values of "fc.weight" at global step `step`: a tensor of shape (2, 3).
inline std::vector<float> WeightAt(int64_t step) {
  std::vector<float> values;
  for (int i = 0; i < 6; ++i) {
    values.push_back(static_cast<float>(step) + 0.25f * static_cast<float>(i));
  }
  return values;
}

inline void SaveMatrix(Hook& hook, std::string_view name,
                       const std::vector<float>& values) {
  const int64_t shape[] = {2, static_cast<int64_t>(values.size()) / 2};
  hook.Save(name, ViewOf<float>(values, shape));
}

// Steps 0 to 3 of TRAIN, then 4 and 5, which are 0 and 1 of EVAL. At each:
// "fc.weight", the value (2, 3); "gradient/fc.weight", reduced, in TRAIN only;
// "scalar/loss", which is 1 / (step + 1). `change` may alter the weights.
inline void WriteSmallRun(
    std::string_view out_dir,
    const std::function<void(int64_t, std::vector<float>&)>& change = {},
    const Worker& worker = {}) {
  HookConfig config = SmallRunConfig(out_dir);
  if (worker.count > 1) config.include_workers = IncludeWorkers::kAll;
  Hook hook(config, worker);
  for (int64_t step = 0; step < 6; ++step) {
    hook.SetMode(step < 4 ? Mode::kTrain : Mode::kEval);
    hook.BeginStep();
    std::vector<float> weight = WeightAt(step);
    if (change) change(step, weight);
    SaveMatrix(hook, "fc.weight", weight);
    SaveFloats(hook, "gradient/fc.weight",
               {-2, 0, 1, static_cast<float>(step)});
    hook.SaveScalar("loss", 1.0 / static_cast<double>(step + 1));
  }
  hook.Close();
}

// Rewrites the ledger of a finished run's only worker.
inline void EditLedger(const std::string& run,
                       const std::function<void(run::Ledger&)>& edit) {
  const std::string key = run::LedgerKey("worker_0");
  run::Ledger ledger = run::ParseLedger(ReadFile(run + "/" + key), key);
  edit(ledger);
  WriteFile(run + "/" + key, ToJson(ledger));
}

// Makes a finished run one whose process was killed before it closed it.
inline void MakeKilled(const std::string& run) {
  std::filesystem::remove(run + "/" + std::string(run::kEndMarkerKey));
  EditLedger(run, [](run::Ledger& ledger) {
    ledger.closed = false;
    ledger.ending.clear();
    ledger.pid = 0x3FFF'FFFF;  // Above what Linux gives out.
  });
}

// Tests that read one small run, written once for all of them.
class SmallRunFixture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    WriteSmallRun(Run());
  }
  static void TearDownTestSuite() { delete dir_; }

  // A path in the folder that holds the run.
  static std::string Beside(std::string_view name) { return *dir_ / name; }
  static std::string Run() { return Beside("run"); }

  // Calls `smdebug <command> <run> <args>`.
  static CliOutcome CallOnRun(std::string_view command,
                              std::vector<std::string> args) {
    args.insert(args.begin(), {std::string(command), Run()});
    return CallCli(args);
  }

 private:
  static inline TempDir* dir_ = nullptr;
};

}  // namespace smdebug::testing
