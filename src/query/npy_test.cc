#include "src/query/npy.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"

namespace smdebug::query {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string FileOf(const TensorView& tensor) {
  const NpyArray array(tensor);
  std::string file;
  array.Write([&](Bytes bytes) { file += base::AsText(bytes); });
  EXPECT_EQ(file.size(), array.size());
  return file;
}

TEST(NpyTest, TheHeaderIsAsTheFormatSays) {
  const int64_t shape[] = {2, 3};
  const std::string header = NpyHeader("<f4", shape);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const size_t length = static_cast<unsigned char>(header[8]) +
                        256u * static_cast<unsigned char>(header[9]);
  EXPECT_EQ(length, header.size() - 10);
  EXPECT_THAT(header, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': (2, 3), }"));
  EXPECT_THAT(header, EndsWith(" \n"));
}

TEST(NpyTest, HeadersOfAnyLengthAreAligned) {
  std::vector<int64_t> shape;
  for (int rank = 0; rank < 32; ++rank) {
    EXPECT_EQ(NpyHeader("<f4", shape).size() % 64, 0u);
    shape.push_back(int64_t{1} << rank);
  }
}

TEST(NpyTest, AbsurdlyManyAxesAreRefused) {
  EXPECT_THROW(NpyHeader("<f4", std::vector<int64_t>(100'000, 1)), Error);
}

TEST(NpyTest, NumbersAreStoredAsTheyLie) {
  const std::vector<float> values = {1, 2, 3};
  const int64_t shape[] = {3};
  const std::string file = FileOf(ViewOf<float>(values, shape));
  ASSERT_EQ(file.size(), 128u + 12u);
  EXPECT_EQ(file.substr(128), base::AsText(std::as_bytes(std::span(values))));
}

TEST(NpyTest, EmptyTensorsAreAHeader) {
  const int64_t shape[] = {0, 4};
  for (const DType dtype :
       {DType::kFloat32, DType::kBfloat16, DType::kString}) {
    const std::string file = FileOf({nullptr, dtype, shape});
    EXPECT_EQ(file.size(), 128u);
    EXPECT_THAT(file, HasSubstr("'shape': (0, 4)"));
  }
}

TEST(NpyTest, WhatNumPyLacksBecomesFloat32) {
  const std::vector<uint16_t> ones(5000, 0x3F80);
  const int64_t shape[] = {5000};
  const std::string file = FileOf({ones.data(), DType::kBfloat16, shape});
  EXPECT_THAT(file, HasSubstr("'<f4'"));
  ASSERT_EQ(file.size(), 128u + 20000u);
  std::vector<float> floats(5000);
  std::memcpy(floats.data(), file.data() + 128, 20000);
  EXPECT_EQ(floats, std::vector<float>(5000, 1.0f));
}

TEST(NpyTest, StringsBecomeCodePointsOfOneLength) {
  const std::vector<std::string_view> words = {
      "a", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "", "\xFFx"};
  const int64_t shape[] = {4};
  const std::string file = FileOf(ViewOf<std::string_view>(words, shape));
  EXPECT_THAT(file, HasSubstr("'<U3'"));
  ASSERT_EQ(file.size(), 128u + 4 * 3 * 4);
  std::vector<char32_t> points(12);
  std::memcpy(points.data(), file.data() + 128, 48);
  EXPECT_EQ(points, (std::vector<char32_t>{U'a', 0, 0,  //
                                           U'\u00E9', U'\u20AC', U'\U0001F600',
                                           0, 0, 0,  //
                                           U'\uFFFD', U'x', 0}));
}

TEST(NpyTest, MalformedTextNeverReadsBeyondItsEnd) {
  const std::vector<std::string_view> words = {
      "\xE2\x82", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80",
      "\xE0\x80\x80"};
  const int64_t shape[] = {5};
  const std::string file = FileOf(ViewOf<std::string_view>(words, shape));
  EXPECT_THAT(file, HasSubstr("'<U4'"));
}

}  // namespace
}  // namespace smdebug::query
