#include "smdebug/tensor.h"

#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/bytes.h"
#include "src/tensor/gather.h"

namespace smdebug {
namespace {

std::vector<float> Dense(const TensorView& view) {
  std::vector<float> out(static_cast<size_t>(view.size()));
  tensor::CopyDense(view, std::as_writable_bytes(std::span(out)));
  return out;
}

class TensorViewTest : public testing::Test {
 protected:
  TensorViewTest() : values_(24) {
    std::iota(values_.begin(), values_.end(), 0.0f);
  }

  std::vector<float> values_;
};

TEST_F(TensorViewTest, CountsElementsAndBytes) {
  const std::array<int64_t, 3> shape = {2, 3, 4};
  const TensorView view = ViewOf<float>(values_, shape);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(view.byte_size(), 96u);
  EXPECT_EQ(TensorView{.data = values_.data()}.size(), 1);
  const std::array<int64_t, 2> empty = {3, 0};
  EXPECT_EQ(ViewOf<float>({}, empty).size(), 0);
}

TEST_F(TensorViewTest, CountsTheBytesOfStrings) {
  const std::array<std::string_view, 2> text = {"foo", "b\xC3\xA4rz"};
  const std::array<int64_t, 1> shape = {2};
  EXPECT_EQ(ViewOf<std::string_view>(text, shape).byte_size(), 8u);
}

TEST_F(TensorViewTest, AbsurdShapesDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::array<int64_t, 2> huge = {kMost, kMost};
  const TensorView view = {values_.data(), DType::kFloat32, huge, {}};
  EXPECT_EQ(view.size(), kMost);
  EXPECT_EQ(view.byte_size(), std::numeric_limits<uint64_t>::max());
  const std::array<int64_t, 2> strides = {kMost, 1};
  EXPECT_FALSE(
      (TensorView{values_.data(), DType::kFloat32, huge, strides}).dense());
  const std::array<int64_t, 2> negative = {-4, kMost};
  EXPECT_EQ(
      (TensorView{values_.data(), DType::kFloat32, negative, {}}).byte_size(),
      0u);
}

TEST_F(TensorViewTest, KnowsWhatIsDense) {
  const std::array<int64_t, 2> shape = {4, 6};
  const std::array<int64_t, 2> c_order = {6, 1};
  const std::array<int64_t, 2> transposed = {1, 4};
  TensorView view = ViewOf<float>(values_, shape);
  EXPECT_TRUE(view.dense());
  view.strides = c_order;
  EXPECT_TRUE(view.dense());
  view.strides = transposed;
  EXPECT_FALSE(view.dense());
  const std::array<int64_t, 2> column = {24, 1};
  const std::array<int64_t, 2> any_stride_of_one = {1, 77};
  EXPECT_TRUE(
      (TensorView{values_.data(), DType::kFloat32, column, any_stride_of_one})
          .dense());
}

TEST_F(TensorViewTest, CopiesStridedElementsInCOrder) {
  const std::array<int64_t, 2> shape = {2, 3};
  const std::array<int64_t, 2> transposed = {1, 2};
  EXPECT_EQ(Dense({values_.data(), DType::kFloat32, shape, transposed}),
            (std::vector<float>{0, 2, 4, 1, 3, 5}));
  const std::array<int64_t, 1> five = {5};
  const std::array<int64_t, 1> backwards = {-2};
  EXPECT_EQ(Dense({values_.data() + 8, DType::kFloat32, five, backwards}),
            (std::vector<float>{8, 6, 4, 2, 0}));
  const std::array<int64_t, 2> broadcast = {0, 1};
  EXPECT_EQ(Dense({values_.data(), DType::kFloat32, shape, broadcast}),
            (std::vector<float>{0, 1, 2, 0, 1, 2}));
}

TEST(DTypeTest, NamesReadBack) {
  for (int number = 0; number < 64; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (DTypeName(dtype) == "unknown") continue;
    EXPECT_EQ(ParseDType(DTypeName(dtype)), dtype);
  }
  EXPECT_EQ(ParseDType("float31"), std::nullopt);
}

}  // namespace
}  // namespace smdebug
