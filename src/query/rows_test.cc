#include "src/query/rows.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

using ::testing::SizeIs;

TEST(RowsTest, RowsAreByStepTensorAndWorker) {
  testing::TestTrial made;
  made.run.Declare({"a", "b"});
  for (const std::string worker : {"a", "b"}) {
    for (int64_t step = 0; step < 2; ++step) {
      made.run.At(step, worker, Mode::kTrain, step + 10)
          .Number("loss", static_cast<float>(step))
          .Tensor("w", {1, 3})
          .Number("smdebug/reductions/min/g", -1)
          .Publish();
    }
  }
  made.run.End();
  Trial& trial = made.Open();
  const auto read = [&](const RowQuery& query) {
    std::vector<std::string> rows;
    for (const Row& row : ReadRows(trial, query)) {
      rows.push_back(ToJson(row).dump());
    }
    return rows;
  };

  const auto all = read({.tensors = {"loss", "w", "g"}});
  ASSERT_THAT(all, SizeIs(12));
  EXPECT_EQ(all[0], R"({"step":0,"mode":"TRAIN","mode_step":10,"worker":"a",)"
                    R"("tensor":"g","value":null,"reductions":{"min":-1.0}})");
  EXPECT_EQ(all[9], R"({"step":1,"mode":"TRAIN","mode_step":11,"worker":"b",)"
                    R"("tensor":"loss","value":1.0,"reductions":{}})");
  // Asked for, and computed where there is a value to compute it from.
  const auto some = read({.tensors = {"w", "g"},
                          .mode = Mode::kTrain,
                          .worker = "b",
                          .reductions = {Reduction{ReductionOp::kMax}}});
  ASSERT_THAT(some, SizeIs(4));
  EXPECT_EQ(some[0], R"({"step":0,"mode":"TRAIN","mode_step":10,"worker":"b",)"
                     R"("tensor":"g","value":null,"reductions":{"min":-1.0}})");
  EXPECT_EQ(some[1], R"({"step":0,"mode":"TRAIN","mode_step":10,"worker":"b",)"
                     R"("tensor":"w","value":null,"reductions":{"max":3.0}})");
  EXPECT_THAT(read({.tensors = {}}), SizeIs(0));
  EXPECT_THROW(read({.tensors = {"w"}, .worker = "c"}), InvalidWorker);
}

}  // namespace
}  // namespace smdebug::query
