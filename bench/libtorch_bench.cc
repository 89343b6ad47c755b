// The hook for LibTorch as a trainer sees it: what it adds to a forward pass.
// Built by tests/libtorch/run, on what is installed.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "bench/bench_run.h"
#include "smdebug/torch.h"

namespace smdebug {
namespace {

using bench::ConfigFor;
using bench::kKiB;
using bench::kMiB;
using bench::RunDir;

// Parameters alone; its forward pass does nothing.
class ParametersImpl : public torch::nn::Module {
 public:
  ParametersImpl(size_t count, size_t bytes) {
    const auto size = static_cast<int64_t>(bytes / sizeof(float));
    for (size_t i = 0; i < count; ++i) {
      register_parameter("weight" + std::to_string(i),
                         torch::full({size}, 1.5f));
    }
  }
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE(Parameters);

// A step at which nothing is due, over the same forward pass.
void BM_IdleStep(benchmark::State& state) {
  const RunDir dir;
  Parameters model(static_cast<size_t>(state.range(0)), 64);
  TorchHook hook(ConfigFor(dir.string(), int64_t{1} << 60));
  hook.Register(model);
  const auto x = torch::ones({1});
  hook.Forward(model, x);  // Step 0 is due.
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(hook.Forward(model, x));
  }
  if (hook.core().step() != state.iterations()) {
    state.SkipWithError("steps are missing");
  }
  state.SetItemsProcessed(state.iterations());
}

// Whole runs of `steps` steps that save every parameter.
void BM_Raw(benchmark::State& state, size_t count, size_t bytes, int steps) {
  Parameters model(count, bytes);
  const auto x = torch::ones({1});
  const int64_t tensors = static_cast<int64_t>(count) * steps;
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    auto dir = std::make_unique<RunDir>();
    state.ResumeTiming();
    HookConfig config = ConfigFor(dir->string(), 1);
    config.save_all = false;
    config.include_collections = {"weights"};
    TorchHook hook(config);
    hook.Register(model);
    for (int step = 0; step < steps; ++step) hook.Forward(model, x);
    hook.Close();
    state.PauseTiming();
    dir.reset();
    if (hook.core().stats().values_saved != tensors) {
      state.SkipWithError("tensors are missing");
    }
    state.ResumeTiming();
  }
  const int64_t saved = state.iterations() * tensors;
  state.SetItemsProcessed(saved);
  state.SetBytesProcessed(saved * static_cast<int64_t>(bytes));
}

BENCHMARK(BM_IdleStep)->Name("libtorch/idle_step")->Arg(1)->Arg(1000);
BENCHMARK_CAPTURE(BM_Raw, large, 100, kMiB, 20)
    ->Name("libtorch/raw/100x1MiB")
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Raw, small, 1000, 4 * kKiB, 200)
    ->Name("libtorch/raw/1000x4KiB")
    ->UseRealTime();

}  // namespace
}  // namespace smdebug
