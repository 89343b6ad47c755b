// The hook as a trainer sees it, and what a plain program needs for the same
// files. Runs go to SMDEBUG_BENCH_DIR, else to the temporary folder.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/bench_run.h"
#include "smdebug/hook.h"
#include "tests/testing/fault_storage.h"

namespace smdebug {
namespace {

namespace fs = std::filesystem;
using bench::ConfigFor;
using bench::kKiB;
using bench::kMiB;
using bench::Model;
using bench::RunDir;

// Times `run` on a fresh folder, again and again; what it leaves is removed
// outside of the measured time. `run` gives the number of tensors it saved.
template <typename Run>
void TimeRuns(benchmark::State& state, int64_t tensors, size_t bytes,
              const Run& run) {
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    auto dir = std::make_unique<RunDir>();
    state.ResumeTiming();
    const int64_t saved = run(dir->string());
    state.PauseTiming();
    dir.reset();
    if (saved != tensors) state.SkipWithError("tensors are missing");
    state.ResumeTiming();
  }
  const int64_t saved = state.iterations() * tensors;
  state.SetItemsProcessed(saved);
  state.SetBytesProcessed(saved * static_cast<int64_t>(bytes));
}

// Whole runs of `steps` steps, from construction to the end of Close().
void BM_Raw(benchmark::State& state, size_t count, size_t bytes, int steps) {
  const Model model(count, bytes);
  TimeRuns(state, steps * model.count(), bytes, [&](const std::string& dir) {
    Hook hook(ConfigFor(dir, 1));
    for (int step = 0; step < steps; ++step) model.Step(hook);
    hook.Close();
    return hook.stats().values_saved;
  });
}

void WriteAll(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(fd, at, size);
    if (written <= 0) std::abort();
    at += written;
    size -= static_cast<size_t>(written);
  }
}

// The same files by open, write and rename alone: per step a tensor file, of
// records with a head and a tail, and an index of a line per tensor.
void BM_PlainWrite(benchmark::State& state, size_t count, size_t bytes,
                   int steps) {
  const Model model(count, bytes);
  const std::string head(110, 'h');
  const std::string tail(40, 't');
  const std::string index(count * 100, 'i');
  TimeRuns(state, steps * model.count(), bytes, [&](const std::string& dir) {
    fs::create_directories(dir + "/index");
    for (int step = 0; step < steps; ++step) {
      const std::string folder = dir + "/events/" + std::to_string(step);
      fs::create_directories(folder);
      const std::string events = folder + "/events";
      int fd = open((events + ".tmp").c_str(), O_WRONLY | O_CREAT, 0644);
      for (const auto& tensor : model.values()) {
        WriteAll(fd, head.data(), head.size());
        WriteAll(fd, tensor.data(), bytes);
        WriteAll(fd, tail.data(), tail.size());
      }
      close(fd);
      fs::rename(events + ".tmp", events);
      const std::string indexed = dir + "/index/" + std::to_string(step);
      fd = open((indexed + ".tmp").c_str(), O_WRONLY | O_CREAT, 0644);
      WriteAll(fd, index.data(), index.size());
      close(fd);
      fs::rename(indexed + ".tmp", indexed);
    }
    return steps * model.count();
  });
}

// How long Save() holds its caller while the buffer has room: the writer may
// work between the steps, outside of the measured time.
void BM_Caller(benchmark::State& state, size_t count, size_t bytes) {
  const RunDir dir;
  const Model model(count, bytes);
  Hook hook(ConfigFor(dir.string(), 1));
  int64_t steps = 0;
  const auto one_step = [&] {
    model.Step(hook);
    hook.EndStep();
    ++steps;
  };
  const auto drain = [&] {
    while (hook.stats().steps_saved < steps && hook.stats().errors == 0) {
      usleep(100);
    }
  };
  one_step();  // The first step pays for fresh memory once.
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    drain();
    state.ResumeTiming();
    one_step();
  }
  drain();
  if (hook.stats().stalls != 0) state.SkipWithError("the buffer was full");
  const int64_t saved = state.iterations() * static_cast<int64_t>(count);
  state.SetItemsProcessed(saved);
  state.SetBytesProcessed(saved * static_cast<int64_t>(bytes));
}

// The same bytes from the same tensors into memory that was touched before.
void BM_Memcpy(benchmark::State& state, size_t count, size_t bytes) {
  const Model model(count, bytes);
  std::vector<std::vector<char>> copies(count, std::vector<char>(bytes, 1));
  for ([[maybe_unused]] auto _ : state) {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(copies[i].data(), model.values()[i].data(), bytes);
      benchmark::ClobberMemory();
    }
  }
  const int64_t copied = state.iterations() * static_cast<int64_t>(count);
  state.SetItemsProcessed(copied);
  state.SetBytesProcessed(copied * static_cast<int64_t>(bytes));
}

// Tensors to TensorBoard as histograms, and one reduction of each instead of
// the raw values; whole runs.
void BM_Tensorboard(benchmark::State& state, size_t count, size_t bytes,
                    int steps) {
  const Model model(count, bytes);
  TimeRuns(state, steps * model.count(), bytes, [&](const std::string& dir) {
    HookConfig config = ConfigFor(dir, 1);
    config.export_tensorboard = true;
    config.reduction_config =
        ReductionConfig{.reductions = {{ReductionOp::kMax}}};
    Hook hook(config);
    for (int step = 0; step < steps; ++step) model.Step(hook);
    hook.Close();
    return hook.stats().errors == 0 ? hook.stats().values_saved : 0;
  });
}

// A scalar at every step, nothing else; whole runs.
void BM_ScalarPerStep(benchmark::State& state) {
  constexpr int kSteps = 20'000;
  TimeRuns(state, kSteps, sizeof(double), [&](const std::string& dir) {
    Hook hook(ConfigFor(dir, 1));
    for (int step = 0; step < kSteps; ++step) {
      hook.BeginStep();
      hook.SaveScalar("loss", step);
    }
    hook.Close();
    return hook.stats().scalars_saved;
  });
}

// What a step with one scalar costs the training thread.
void BM_ScalarCaller(benchmark::State& state) {
  const RunDir dir;
  Hook hook(ConfigFor(dir.string(), 1));
  double value = 0;
  for ([[maybe_unused]] auto _ : state) {
    hook.BeginStep();
    hook.SaveScalar("loss", value += 1);
  }
  hook.Close();
  if (hook.stats().scalars_saved != state.iterations()) {
    state.SkipWithError("scalars are missing");
  }
  state.SetItemsProcessed(state.iterations());
}

// A step at which nothing is due, with `count` tensors offered.
void BM_IdleStep(benchmark::State& state) {
  const RunDir dir;
  const Model model(static_cast<size_t>(state.range(0)), 64);
  HookConfig config = ConfigFor(dir.string(), int64_t{1} << 60);
  config.include_collections = {"weights", "biases", "gradients"};
  Hook hook(config);
  model.Step(hook);
  for ([[maybe_unused]] auto _ : state) {
    hook.BeginStep();
    // A shim attaches its callbacks only for steps that are due.
    if (hook.StepIsDue()) state.SkipWithError("not idle");
  }
  state.SetItemsProcessed(state.iterations());
}

// One Save() at a step where nothing is due.
void BM_IdleSave(benchmark::State& state) {
  const RunDir dir;
  const std::vector<float> tensor(1024, 1.0f);
  const int64_t shape[] = {1024};
  Hook hook(ConfigFor(dir.string(), int64_t{1} << 60));
  hook.BeginStep();
  hook.BeginStep();
  for ([[maybe_unused]] auto _ : state) {
    hook.Save("layer.weight", ViewOf<float>(tensor, shape));
  }
  state.SetItemsProcessed(state.iterations());
}

// Memory of this process that is in use.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// By how much a hook grows over 100,000 steps of 200 reduced tensors when the
// store does not answer.
void BM_StuckMemory(benchmark::State& state) {
  constexpr int kSteps = 100'000;
  const Model model(200, 64);
  int64_t grown = 0;
  for ([[maybe_unused]] auto _ : state) {
    HookConfig config = ConfigFor("unused", 1);
    config.reduction_config =
        ReductionConfig{.reductions = {{ReductionOp::kMax}}};
    // Both stay behind with the hook's thread.
    const auto store =
        std::make_shared<testing::FaultStorage>(OpenMemoryStorage());
    Hook hook(config, {},
              RuntimeOptions{.buffer_bytes = 16 * kMiB,
                             .stuck_after = std::chrono::milliseconds(10)},
              store, nullptr);
    store->plan().Block(testing::Operation::kCreate);
    const int64_t before = ResidentBytes();
    for (int step = 0; step < kSteps; ++step) model.Step(hook);
    grown = ResidentBytes() - before;
    if (hook.stats().dropped == 0) state.SkipWithError("nothing was dropped");
  }
  state.counters["mebibytes"] = static_cast<double>(grown) / double{kMiB};
}

BENCHMARK_CAPTURE(BM_Raw, large, 100, kMiB, 20)
    ->Name("hook/raw/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PlainWrite, large, 100, kMiB, 20)
    ->Name("limit/write/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Raw, small, 1000, 4 * kKiB, 200)
    ->Name("hook/raw/1000x4KiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_PlainWrite, small, 1000, 4 * kKiB, 200)
    ->Name("limit/write/1000x4KiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Caller, large, 100, kMiB)
    ->Name("hook/caller/100x1MiB")
    ->Iterations(20)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Memcpy, large, 100, kMiB)
    ->Name("limit/memcpy/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Tensorboard, small, 1000, 4 * kKiB, 20)
    ->Name("hook/tensorboard/1000x4KiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Tensorboard, large, 1, 64 * kMiB, 5)
    ->Name("hook/tensorboard/64MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ScalarPerStep)
    ->Name("hook/scalar_per_step")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ScalarCaller)->Name("hook/scalar_caller")->UseRealTime();
BENCHMARK(BM_IdleStep)
    ->Name("hook/idle_step")
    ->Arg(1)
    ->Arg(10'000)
    ->UseRealTime();
BENCHMARK(BM_StuckMemory)
    ->Name("hook/stuck_memory/100000x200")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_IdleSave)->Name("hook/idle_save")->UseRealTime();

}  // namespace
}  // namespace smdebug
