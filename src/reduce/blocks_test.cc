#include "src/reduce/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/reduce/reduce.h"
#include "src/reduce/reference.h"
#include "src/reduce/testing.h"

namespace smdebug::reduce {
namespace {

struct Strided {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t first;  // The element with all indices 0.
};

// Views into 20000 elements.
const std::vector<Strided>& Views() {
  static const std::vector<Strided> kViews = {
      {"transposed", {20, 30}, {1, 20}, 0},
      {"large transposed", {90, 100}, {1, 90}, 0},
      {"reversed", {5'000}, {-1}, 4'999},
      {"every third", {5'000}, {3}, 2},
      {"every third backwards", {5'000}, {-3}, 15'000},
      {"columns of a matrix", {90, 37}, {200, 1}, 11},
      {"repeated row", {7, 901}, {0, 1}, 3},
      {"repeated element", {5'000}, {0}, 8},
      {"repeated column", {901, 7}, {2, 0}, 3},
      {"permuted", {6, 7, 8, 9}, {9, 432, 54, 1}, 5},
      {"mirrored", {30, 40}, {-40, -1}, 1'199},
      {"with axes of one", {1, 50, 1, 60}, {7, 120, 99, 2}, 0},
      {"empty", {5, 0, 3}, {1, 2, 3}, 0},
      {"one", {1, 1}, {5, 5}, 77},
  };
  return kViews;
}

void AppendAxis(const Strided& view, size_t axis, int64_t at,
                std::vector<int64_t>& places) {
  if (axis == view.shape.size()) {
    places.push_back(at);
    return;
  }
  for (int64_t i = 0; i < view.shape[axis]; ++i) {
    AppendAxis(view, axis + 1, at + i * view.strides[axis], places);
  }
}

std::vector<int64_t> PlacesOf(const Strided& view) {
  std::vector<int64_t> places;
  AppendAxis(view, 0, view.first, places);
  return places;
}

TEST(StridedReduceTest, ReadsTheElementsOfEveryView) {
  constexpr Wanted kAll = {.prod = true, .median = true, .abs_median = true};
  for (const DType dtype : testing::kReducible) {
    const testing::Elements elements(dtype, 20'000, testing::Mix::kPlain, 21);
    const bool rounded =
        dtype == DType::kComplex64 || dtype == DType::kComplex128;
    for (const Strided& strided : Views()) {
      SCOPED_TRACE(std::string(DTypeName(dtype)) + " " + strided.name);
      std::vector<double> values;
      for (const int64_t place : PlacesOf(strided)) {
        values.push_back(elements.values()[static_cast<size_t>(place)]);
      }
      TensorView view = elements.view();
      view.data = static_cast<const std::byte*>(view.data) +
                  strided.first * static_cast<int64_t>(ItemSize(dtype));
      view.shape = strided.shape;
      view.strides = strided.strides;
      testing::ExpectStatistics(Reduce(view, kAll),
                                testing::ReferenceStatistics(values),
                                rounded ? 1e-15 : 0);
    }
  }
}

TEST(StridedReduceTest, ReadsElementsThatAreNotAligned) {
  std::vector<std::byte> bytes(1 + 1'000 * sizeof(double));
  std::vector<double> values(1'000);
  std::iota(values.begin(), values.end(), -300.0);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(double));
  const std::array<int64_t, 1> shape = {1'000};
  const Statistics s =
      Reduce({bytes.data() + 1, DType::kFloat64, shape, {}}, {.median = true});
  EXPECT_EQ(s.sum, 199'500);
  EXPECT_EQ(s.median, 199.5);
}

TEST(BlockReaderTest, ReadsEveryCodeOfTheSmallTypes) {
  std::vector<uint16_t> codes(65'536);
  std::iota(codes.begin(), codes.end(), uint16_t{0});
  for (const DType dtype : testing::kReducible) {
    if (ItemSize(dtype) > 2) continue;
    const std::vector<int64_t> shape = {
        static_cast<int64_t>(codes.size() * 2 / ItemSize(dtype))};
    testing::OnEveryTarget([&](const std::string& target) {
      SCOPED_TRACE(target + " " + std::string(DTypeName(dtype)));
      BlockReader<float> reader({codes.data(), dtype, shape, {}},
                                BestKernels());
      const auto* next = reinterpret_cast<const std::byte*>(codes.data());
      size_t wrong = 0;
      for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
        for (const float value : block) {
          const double expected = testing::Decode(dtype, next);
          const bool same =
              std::isnan(expected)
                  ? std::isnan(value)
                  : value == expected &&
                        std::signbit(value) == std::signbit(expected);
          wrong += same ? 0 : 1;
          next += ItemSize(dtype);
        }
      }
      EXPECT_EQ(wrong, 0u);
    });
  }
}

TEST(BlockReaderTest, HandsOutTheTensorsOwnMemoryWhereItCan) {
  std::vector<float> values(kBlock<float> + 10);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::vector<int64_t> shape = {static_cast<int64_t>(values.size())};
  BlockReader<float> reader({values.data(), DType::kFloat32, shape, {}},
                            BestKernels());
  for (int round = 0; round < 2; ++round) {
    const auto first = reader.Next();
    EXPECT_EQ(first.data(), values.data());
    EXPECT_EQ(first.size(), kBlock<float>);
    EXPECT_EQ(reader.Next().size(), 10u);
    EXPECT_TRUE(reader.Next().empty());
    reader.Rewind();
  }
  const std::vector<int64_t> matrix = {2, 5};
  const std::vector<int64_t> transposed = {1, 2};
  BlockReader<float> other({values.data(), DType::kFloat32, matrix, transposed},
                           BestKernels());
  EXPECT_EQ(other.Next().data(), values.data());
}

}  // namespace
}  // namespace smdebug::reduce
