#include "src/reduce/median.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/reduce/reduce.h"
#include "src/reduce/reference.h"
#include "src/reduce/sample.h"
#include "src/reduce/testing.h"

namespace smdebug::reduce {
namespace {

using testing::Dense;
using testing::ReferenceMedian;

constexpr Wanted kMedians = {.prod = false, .median = true, .abs_median = true};

template <typename T>
void ExpectMedians(const std::vector<T>& values) {
  const std::vector<double> doubles(values.begin(), values.end());
  std::vector<double> abs = doubles;
  for (double& x : abs) x = std::abs(x);
  const double median = ReferenceMedian(doubles);
  const double abs_median = ReferenceMedian(abs);
  const Dense<T> dense{std::span<const T>(values)};
  testing::OnEveryTarget([&](const std::string& target) {
    SCOPED_TRACE(target);
    const Statistics both = Reduce(dense.view, kMedians);
    EXPECT_TRUE(testing::Near(both.median, median, 0)) << both.median;
    EXPECT_TRUE(testing::Near(both.abs_median, abs_median, 0))
        << both.abs_median;
  });
}

using Fill =
    std::function<double(size_t index, size_t count, std::mt19937_64& random)>;

struct Shape {
  const char* name;
  Fill fill;
};

double Uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(-1, 1)(random);
}

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> kShapes = {
      {"random", [](size_t, size_t, auto& random) { return Uniform(random); }},
      {"positive",
       [](size_t, size_t, auto& random) { return Uniform(random) + 1; }},
      {"negative",
       [](size_t, size_t, auto& random) { return Uniform(random) - 1; }},
      {"sorted",
       [](size_t i, size_t n, auto&) {
         return static_cast<double>(i) - static_cast<double>(n) / 3;
       }},
      {"reversed",
       [](size_t i, size_t n, auto&) { return static_cast<double>(n - i); }},
      {"zeros", [](size_t, size_t, auto&) { return 0.0; }},
      {"zeros of both signs",
       [](size_t i, size_t, auto&) { return i % 2 == 0 ? 0.0 : -0.0; }},
      {"rectified",
       [](size_t, size_t, auto& random) {
         return std::max(0.0, Uniform(random));
       }},
      {"two values, half each",
       [](size_t i, size_t n, auto&) { return i < n / 2 ? -1.0 : 3.0; }},
      {"a tenth of distinct values",
       [](size_t, size_t, auto& random) {
         return std::floor(Uniform(random) * 5);
       }},
      {"periodic",
       [](size_t i, size_t, auto&) { return static_cast<double>(i % 64); }},
      {"heavy tails",
       [](size_t, size_t, auto& random) {
         return std::pow(Uniform(random), 31) * 1e30;
       }},
      {"infinite ends",
       [](size_t i, size_t, auto& random) {
         return i % 5 == 0   ? HUGE_VAL
                : i % 5 == 1 ? -HUGE_VAL
                             : Uniform(random);
       }},
  };
  return kShapes;
}

template <typename T>
std::vector<T> Filled(const Shape& shape, size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(shape.fill(i, count, random));
  }
  return values;
}

TEST(MedianTest, IsExactForEveryShapeOfData) {
  for (const Shape& shape : Shapes()) {
    for (const size_t count : {1u, 2u, 5u, 2'048u, 2'049u, 9'001u}) {
      SCOPED_TRACE(fmt::format("{} {}", shape.name, count));
      ExpectMedians(Filled<float>(shape, count));
      ExpectMedians(Filled<double>(shape, count + 1));
      if (HasFailure()) return;
    }
  }
}

TEST(MedianTest, IsExactForLargeTensors) {
  for (const size_t count : {3'333u, 17'012u, 65'536u, 200'001u}) {
    SCOPED_TRACE(fmt::format("count {}", count));
    ExpectMedians(Filled<float>(Shapes()[0], count));
  }
}

TEST(MedianTest, IsFoundAloneOrOfMagnitudesAlone) {
  const std::vector<float> values = Filled<float>(Shapes()[0], 5'000);
  const Dense<float> dense{std::span<const float>(values)};
  const Statistics both = Reduce(dense.view, kMedians);
  EXPECT_EQ(Reduce(dense.view, {.median = true}).median, both.median);
  EXPECT_EQ(Reduce(dense.view, {.abs_median = true}).abs_median,
            both.abs_median);
}

TEST(MedianTest, OfHugeValuesDoesNotOverflow) {
  ExpectMedians(std::vector<double>{1.6e308, 1.7e308});
  ExpectMedians(std::vector<double>{-1.6e308, 1.7e308});
}

// The sample sees other values than the rest, so the first pass misses.
TEST(MedianTest, IsFoundWhereTheSampleMisleads) {
  constexpr int64_t kCount = 12'000;
  const int64_t step = Sample<float>::StepFor(kCount);
  for (const double seen : {-1e6, 1e6, 0.5}) {
    SCOPED_TRACE(seen);
    auto values = Filled<float>(Shapes()[0], kCount);
    for (int64_t i = 0; Sample<float>::Place(i, step) < kCount; ++i) {
      auto& value = values[static_cast<size_t>(Sample<float>::Place(i, step))];
      value = static_cast<float>(seen) + value / 1024;
    }
    ExpectMedians(values);
    ExpectMedians(std::vector<double>(values.begin(), values.end()));
  }
}

// Half of the sample lies at each end and all the rest in between, which is
// more than the buffer holds.
TEST(MedianTest, IsFoundWhereTooMuchLiesInBetween) {
  constexpr int64_t kCount = 12'001;
  const int64_t step = Sample<float>::StepFor(kCount);
  auto values = Filled<float>(Shapes()[0], kCount);
  for (int64_t i = 0; Sample<float>::Place(i, step) < kCount; ++i) {
    values[static_cast<size_t>(Sample<float>::Place(i, step))] =
        i % 2 == 0 ? -1e6f : 1e6f;
  }
  ExpectMedians(values);
}

TEST(SampleTest, TakesOneOfEveryStepInOrder) {
  constexpr int64_t kCount = 100'000;
  std::vector<double> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  Sample<double> sample(kCount);
  const std::span<const double> all(values);
  for (size_t done = 0; done < values.size(); done += 1000) {
    sample.Add(all.subspan(done, 1000));
  }
  EXPECT_FALSE(sample.whole());
  const int64_t step = Sample<double>::StepFor(kCount);
  for (size_t i = 0; i < sample.values().size(); ++i) {
    const auto place = static_cast<int64_t>(sample.values()[i]);
    EXPECT_EQ(place / step, static_cast<int64_t>(i));
  }
}

}  // namespace
}  // namespace smdebug::reduce
