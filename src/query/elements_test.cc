#include "src/query/elements.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;

template <typename T>
TensorView VectorView(const std::vector<T>& values, const int64_t* shape) {
  return ViewOf<T>(values, {shape, 1});
}

std::vector<double> AllOf(const TensorView& view) {
  std::vector<double> all;
  DoubleBlocks blocks(view);
  for (auto block = blocks.Next(); !block.empty(); block = blocks.Next()) {
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

TEST(ElementsTest, EveryElementComesOnceInOrder) {
  for (const size_t size : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    std::vector<double> doubles(size);
    std::iota(doubles.begin(), doubles.end(), 0.5);
    const auto shape = static_cast<int64_t>(size);
    EXPECT_EQ(AllOf(VectorView(doubles, &shape)), doubles);
    const std::vector<float> floats(doubles.begin(), doubles.end());
    EXPECT_EQ(AllOf(VectorView(floats, &shape)), doubles);
    const std::vector<int64_t> integers(doubles.begin(), doubles.end());
    for (double& value : doubles) value -= 0.5;
    EXPECT_EQ(AllOf(VectorView(integers, &shape)), doubles);
  }
}

TEST(ElementsTest, NarrowAndComplexElementsBecomeNumbers) {
  const int64_t shape[] = {2};
  const uint16_t halves[] = {0x3C00, 0xC000};
  EXPECT_THAT(AllOf({halves, DType::kFloat16, shape}), ElementsAre(1, -2));
  const uint16_t bfloats[] = {0x3F80, 0xC000};
  EXPECT_THAT(AllOf({bfloats, DType::kBfloat16, shape}), ElementsAre(1, -2));
  const bool bools[] = {false, true};
  EXPECT_THAT(AllOf({bools, DType::kBool, shape}), ElementsAre(0, 1));
  const std::complex<float> complex[] = {{3, 4}, {0, -1}};
  EXPECT_THAT(AllOf({complex, DType::kComplex64, shape}), ElementsAre(5, 1));
}

TEST(ElementsTest, ElementsReadAsInPython) {
  const int64_t shape[] = {3};
  const auto text = [&](const auto& values) {
    const TensorView view = VectorView(values, shape);
    return ElementText(ElementAt(view, 1));
  };
  EXPECT_EQ(text(std::vector<float>{0, 0.1f, 0}), "0.1");
  EXPECT_EQ(text(std::vector<double>{0, NAN, 0}), "nan");
  EXPECT_EQ(text(std::vector<int8_t>{0, -7, 0}), "-7");
  EXPECT_EQ(text(std::vector<int64_t>{0, INT64_MIN, 0}),
            "-9223372036854775808");
  EXPECT_EQ(text(std::vector<uint64_t>{0, UINT64_MAX, 0}),
            "18446744073709551615");
  EXPECT_EQ(text(std::vector<std::complex<double>>{0, {1, 2}, 0}), "1+2j");
  EXPECT_EQ(text(std::vector<std::complex<float>>{0, {0.5f, -2}, 0}), "0.5-2j");
  EXPECT_EQ(text(std::vector<std::string_view>{"", "a\x1B", ""}), "'a?'");
  const bool bools[] = {false, true, false};
  EXPECT_EQ(ElementText(ElementAt({bools, DType::kBool, shape}, 1)), "True");
  const uint8_t float8[] = {0, 0x38, 0};
  EXPECT_EQ(ElementText(ElementAt({float8, DType::kFloat8E4M3FN, shape}, 1)),
            "1");
}

}  // namespace
}  // namespace smdebug::query
