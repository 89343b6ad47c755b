#include "src/reduce/reduce.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/reduce/kernels.h"
#include "src/reduce/reference.h"
#include "src/reduce/testing.h"

namespace smdebug::reduce {
namespace {

using testing::Dense;
using testing::Elements;
using testing::ExpectStatistics;
using testing::Mix;
using testing::ReferenceStatistics;

constexpr Wanted kAll = {.prod = true, .median = true, .abs_median = true};

// Magnitudes are rounded; all other types are exact.
double RoundingOf(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128 ? 1e-15 : 0;
}

void ExpectLikeReference(const Elements& elements) {
  const Statistics expected = ReferenceStatistics(elements.values());
  const TensorView view = elements.view();
  testing::OnEveryTarget([&](const std::string& target) {
    SCOPED_TRACE(target);
    ExpectStatistics(Reduce(view, kAll), expected, RoundingOf(view.dtype));
  });
}

class ReduceTest : public ::testing::TestWithParam<DType> {};

TEST_P(ReduceTest, AgreesWithAPlainLoopAtEveryLength) {
  constexpr std::array<Mix, 5> kMixes = {Mix::kPlain, Mix::kWide, Mix::kZeros,
                                         Mix::kInfinite, Mix::kNan};
  const size_t offsets = 64 / ItemSize(GetParam());
  for (size_t length = 0; length <= 257; ++length) {
    const Mix mix = kMixes[length % kMixes.size()];
    SCOPED_TRACE(
        fmt::format("length {} mix {}", length, static_cast<int>(mix)));
    ExpectLikeReference(
        Elements(GetParam(), length, mix, length, length % offsets));
    if (HasFailure()) return;
  }
}

TEST_P(ReduceTest, AgreesWithAPlainLoopAtEveryOffset) {
  for (size_t offset = 0; offset < 64 / ItemSize(GetParam()); ++offset) {
    SCOPED_TRACE(fmt::format("offset {}", offset));
    ExpectLikeReference(Elements(GetParam(), 131, Mix::kZeros, offset, offset));
    ExpectLikeReference(Elements(GetParam(), 70, Mix::kWide, offset, offset));
    if (HasFailure()) return;
  }
}

TEST_P(ReduceTest, AgreesWithAPlainLoopForEveryMix) {
  for (const Mix mix :
       {Mix::kPlain, Mix::kWide, Mix::kZeros, Mix::kInfinite, Mix::kNan}) {
    for (const size_t length : {1u, 2u, 3u, 63u, 200u}) {
      SCOPED_TRACE(
          fmt::format("length {} mix {}", length, static_cast<int>(mix)));
      ExpectLikeReference(Elements(GetParam(), length, mix, 99 + length));
    }
  }
}

TEST_P(ReduceTest, AgreesWithAPlainLoopAcrossBlocks) {
  for (const size_t length :
       {kBlock<double>, kBlock<float> + 1, 3 * kBlock<float> - 1}) {
    for (const Mix mix : {Mix::kPlain, Mix::kZeros}) {
      SCOPED_TRACE(
          fmt::format("length {} mix {}", length, static_cast<int>(mix)));
      ExpectLikeReference(Elements(GetParam(), length, mix, length));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ReduceTest,
                         ::testing::ValuesIn(testing::kReducible),
                         [](const auto& dtype) {
                           return std::string(DTypeName(dtype.param));
                         });

TEST(ReduceTargetsTest, EveryTargetHasItsOwnKernels) {
  std::set<const Kernels*> kernels;
  size_t targets = 0;
  testing::OnEveryTarget([&](const std::string&) {
    kernels.insert(&BestKernels());
    ++targets;
  });
  EXPECT_EQ(kernels.size(), targets);
  EXPECT_GE(targets, 1u);
}

TEST(ReduceTargetsTest, SameInputGivesSameBits) {
  const Elements elements(DType::kFloat32, 100'001, Mix::kPlain, 5);
  const Statistics first = Reduce(elements.view(), kAll);
  const Statistics second = Reduce(elements.view(), kAll);
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      EXPECT_EQ(first.Value(reduction, Spread::kSample),
                second.Value(reduction, Spread::kSample))
          << ReductionName(reduction);
    }
  }
}

TEST(ReduceSpecialTest, AnEmptyTensorHasSumsButNoExtremes) {
  const std::array<int64_t, 2> shape = {3, 0};
  const Statistics s = Reduce({nullptr, DType::kFloat32, shape, {}}, kAll);
  EXPECT_EQ(s.count, 0);
  for (const ReductionOp op : kReductionOps) {
    SCOPED_TRACE(OpName(op));
    for (const bool abs : {false, true}) {
      const double value = s.Value({op, abs}, Spread::kPopulation);
      if (op == ReductionOp::kProd) {
        EXPECT_EQ(value, 1);
      } else if (op == ReductionOp::kSum || op == ReductionOp::kL1 ||
                 op == ReductionOp::kL2) {
        EXPECT_EQ(value, 0);
      } else {
        EXPECT_TRUE(std::isnan(value));
      }
    }
  }
}

TEST(ReduceSpecialTest, ARankOfZeroIsOneElement) {
  const float value = -2.5f;
  const Statistics s = Reduce({&value, DType::kFloat32, {}, {}}, kAll);
  EXPECT_EQ(s.count, 1);
  EXPECT_EQ(s.Value({ReductionOp::kMean}, Spread::kSample), -2.5);
  EXPECT_EQ(s.Value({ReductionOp::kMedian, true}, Spread::kSample), 2.5);
  EXPECT_EQ(s.Value({ReductionOp::kVariance}, Spread::kPopulation), 0);
  EXPECT_TRUE(std::isnan(s.Value({ReductionOp::kStd}, Spread::kSample)));
}

TEST(ReduceSpecialTest, ANanMakesEveryReductionNan) {
  std::vector<float> values(10'000, 1);
  values[7'777] = NAN;
  const Statistics s = Reduce(Dense<float>(values).view, kAll);
  EXPECT_EQ(s.nan, 1);
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      EXPECT_TRUE(std::isnan(s.Value({op, abs}, Spread::kPopulation)))
          << ReductionName({op, abs});
    }
  }
}

TEST(ReduceSpecialTest, AnInfinityGoesThroughAsInNumPy) {
  std::vector<float> values(10'000, -2);
  values[5] = HUGE_VALF;
  const Statistics s = Reduce(Dense<float>(values).view, kAll);
  EXPECT_EQ(s.pos_inf, 1);
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, HUGE_VAL);
  EXPECT_EQ(s.sum, HUGE_VAL);
  EXPECT_EQ(s.abs_sum, HUGE_VAL);
  EXPECT_EQ(s.prod, -HUGE_VAL);
  EXPECT_EQ(s.median, -2);
  EXPECT_EQ(s.abs_median, 2);
  EXPECT_TRUE(std::isnan(s.deviations));
  values[6] = -HUGE_VALF;
  EXPECT_TRUE(std::isnan(Reduce(Dense<float>(values).view, kAll).sum));
}

TEST(ReduceSpecialTest, ValuesFollowFromTheStatistics) {
  const std::vector<float> values = {-4, 1, 2, 2};
  const Statistics s = Reduce(Dense<float>(values).view, kAll);
  struct Row {
    ReductionOp op;
    double plain;
    double abs;
  };
  for (const Row& row :
       std::vector<Row>{{ReductionOp::kMin, -4, 1},
                        {ReductionOp::kMax, 2, 4},
                        {ReductionOp::kMean, 0.25, 2.25},
                        {ReductionOp::kMedian, 1.5, 2},
                        {ReductionOp::kSum, 1, 9},
                        {ReductionOp::kProd, -16, 16},
                        {ReductionOp::kL1, 9, 9},
                        {ReductionOp::kL2, 5, 5},
                        {ReductionOp::kVariance, 6.1875, 1.1875}}) {
    SCOPED_TRACE(OpName(row.op));
    EXPECT_DOUBLE_EQ(s.Value({row.op, false}, Spread::kPopulation), row.plain);
    EXPECT_DOUBLE_EQ(s.Value({row.op, true}, Spread::kPopulation), row.abs);
  }
  EXPECT_DOUBLE_EQ(s.Value({ReductionOp::kVariance}, Spread::kSample), 8.25);
  EXPECT_DOUBLE_EQ(s.Value({ReductionOp::kStd}, Spread::kSample),
                   std::sqrt(8.25));
}

TEST(ReduceSpecialTest, WantedListsWhatCostsExtra) {
  const std::vector<Reduction> cheap = {{ReductionOp::kMean, true},
                                        {ReductionOp::kStd}};
  EXPECT_FALSE(Wanted::For(cheap).prod);
  EXPECT_FALSE(Wanted::For(cheap).median);
  const std::vector<Reduction> dear = {{ReductionOp::kProd, true},
                                       {ReductionOp::kMedian, true}};
  EXPECT_TRUE(Wanted::For(dear).prod);
  EXPECT_FALSE(Wanted::For(dear).median);
  EXPECT_TRUE(Wanted::For(dear).abs_median);
}

// Value() knows every ReductionOp, or it would not compile.
TEST(ReduceSpecialTest, EveryReductionHasItsRow) {
  Statistics of_two;
  of_two.count = 2;
  for (int number = 0; number < 256; ++number) {
    const Reduction reduction = {static_cast<ReductionOp>(number)};
    const bool known =
        !std::isnan(of_two.Value(reduction, Spread::kPopulation));
    EXPECT_EQ(static_cast<size_t>(number) < kReductionTypes.size(), known)
        << number;
  }
}

// Decode() knows every number of DType, or it would not compile.
TEST(ReduceSpecialTest, EveryElementTypeHasItsRow) {
  alignas(16) const std::array<std::byte, 16> zeros{};
  for (int number = 0; number < 256; ++number) {
    const auto dtype = static_cast<DType>(number);
    const bool known = testing::Decode(dtype, zeros.data()) == 0;
    EXPECT_EQ(IsReducible(dtype), known) << number;
  }
}

TEST(ReduceSpecialTest, TextIsRefused) {
  const std::array<std::string_view, 1> text = {"a"};
  const std::array<int64_t, 1> shape = {1};
  EXPECT_FALSE(IsReducible(DType::kString));
  EXPECT_THROW(Reduce(ViewOf<std::string_view>(text, shape), {}), Error);
}

}  // namespace
}  // namespace smdebug::reduce
