// Reductions and histograms against the rate of one plain read of the memory.
//
//   reduce/all/<dtype>/<bytes>        the 18 reductions without medians
//   reduce/medians/<dtype>/<bytes>    the same and both medians
//   reduce/histogram/<dtype>/<bytes>
//   limit/read_pass/<bytes>           a sum of floats, for comparison

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "src/reduce/histogram.h"
#include "src/reduce/reduce.h"

namespace smdebug::reduce {
namespace {

// Elements of one dtype in memory, and the same as doubles.
struct Data {
  std::vector<std::byte> bytes;
  std::vector<double> values;
  std::array<int64_t, 1> shape;
  DType dtype;

  TensorView view() const { return {bytes.data(), dtype, shape, {}}; }
};

template <typename T>
void Append(Data& data, T value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  data.bytes.insert(data.bytes.end(), raw.begin(), raw.end());
}

// Normal values times `scale`, rounded to what `dtype` holds.
Data MakeData(DType dtype, int64_t bytes, double scale) {
  const auto item = std::max<int64_t>(static_cast<int64_t>(ItemSize(dtype)), 1);
  const int64_t count = bytes / item;
  Data data = {{}, {}, {count}, dtype};
  data.bytes.reserve(static_cast<size_t>(bytes));
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, scale);
  for (int64_t i = 0; i < count; ++i) {
    const double x = normal(random);
    switch (dtype) {
      case DType::kFloat64:
        Append(data, x);
        data.values.push_back(x);
        break;
      case DType::kBfloat16: {
        const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x));
        Append(data, static_cast<uint16_t>(bits >> 16));
        data.values.push_back(std::bit_cast<float>(bits & 0xFFFF0000));
        break;
      }
      case DType::kFloat16: {
        // Normal numbers of float16: the bits of a float, cut off.
        const auto bits = std::bit_cast<uint32_t>(
            static_cast<float>(std::copysign(std::abs(x) + 1e-4, x)));
        Append(data, static_cast<uint16_t>(
                         ((bits >> 16) & 0x8000) |
                         (((bits & 0x7FFFFFFF) >> 13) - (112u << 10))));
        data.values.push_back(std::bit_cast<float>(bits & 0xFFFFE000));
        break;
      }
      case DType::kInt8:
        Append(data, static_cast<int8_t>(std::lround(x) % 100));
        data.values.push_back(static_cast<double>(std::lround(x) % 100));
        break;
      case DType::kInt64:
        Append(data, static_cast<int64_t>(std::llround(x)));
        data.values.push_back(static_cast<double>(std::llround(x)));
        break;
      default:
        Append(data, static_cast<float>(x));
        data.values.push_back(static_cast<float>(x));
    }
  }
  return data;
}

// The same, kept for the next benchmark of the same size: making it takes
// longer than measuring.
const Data& DataFor(DType dtype, int64_t bytes, double scale) {
  static Data data = {};
  static double made_scale = 0;
  if (data.dtype != dtype || made_scale != scale ||
      static_cast<int64_t>(data.bytes.size()) != bytes) {
    data = MakeData(dtype, bytes, scale);
    made_scale = scale;
  }
  return data;
}

bool Near(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

void SetRate(benchmark::State& state, const Data& data) {
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(data.bytes.size()));
}

void BM_Reduce(benchmark::State& state, DType dtype, double scale,
               Wanted wanted) {
  const Data& data = DataFor(dtype, state.range(0), scale);
  Statistics statistics;
  for ([[maybe_unused]] auto _ : state) {
    statistics = Reduce(data.view(), wanted);
    benchmark::DoNotOptimize(statistics);
  }
  double sum = 0;
  double abs_sum = 0;
  double least = HUGE_VAL;
  for (const double x : data.values) {
    sum += x;
    abs_sum += std::abs(x);
    least = std::min(least, x);
  }
  if (std::abs(statistics.sum - sum) > 1e-12 * abs_sum ||
      !Near(statistics.abs_sum, abs_sum) || statistics.min != least) {
    state.SkipWithError("wrong sum or minimum");
  }
  if (wanted.median) {
    std::vector<double> values = data.values;
    std::ranges::sort(values);
    const size_t n = values.size();
    if (statistics.median != (values[(n - 1) / 2] + values[n / 2]) / 2) {
      state.SkipWithError("wrong median");
    }
  }
  SetRate(state, data);
}

void BM_Histogram(benchmark::State& state, DType dtype) {
  const Data& data = DataFor(dtype, state.range(0), 1);
  Histogram histogram;
  for ([[maybe_unused]] auto _ : state) {
    histogram = MakeHistogram(data.view());
    benchmark::DoNotOptimize(histogram);
  }
  double total = 0;
  for (const double count : histogram.counts) total += count;
  if (total != static_cast<double>(data.values.size())) {
    state.SkipWithError("wrong number of values");
  }
  SetRate(state, data);
}

using Floats = float __attribute__((vector_size(32)));

// One addition per float: as fast as this machine reads. The clone for AVX2 is
// picked at run time.
__attribute__((target_clones("avx2", "default"))) float SumFloats(
    const std::byte* bytes, size_t size) {
  constexpr size_t kStep = sizeof(Floats);
  Floats sum0 = {};
  Floats sum1 = {};
  Floats sum2 = {};
  Floats sum3 = {};
  Floats values;
  for (size_t i = 0; i + 4 * kStep <= size; i += 4 * kStep) {
    std::memcpy(&values, bytes + i, kStep);
    sum0 += values;
    std::memcpy(&values, bytes + i + kStep, kStep);
    sum1 += values;
    std::memcpy(&values, bytes + i + 2 * kStep, kStep);
    sum2 += values;
    std::memcpy(&values, bytes + i + 3 * kStep, kStep);
    sum3 += values;
  }
  const Floats sum = (sum0 + sum1) + (sum2 + sum3);
  float total = 0;
  for (size_t lane = 0; lane < 8; ++lane) total += sum[lane];
  return total;
}

void BM_ReadPass(benchmark::State& state) {
  const Data& data = DataFor(DType::kFloat32, state.range(0), 1);
  float sum = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(
        sum = SumFloats(data.bytes.data(), data.bytes.size()));
  }
  double expected = 0;
  double abs_sum = 0;
  for (const double x : data.values) {
    expected += x;
    abs_sum += std::abs(x);
  }
  if (std::abs(sum - expected) > 1e-4 * abs_sum) {
    state.SkipWithError("wrong sum");
  }
  SetRate(state, data);
}

constexpr int64_t kKiB = 1024;

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t size : {4, 16, 256, 1024, 8192, 65536}) {
    benchmark->Arg(size * kKiB);
  }
}

const int kRegistered = [] {
  struct Row {
    DType dtype;
    double scale;
    const char* name;
  };
  // Of a product below one on average the last blocks are never multiplied;
  // f32_large is the other case.
  constexpr std::array<Row, 7> kRows = {{
      {DType::kFloat32, 1, "f32"},
      {DType::kFloat32, 100, "f32_large"},
      {DType::kFloat64, 1, "f64"},
      {DType::kFloat16, 1, "f16"},
      {DType::kBfloat16, 1, "bf16"},
      {DType::kInt8, 30, "i8"},
      {DType::kInt64, 1000, "i64"},
  }};
  const auto named = [](const char* what, const char* dtype) {
    return std::string("reduce/") + what + "/" + dtype;
  };
  benchmark::RegisterBenchmark("limit/read_pass/f32", BM_ReadPass)
      ->Apply(Sizes);
  for (const auto& [dtype, scale, name] : kRows) {
    benchmark::RegisterBenchmark(named("all", name).c_str(), BM_Reduce, dtype,
                                 scale, Wanted{true, false, false})
        ->Apply(Sizes);
  }
  for (const auto& [dtype, scale, name] : kRows) {
    benchmark::RegisterBenchmark(named("medians", name).c_str(), BM_Reduce,
                                 dtype, scale, Wanted{true, true, true})
        ->Apply(Sizes);
  }
  for (const auto& [dtype, scale, name] : kRows) {
    if (scale != 1) continue;
    benchmark::RegisterBenchmark(named("histogram", name).c_str(), BM_Histogram,
                                 dtype)
        ->Apply(Sizes);
  }
  return 0;
}();

}  // namespace
}  // namespace smdebug::reduce
