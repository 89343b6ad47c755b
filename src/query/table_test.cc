#include "src/query/table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/run/keys.h"
#include "tests/testing/files.h"
#include "tests/testing/log_capture.h"
#include "tests/testing/trial_run.h"

namespace smdebug::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TableTest, ADamagedValueIsLeftOutAndNamed) {
  testing::TestTrial made;
  made.run.Declare({"worker_0"});
  for (int64_t step = 0; step < 2; ++step) {
    made.run.At(step).Number("a", 1).Number("b", 2).Publish();
  }
  made.run.End();
  const std::string key = run::EventFileKey(1, "worker_0");
  std::string events = *testing::GetFile(*made.storage, key);
  events.resize(events.size() - 1);  // The end of b.
  testing::PutFile(*made.storage, key, events);
  const testing::LogCapture log;
  const Table table = ReadTable(made.Open(), {.tensors = {"a", "b"}});
  EXPECT_THAT(table.steps, ElementsAre(0, 0, 1));
  EXPECT_THAT(table.values, ElementsAre(1, 2, 1));
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("'b' at step 1: " + key)));
}

TEST(TableTest, RowsAreByStepTensorAndWorker) {
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
  const auto read = [&](const TableQuery& query) {
    return ToJson(ReadTable(trial, query)).dump();
  };

  EXPECT_EQ(
      read({.tensors = {"loss", "w", "g"}, .worker = "b"}),
      R"({"step":[0,0,0,1,1,1],)"
      R"("mode":["TRAIN","TRAIN","TRAIN","TRAIN","TRAIN","TRAIN"],)"
      R"("mode_step":[10,10,10,11,11,11],"worker":["b","b","b","b","b","b"],)"
      R"("tensor":["g","loss","w","g","loss","w"],)"
      R"("value":["NaN",0.0,"NaN","NaN",1.0,"NaN"],)"
      R"("reductions":{"min":[-1.0,"NaN","NaN",-1.0,"NaN","NaN"]}})");
  const Table all = ReadTable(trial, {.tensors = {"loss", "w", "g"}});
  ASSERT_EQ(all.size(), 12);
  EXPECT_THAT(all.tensors, ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
  EXPECT_THAT(all.workers, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(all.tensor_names, ElementsAre("g", "loss", "w"));
  EXPECT_THAT(all.worker_names, ElementsAre("a", "b"));
  // Asked for, and computed where there is a value to compute it from.
  EXPECT_EQ(read({.tensors = {"w", "g"},
                  .mode = Mode::kTrain,
                  .worker = "b",
                  .reductions = {Reduction{ReductionOp::kMax}}}),
            R"({"step":[0,0,1,1],"mode":["TRAIN","TRAIN","TRAIN","TRAIN"],)"
            R"("mode_step":[10,10,11,11],"worker":["b","b","b","b"],)"
            R"("tensor":["g","w","g","w"],"value":["NaN","NaN","NaN","NaN"],)"
            R"("reductions":{"max":["NaN",3.0,"NaN",3.0],)"
            R"("min":[-1.0,"NaN",-1.0,"NaN"]}})");
  EXPECT_EQ(ReadTable(trial, {.tensors = {}}).size(), 0);
  EXPECT_THROW(read({.tensors = {"w"}, .worker = "c"}), InvalidWorker);
}

}  // namespace
}  // namespace smdebug::query
