// Judging runs of so many steps that nothing may grow with them: a live one in
// which a rule fires at each step, and one that is asked about step by step.
//
// The runs are in memory. A step is one index file which tells that a tensor
// has a NaN, so that ExplodingTensor fires without reading values.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "smdebug/internal/step_judge.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/base/bytes.h"
#include "src/index/collections_file.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"

namespace smdebug {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kWorker[] = "worker_0";

// Time is taken for portions of so many steps.
constexpr int64_t kPortion = 10'000;
// The least of so many portions counts, for a machine does other things, too.
constexpr int64_t kPortions = 5;

void Put(Storage& storage, const std::string& key, std::string_view text) {
  const auto file = storage.Create(key);
  const Bytes bytes = base::AsBytes(text);
  file->Append({&bytes, 1});
  file->Publish();
}

void Declare(Storage& storage) {
  const index::CollectionsFile file = {.collections = {}, .num_workers = 1};
  Put(storage, run::CollectionsFileKey(kWorker), ToJson(file));
}

void SaveStep(Storage& storage, int64_t step) {
  index::StepIndex index;
  index.mode = Mode::kTrain;
  index.mode_step = step;
  index.shapes.push_back({.name = "w", .original_name = "w", .shape = {10}});
  index.counts.push_back({.name = "w", .values = {.count = 10, .nan = 1}});
  Put(storage, run::IndexFileKey(step, kWorker), ToJson(index));
}

TrialOptions Options() {
  TrialOptions options;
  options.end_delay = std::chrono::milliseconds(0);
  return options;
}

double Megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) / 1e3;
  }
  return 0;
}

// Each step is judged as it is saved, as `smdebug watch` does it. `times` is
// how much longer a step takes at the end than at the beginning, `megabytes`
// by how much the process grows between.
void BM_FiresAtEachStep(benchmark::State& state) {
  const int64_t steps = state.range(0);
  // Files that nobody reads again make way.
  constexpr int64_t kKept = 3000;
  for ([[maybe_unused]] auto _ : state) {
    const auto storage = OpenMemoryStorage();
    Declare(*storage);
    SaveStep(*storage, 0);
    Trial trial(storage, Options());
    Invoker invoker(&trial,
                    {.recent_steps = 1000, .reports = OpenMemoryStorage()});
    invoker.Add(ToEvaluation(ParseRuleSpec("ExplodingTensor")));
    std::vector<double> portions;
    double megabytes = 0;
    Clock::duration time{};
    for (int64_t step = 1; step <= steps; ++step) {
      const Clock::time_point begin = Clock::now();
      invoker.JudgeNewSteps();
      time += Clock::now() - begin;
      SaveStep(*storage, step);
      if (step >= kKept) {
        storage->Remove(run::IndexFileKey(step - kKept, kWorker));
      }
      if (step % kPortion != 0) continue;
      portions.push_back(std::chrono::duration<double>(time).count());
      time = {};
      if (step == kPortion * kPortions) megabytes = Megabytes();
    }
    if (invoker.report(0).fired_total != steps) {
      state.SkipWithError("steps missing");
    }
    double seconds = 0;
    for (const double portion : portions) seconds += portion;
    state.SetIterationTime(seconds);
    const double first =
        *std::min_element(portions.begin(), portions.begin() + kPortions);
    const double last =
        *std::min_element(portions.end() - kPortions, portions.end());
    state.counters["times"] = last / first;
    state.counters["megabytes"] = Megabytes() - megabytes;
  }
  state.SetItemsProcessed(state.iterations() * steps);
}

// A finished run, asked about each step in turn, as rules of Python are.
void BM_StepJudge(benchmark::State& state) {
  const int64_t steps = state.range(0);
  const auto storage = OpenMemoryStorage();
  Declare(*storage);
  for (int64_t step = 0; step < steps; ++step) SaveStep(*storage, step);
  Put(*storage, std::string(run::kEndMarkerKey), "");
  Trial trial(storage, Options());
  if (std::ssize(trial.Steps()) != steps) state.SkipWithError("steps missing");
  for ([[maybe_unused]] auto _ : state) {
    StepJudge judge(&trial, ToEvaluation(ParseRuleSpec("ExplodingTensor")));
    int64_t found = 0;
    for (int64_t step = 0; step < steps; ++step) {
      found += std::ssize(judge.Check(step));
    }
    if (found != steps) state.SkipWithError("findings missing");
  }
  state.SetItemsProcessed(state.iterations() * steps);
}

BENCHMARK(BM_FiresAtEachStep)
    ->Name("rules/fires")
    ->Arg(1'000'000)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_StepJudge)
    ->Name("rules/step_judge")
    ->Arg(10'000)
    ->Arg(100'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smdebug
