#include "src/query/tensor_compare.h"

#include <cmath>
#include <complex>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

using ::testing::HasSubstr;

template <typename A, typename B = A>
Comparison Compare(const std::vector<A>& a, const std::vector<B>& b,
                   Tolerance tolerance = {}) {
  const int64_t a_shape[] = {static_cast<int64_t>(a.size())};
  const int64_t b_shape[] = {static_cast<int64_t>(b.size())};
  return CompareTensors(ViewOf<A>(a, a_shape), ViewOf<B>(b, b_shape),
                        tolerance);
}

TEST(TensorCompareTest, ClosenessIsThatOfNumPy) {
  EXPECT_TRUE(IsClose(1, 1 + 1e-6, {}));
  EXPECT_FALSE(IsClose(1, 1 + 1e-4, {}));
  EXPECT_TRUE(IsClose(0, 1e-9, {}));
  EXPECT_FALSE(IsClose(0, 1e-7, {}));
  // Relative to the second: 0.1 of 10 and 0.1 of 9.1.
  EXPECT_TRUE(IsClose(9, 10, {.rtol = 0.1, .atol = 0}));
  EXPECT_FALSE(IsClose(10, 9.0, {.rtol = 0.1, .atol = 0}));
  EXPECT_FALSE(IsClose(1, 1 + 1e-15, {.rtol = 0, .atol = 0}));
  EXPECT_TRUE(IsClose(NAN, NAN, {}));
  EXPECT_FALSE(IsClose(NAN, 1, {}));
  EXPECT_TRUE(IsClose(INFINITY, INFINITY, {}));
  EXPECT_FALSE(IsClose(INFINITY, -INFINITY, {}));
  EXPECT_FALSE(IsClose(1e300, INFINITY, {}));
}

TEST(TensorCompareTest, FindsTheLargestDifferenceAndCountsAll) {
  const Comparison result =
      Compare<float>({1, 2, 3, 4, NAN}, {1, 2.5f, 3, 8, NAN});
  EXPECT_FALSE(result.equal());
  EXPECT_EQ(result.count, 5);
  EXPECT_EQ(result.differing, 2);
  EXPECT_EQ(result.largest, 4);
  EXPECT_EQ(result.where, 3);
  EXPECT_EQ(result.a, "4");
  EXPECT_EQ(result.b, "8");
}

TEST(TensorCompareTest, ANaNIsInfinitelyFarFromANumber) {
  const Comparison result = Compare<double>({1, NAN}, {100, 2});
  EXPECT_EQ(result.largest, INFINITY);
  EXPECT_EQ(result.where, 1);
  EXPECT_EQ(result.a, "nan");
}

TEST(TensorCompareTest, EqualBytesAreEqual) {
  EXPECT_TRUE(Compare<float>({1, NAN}, {1, NAN}).equal());
  EXPECT_TRUE(Compare<float>({}, {}).equal());
}

TEST(TensorCompareTest, TypesMayDiffer) {
  EXPECT_TRUE((Compare<float, int32_t>({1, 2}, {1, 2}).equal()));
  EXPECT_EQ((Compare<double, uint8_t>({1, 2.5}, {1, 2}).differing), 1);
}

TEST(TensorCompareTest, WideIntegersAreExact) {
  const int64_t big = int64_t{1} << 60;
  const Comparison exact = Compare<int64_t>({big}, {big + 1}, {0, 0});
  EXPECT_EQ(exact.differing, 1);
  EXPECT_EQ(exact.largest, 1);
  EXPECT_TRUE(Compare<int64_t>({big}, {big + 1}).equal());
}

TEST(TensorCompareTest, ComplexNumbersDifferByTheirMagnitude) {
  using C = std::complex<double>;
  const Comparison result = Compare<C>({C(1, 1), C(0, 0)}, {C(1, 1), C(3, 4)});
  EXPECT_EQ(result.differing, 1);
  EXPECT_EQ(result.largest, 5);
  EXPECT_EQ(result.b, "3+4j");
  // The magnitudes alone would be equal.
  EXPECT_FALSE(Compare<C>({C(3, 4)}, {C(4, 3)}).equal());
  EXPECT_TRUE(Compare<C>({C(NAN, 1)}, {C(NAN, 1)}).equal());
  EXPECT_FALSE(Compare<C>({C(1, 1)}, {C(INFINITY, 1)}).equal());
  EXPECT_TRUE((Compare<C, double>({C(2, 0)}, {2}).equal()));
}

TEST(TensorCompareTest, StringsAreEqualOrNot) {
  using S = std::string_view;
  EXPECT_TRUE(Compare<S>({"a", "b"}, {"a", "b"}).equal());
  const Comparison result = Compare<S>({"a", "b", "c"}, {"a", "x", "y"});
  EXPECT_EQ(result.differing, 2);
  EXPECT_EQ(result.where, 1);
  EXPECT_EQ(result.b, "'x'");
}

TEST(TensorCompareTest, WhatCannotBeComparedSaysWhy) {
  EXPECT_EQ(Compare<float>({1}, {1, 2}).mismatch, "shape (1,) against (2,)");
  EXPECT_THAT((Compare<float, std::string_view>({1}, {"1"}).mismatch),
              HasSubstr("float32 against str"));
}

}  // namespace
}  // namespace smdebug::query
