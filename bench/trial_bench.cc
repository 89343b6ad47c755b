// Reading a run: opening, values, refreshing, and how soon a step is seen.
//
// Runs are written once, by our hook, into the folder `runs` of
// SMDEBUG_BENCH_DIR, where smdebug 1.0 finds them to read the same.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include <benchmark/benchmark.h>

#include "bench/bench_run.h"
#include "smdebug/trial.h"
#include "src/base/bytes.h"
#include "src/index/collections_file.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"

namespace smdebug {
namespace {

namespace fs = std::filesystem;
using bench::kMiB;
using bench::MakeRun;
using Clock = std::chrono::steady_clock;

std::string ManySteps() { return MakeRun("10000x20", 10'000, 20, 64); }
std::string ManyEntries() { return MakeRun("10000x100", 10'000, 100, 64); }
std::string LargeTensors() { return MakeRun("100x1MiB", 4, 100, kMiB); }

// Opens a run and asks for its steps, which reads every index file.
void BM_Open(benchmark::State& state, std::string (*make)(), int64_t tensors) {
  const std::string folder = make();
  for ([[maybe_unused]] auto _ : state) {
    const auto trial = Trial::Open(folder);
    if (trial->Steps().size() != 10'000) state.SkipWithError("steps missing");
    if (static_cast<int64_t>(trial->TensorNames().size()) != tensors) {
      state.SkipWithError("tensors missing");
    }
  }
  state.SetItemsProcessed(state.iterations() * tensors * 10'000);
}

int64_t AnonymousKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8));
  }
  return 0;
}

// What an open trial takes in memory, in a process of its own.
void BM_OpenMemory(benchmark::State& state) {
  const std::string folder = ManySteps();
  int64_t kilobytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      malloc_trim(0);
      const int64_t before = AnonymousKilobytes();
      const auto trial = Trial::Open(folder);
      trial->Steps();
      const int64_t grown = AnonymousKilobytes() - before;
      _exit(write(ends[1], &grown, sizeof(grown)) == sizeof(grown) ? 0 : 1);
    }
    if (read(ends[0], &kilobytes, sizeof(kilobytes)) != sizeof(kilobytes)) {
      state.SkipWithError("the child failed");
    }
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
  }
  state.counters["megabytes"] = static_cast<double>(kilobytes) / 1e3;
}

// Every value of one small tensor after the other.
void BM_Values(benchmark::State& state) {
  const auto trial = Trial::Open(ManySteps());
  const Tensor tensor = trial->tensor("layer7.weight");
  for ([[maybe_unused]] auto _ : state) {
    const auto values = tensor.Values();
    if (values.size() != 10'000 || values.back().second.Get(3) != 1.5) {
      state.SkipWithError("wrong values");
    }
  }
  state.SetItemsProcessed(state.iterations() * 10'000);
}

// Every tensor of a step of 100 x 1 MiB; the checksum looks at every byte.
void BM_ReadLarge(benchmark::State& state, bool verify) {
  TrialOptions options;
  options.verify_checksums = verify;
  const auto trial = Trial::Open(LargeTensors(), options);
  const std::vector<std::string> names = trial->TensorNames();
  for ([[maybe_unused]] auto _ : state) {
    for (const std::string& name : names) {
      const Value value = trial->tensor(name).At(2);
      if (value.bytes().size() != kMiB || value.Get(value.size() - 1) != 1.5) {
        state.SkipWithError("wrong value");
      }
    }
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(names.size() * kMiB));
}

// The same files by open and read alone, into memory that was touched before.
void BM_PlainRead(benchmark::State& state) {
  const std::string file = LargeTensors() +
                           "/events/000000000002/"
                           "000000000002_worker_0.tfevents";
  std::vector<float> buffer(kMiB / sizeof(float));
  for ([[maybe_unused]] auto _ : state) {
    const int fd = open(file.c_str(), O_RDONLY);
    for (int i = 0; i < 100; ++i) {
      if (read(fd, buffer.data(), kMiB) != static_cast<ssize_t>(kMiB)) {
        state.SkipWithError("short read");
      }
      benchmark::ClobberMemory();
    }
    close(fd);
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(100 * kMiB));
}

// A query of a live run of 10,000 steps in which nothing has changed. Without
// its ledgers and its end marker nobody can know that the run is over.
void BM_RefreshNothing(benchmark::State& state) {
  const fs::path folder = ManySteps();
  const fs::path marker = folder / "training_job_end.ts";
  const fs::path ledgers = folder / "ledger";
  const fs::path hidden = folder.string() + ".ledger";
  fs::remove(marker);
  fs::rename(ledgers, hidden);
  {
    const auto trial = Trial::Open(folder.string());
    for ([[maybe_unused]] auto _ : state) {
      // One that is known is not looked for.
      if (trial->HasPassedStep(10'000) != StepState::kNotYetAvailable) {
        state.SkipWithError("a step too many");
      }
    }
    if (trial->loaded_all_steps()) state.SkipWithError("not live");
  }
  fs::rename(hidden, ledgers);
  std::ofstream(marker).flush();
  state.SetItemsProcessed(state.iterations());
}

// When each step's files were closed, shared between writer and reader.
struct Times {
  std::array<std::atomic<int64_t>, 1000> closed{};
};

int64_t Now() { return Clock::now().time_since_epoch().count(); }

// Publishes a file, and notes when it was whole: right before it gets its name.
void Publish(Storage& storage, const std::string& key, std::string_view text,
             std::atomic<int64_t>* closed) {
  const auto file = storage.Create(key);
  const Bytes parts[] = {base::AsBytes(text)};
  file->Append(parts);
  if (closed != nullptr) *closed = Now();
  file->Publish();
}

// The time from a step's index being whole in one process to the step being
// seen by another that waits for it.
void BM_LiveLatency(benchmark::State& state) {
  const bench::RunDir dir;
  void* shared = mmap(nullptr, sizeof(Times), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Times* times = new (shared) Times();
  const int64_t steps = static_cast<int64_t>(times->closed.size());
  const pid_t writer = fork();
  if (writer == 0) {
    std::mt19937 random(1);
    const auto storage = OpenLocalStorage(dir.string());
    Publish(*storage, run::CollectionsFileKey("worker_0"),
            ToJson(index::CollectionsFile{}), nullptr);
    index::StepIndex content;
    content.shapes = {{"x", "x", {1}}};
    for (int64_t step = 0; step < steps; ++step) {
      usleep(static_cast<useconds_t>(1000 + random() % 5000));
      content.mode_step = step;
      Publish(*storage, run::IndexFileKey(step, "worker_0"), ToJson(content),
              &times->closed[static_cast<size_t>(step)]);
    }
    _exit(0);
  }
  std::vector<int64_t> latencies;
  for ([[maybe_unused]] auto _ : state) {
    const auto trial = Trial::Open(dir.string());
    for (int64_t step = 0; step < steps; ++step) {
      trial->WaitForSteps({&step, 1});
      const int64_t seen = Now();
      int64_t closed = 0;
      while ((closed = times->closed[static_cast<size_t>(step)]) == 0) {
        std::this_thread::yield();
      }
      latencies.push_back(std::max<int64_t>(seen - closed, 0));
    }
  }
  waitpid(writer, nullptr, 0);
  munmap(shared, sizeof(Times));
  std::ranges::sort(latencies);
  const auto at = [&](double part) {
    const auto index =
        static_cast<size_t>(part * static_cast<double>(latencies.size() - 1));
    return static_cast<double>(latencies[index]) / 1e6;
  };
  state.counters["median_ms"] = at(0.5);
  state.counters["p99_ms"] = at(0.99);
}

BENCHMARK_CAPTURE(BM_Open, steps, ManySteps, 20)
    ->Name("trial/open/10000x20")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Open, entries, ManyEntries, 100)
    ->Name("trial/open/10000x100")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_OpenMemory)->Name("trial/open_memory/10000x20")->Iterations(1);
BENCHMARK(BM_Values)
    ->Name("trial/values/64B")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ReadLarge, verified, true)
    ->Name("trial/read/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ReadLarge, unverified, false)
    ->Name("trial/read_unverified/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PlainRead)
    ->Name("limit/read/100x1MiB")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RefreshNothing)->Name("trial/refresh_nothing")->UseRealTime();
BENCHMARK(BM_LiveLatency)
    ->Name("trial/live_latency")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smdebug
