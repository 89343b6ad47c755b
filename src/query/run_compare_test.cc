#include "src/query/run_compare.h"

#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/query/table.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

// As hooks of earlier versions let it pass.
TEST(RunCompareTest, WhatOnlyHasTheNameOfAReductionDoesNotHideTheRest) {
  testing::TestTrial made;
  made.run.Declare({"worker_0"});
  made.run.At(0)
      .Tensor("smdebug/reductions/mean/zz", {1, 2})
      .Tensor("w", {3})
      .Publish();
  made.run.End();
  Trial& trial = made.Open();
  const RunComparison result = CompareRuns(
      trial, trial, {}, [](uint64_t) {}, [] {});
  EXPECT_EQ(result.compared, 2);
  EXPECT_TRUE(result.equal());
  EXPECT_EQ(
      ToJson(ReadTable(trial, {.tensors = {"zz", "w"}}))["reductions"].dump(),
      R"({"mean":["NaN","NaN"]})");
  EXPECT_THROW(
      trial.tensor("zz").ReductionValue(0, Reduction{ReductionOp::kMean}),
      FormatError);
}

}  // namespace
}  // namespace smdebug::query
