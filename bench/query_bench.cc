// Questions about every number of a run: as a table, as CSV, and beside another
// run. Each opens the run first, as a command does.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "bench/bench_run.h"
#include "smdebug/query.h"
#include "smdebug/trial.h"
#include "src/query/csv_export.h"
#include "src/query/open_run.h"
#include "src/query/run_compare.h"

namespace smdebug {
namespace {

constexpr int kSteps = 1'000;
constexpr int64_t kTensors = 200;

// A finished run of 200,000 numbers, made if it is not there.
std::string Numbers() {
  return bench::MakeRun("1000x200", kSteps, kTensors, sizeof(float));
}

// Times `ask`, which gives how many numbers the run had.
void Measure(benchmark::State& state,
             const std::function<int64_t(Trial&)>& ask) {
  const std::string folder = Numbers();
  for ([[maybe_unused]] auto _ : state) {
    const auto trial = query::OpenRun(folder);
    if (ask(*trial) != kSteps * kTensors) state.SkipWithError("rows missing");
  }
  state.SetItemsProcessed(state.iterations() * kSteps * kTensors);
}

void BM_Csv(benchmark::State& state) {
  Measure(state, [](Trial& trial) {
    return query::ExportCsv(
               trial, {}, [](std::string_view) { return true; },
               [] { return true; })
        .entries;
  });
}

void BM_Table(benchmark::State& state) {
  Measure(state, [](Trial& trial) {
    return std::ssize(
        query::ReadTable(trial, {.tensors = trial.TensorNames()}).steps);
  });
}

void BM_Compare(benchmark::State& state) {
  Measure(state, [](Trial& trial) {
    const auto other = query::OpenRun(trial.path());
    return query::CompareRuns(
               trial, *other, {}, [](uint64_t) {}, [] {})
        .compared;
  });
}

BENCHMARK(BM_Table)
    ->Name("query/table/1000x200")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Csv)
    ->Name("query/csv/1000x200")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Compare)
    ->Name("query/compare/1000x200")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smdebug
