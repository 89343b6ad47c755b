// Judging a finished run, by one rule and by ten together, and how soon a rule
// inside the hook knows.
//
// The run is written once, by our hook, into the folder `runs` of
// SMDEBUG_BENCH_DIR, where smdebug 1.0 finds it to judge the same.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/bench_run.h"
#include "smdebug/guard.h"
#include "smdebug/hook.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/trial.h"

namespace smdebug {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kSteps = 1000;
constexpr size_t kGradients = 50;
constexpr size_t kBytes = 4 * bench::kKiB;

// The folder of a finished run with gradients alone, which move from step to
// step and are well. Its name is known to reference_bench.py.
std::string Gradients() {
  const fs::path folder = bench::BenchDir() / "runs" / "gradients";
  if (fs::exists(folder / "training_job_end.ts")) return folder;
  fs::remove_all(folder);
  HookConfig config;
  config.out_dir = folder;
  config.save_config = SaveConfig::Every({.save_interval = 1});
  Collection gradients;
  gradients.name = "gradients";
  gradients.include_regex = {"^gradient/"};
  config.collections = {gradients};
  config.include_collections = {"gradients"};
  Hook hook(config);
  std::vector<float> values(kBytes / sizeof(float));
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  for (int step = 0; step < kSteps; ++step) {
    hook.BeginStep();
    for (size_t i = 0; i < kGradients; ++i) {
      for (size_t j = 0; j < values.size(); ++j) {
        values[j] = 1e-3f * static_cast<float>((j * 7 + i * 3) % 11 + 1) /
                    static_cast<float>(step + 1);
      }
      hook.Save("gradient/layer" + std::to_string(i) + ".weight",
                ViewOf<float>(values, shape));
    }
  }
  hook.Close();
  return folder;
}

const std::vector<std::string> kOne = {"VanishingGradient"};

// Ten questions about the same tensors, none of which is answered by a finding.
const std::vector<std::string> kTen = {
    "VanishingGradient",
    "VanishingGradient:robust=true",
    "ExplodingTensor",
    "ExplodingTensor:collection_names=gradients:only_nan=true",
    "AllZero:collection_names=gradients",
    "AllZero:tensor_regex=^gradient/:threshold=50",
    "TensorVariance:collection_names=gradients:max_threshold=1",
    "TensorVariance:tensor_regex=weight$:max_threshold=10",
    "UnchangedTensor:collection_names=gradients",
    "UnchangedTensor:collection_names=gradients:num_steps=10",
};

// Every step of an open run, which was read before.
void BM_Judge(benchmark::State& state, const std::vector<std::string>& specs) {
  const auto trial = Trial::Open(Gradients());
  if (trial->Steps().size() != kSteps) state.SkipWithError("steps missing");
  for ([[maybe_unused]] auto _ : state) {
    Invoker invoker(trial.get(), {});
    std::vector<RuleEvaluation> evaluations;
    for (const std::string& spec : specs) {
      evaluations.push_back(ToEvaluation(ParseRuleSpec(spec)));
    }
    MakeNamesUnique(evaluations);
    for (auto& evaluation : evaluations) invoker.Add(std::move(evaluation));
    invoker.Run();
    for (const RuleReport& report : invoker.reports()) {
      if (report.status != RuleStatus::kNoIssuesFound ||
          report.steps_judged != kSteps) {
        state.SkipWithError((report.rule + ": " + report.details).c_str());
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}

double Milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// When the files of the newest step were there.
class SealTime final : public StepObserver {
 public:
  void OnStep(int64_t /*step*/) override { at_ = Clock::now(); }
  void OnEnd(const HookStats& /*stats*/) override {}
  Clock::time_point at() const { return at_; }

 private:
  Clock::time_point at_;
};

double Median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers.empty() ? 0 : numbers[numbers.size() / 2];
}

// A rule that fires at every step of 50 small tensors: how long it takes from
// the moment their files are there, and from the end of the step, when none of
// it is written yet.
void BM_VerdictInHook(benchmark::State& state) {
  const bench::RunDir dir;
  const bench::Model model(kGradients, kBytes);
  HookConfig config = bench::ConfigFor(dir.string(), 1);
  Hook hook(config);
  const auto sealed = std::make_shared<SealTime>();
  hook.Observe(sealed);
  std::mutex mutex;
  std::condition_variable told;
  int64_t told_step = -1;
  Clock::duration after_sealing{};
  Clock::time_point told_at;
  const RuleGuard guard(
      hook,
      {ToEvaluation(ParseRuleSpec("TensorVariance:tensor_regex=.*:"
                                  "min_threshold=1"))},
      [&](const RuleFire& fire) {
        const std::scoped_lock lock(mutex);
        told_step = fire.findings.front().step;
        told_at = Clock::now();
        after_sealing = told_at - sealed->at();
        told.notify_one();
      });
  std::vector<double> since_end;
  std::vector<double> since_sealing;
  int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    model.Step(hook);
    const Clock::time_point ended = Clock::now();
    hook.EndStep();
    std::unique_lock lock(mutex);
    if (!told.wait_for(lock, std::chrono::seconds(10),
                       [&] { return told_step == step; })) {
      state.SkipWithError("no verdict");
      break;
    }
    since_end.push_back(Milliseconds(told_at - ended));
    since_sealing.push_back(Milliseconds(after_sealing));
    ++step;
  }
  hook.Close();
  state.counters["median_ms"] = Median(since_sealing);
  state.counters["since_end_ms"] = Median(since_end);
}

BENCHMARK_CAPTURE(BM_Judge, one, kOne)
    ->Name("rules/one/50x4KiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Judge, ten, kTen)
    ->Name("rules/ten/50x4KiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK(BM_VerdictInHook)->Name("rules/in_hook/50x4KiB")->Iterations(500);

}  // namespace
}  // namespace smdebug
