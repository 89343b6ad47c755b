#include "src/query/json.h"

#include <cmath>
#include <complex>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace smdebug::query {
namespace {

TEST(JsonTest, WhatJsonLacksIsAString) {
  EXPECT_EQ(JsonNumber(0.1).dump(), "0.1");
  EXPECT_EQ(JsonNumber(NAN), "NaN");
  EXPECT_EQ(JsonNumber(INFINITY), "Infinity");
  EXPECT_EQ(JsonNumber(-INFINITY), "-Infinity");
}

TEST(JsonTest, ArraysAreListsByTheirShape) {
  const std::vector<int64_t> integers = {1, 2, 3, INT64_MAX};
  const std::vector<int64_t> square = {2, 2};
  EXPECT_EQ(JsonArray(ViewOf<int64_t>(integers, square)).dump(),
            "[[1,2],[3,9223372036854775807]]");
  const std::vector<std::complex<double>> complex = {{1, INFINITY}};
  EXPECT_EQ(JsonArray(ViewOf<std::complex<double>>(complex, {})).dump(),
            "[1.0,\"Infinity\"]");
  const std::vector<std::string_view> words = {"a"};
  const std::vector<int64_t> one = {1};
  EXPECT_EQ(JsonArray(ViewOf<std::string_view>(words, one)).dump(), "[\"a\"]");
  const std::vector<int64_t> absurd(1'000'000, 1);
  EXPECT_EQ(JsonArray(ViewOf<int64_t>({integers.data(), 1}, absurd)).dump(),
            "[1]");
  const std::vector<int64_t> empty = {2, 0};
  EXPECT_EQ(JsonArray(ViewOf<int64_t>({}, empty)).dump(), "[[],[]]");
}

}  // namespace
}  // namespace smdebug::query
