#include "smdebug/c_api.h"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/run/ledger.h"
#include "tests/testing/run.h"
#include "tests/testing/temp_dir.h"

namespace smdebug {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using testing::TempDir;

constexpr char kAll[] =
    R"({"HookParameters": {"save_interval": "2", "save_all": "true"}})";

class CApiTest : public ::testing::Test {
 protected:
  std::string run() const { return dir_ / "run"; }

  TempDir dir_;
  const float values_[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape_[2] = {2, 3};
  const smdebug_tensor tensor_ = {values_, SMDEBUG_FLOAT32, 2, shape_, nullptr};
};

TEST_F(CApiTest, SavesARun) {
  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr) << smdebug_last_error();
  EXPECT_EQ(smdebug_step(hook), -1);
  EXPECT_EQ(smdebug_set_mode(hook, SMDEBUG_MODE_TRAIN), 0);
  for (int step = 0; step < 4; ++step) {
    EXPECT_EQ(smdebug_begin_step(hook), 0);
    EXPECT_EQ(smdebug_step_is_due(hook), step % 2 == 0 ? 1 : 0);
    EXPECT_EQ(smdebug_is_due(hook, "w"), step % 2 == 0 ? 1 : 0);
    EXPECT_EQ(smdebug_save(hook, "w", &tensor_), 0);
    EXPECT_EQ(smdebug_save_to(hook, "x", &tensor_, "mine"), 0);
    EXPECT_EQ(smdebug_save_scalar(hook, "loss", step), 0);
    EXPECT_EQ(smdebug_end_step(hook), 0);
  }
  EXPECT_EQ(smdebug_begin_step_at(hook, 10), 0);
  EXPECT_EQ(smdebug_save(hook, "w", &tensor_), 0);
  EXPECT_EQ(smdebug_step(hook), 10);
  EXPECT_EQ(smdebug_close(hook), 0);
  const auto trial = Trial::Open(run());
  EXPECT_THAT(trial->Steps(), ElementsAre(0, 2, 10));
  EXPECT_THAT(trial->TensorNames(), ElementsAre("scalar/loss", "w", "x"));
  EXPECT_EQ(trial->ModeOf(2), Mode::kTrain);
}

TEST_F(CApiTest, WaitsForWhatWasSaved) {
  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr) << smdebug_last_error();
  smdebug_begin_step(hook);
  smdebug_save(hook, "w", &tensor_);
  smdebug_end_step(hook);
  EXPECT_EQ(smdebug_flush(hook, -1), 1);
  EXPECT_THAT(Trial::Open(run())->Steps(), ElementsAre(0));
  EXPECT_EQ(smdebug_flush(hook, INT64_MAX), 1);
  EXPECT_EQ(smdebug_close(hook), 0);
  EXPECT_EQ(smdebug_flush(nullptr, 0), 0);
}

TEST_F(CApiTest, StridesCountElements) {
  const int64_t transposed[] = {3, 2};
  const int64_t strides[] = {1, 3};
  const smdebug_tensor tensor = {values_, SMDEBUG_FLOAT32, 2, transposed,
                                 strides};
  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr) << smdebug_last_error();
  smdebug_begin_step(hook);
  EXPECT_EQ(smdebug_save(hook, "w", &tensor), 0);
  smdebug_close(hook);
  const auto trial = Trial::Open(run());
  const Value value = trial->tensor("w").At(0);
  EXPECT_THAT(value.shape(), ElementsAre(3, 2));
  EXPECT_EQ(value.Get(1), 4);
}

TEST_F(CApiTest, WhatIsRefusedIsTold) {
  EXPECT_EQ(smdebug_open(run().c_str(), "{"), nullptr);
  EXPECT_THAT(smdebug_last_error(), HasSubstr("configuration"));
  EXPECT_EQ(smdebug_open("", nullptr), nullptr);
  EXPECT_THAT(smdebug_last_error(), HasSubstr("out_dir"));
  EXPECT_EQ(smdebug_open_worker(run().c_str(), kAll, 2, 2), nullptr);
  EXPECT_THAT(smdebug_last_error(), StartsWith("rank"));

  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr);
  EXPECT_STREQ(smdebug_last_error(), "") << "the last call went well";
  smdebug_begin_step(hook);
  smdebug_tensor bad = tensor_;
  bad.dtype = 7;
  EXPECT_EQ(smdebug_save(hook, "w", &bad), -1);
  EXPECT_THAT(smdebug_last_error(), HasSubstr("dtype"));
  bad = tensor_;
  bad.rank = -1;
  EXPECT_EQ(smdebug_save(hook, "w", &bad), -1);
  bad = tensor_;
  bad.shape = nullptr;
  EXPECT_EQ(smdebug_save(hook, "w", &bad), -1);
  bad = tensor_;
  bad.data = nullptr;
  EXPECT_EQ(smdebug_save(hook, "w", &bad), -1);
  EXPECT_EQ(smdebug_save(hook, nullptr, &tensor_), -1);
  EXPECT_EQ(smdebug_save(hook, "w", nullptr), -1);
  EXPECT_EQ(smdebug_save(nullptr, "w", &tensor_), -1);
  EXPECT_EQ(smdebug_begin_step_at(hook, 0), 0) << "it is the current step";
  EXPECT_EQ(smdebug_begin_step_at(hook, -1), -1);
  EXPECT_EQ(smdebug_set_mode(hook, 9), -1);
  EXPECT_EQ(smdebug_close(hook), 0);
  EXPECT_EQ(smdebug_close(nullptr), 0);
  const auto ledger = run::ParseLedger(
      *testing::GetFile(*OpenStorage(run()), "ledger/worker_0.json"), "ledger");
  EXPECT_EQ(ledger.stats.skipped, 7) << "six tensors and a mode";
  EXPECT_EQ(ledger.stats.errors, 1) << "the step";
  EXPECT_THAT(ledger.messages,
              Contains(Pair("'smdebug_save'", HasSubstr("dtype"))));
}

TEST_F(CApiTest, EveryTypeHasItsNumber) {
  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr);
  smdebug_begin_step(hook);
  const double zeros[12] = {};
  for (const int32_t dtype :
       {SMDEBUG_FLOAT32, SMDEBUG_FLOAT64, SMDEBUG_INT32, SMDEBUG_UINT8,
        SMDEBUG_INT16, SMDEBUG_INT8, SMDEBUG_COMPLEX64, SMDEBUG_INT64,
        SMDEBUG_BOOL, SMDEBUG_BFLOAT16, SMDEBUG_UINT16, SMDEBUG_COMPLEX128,
        SMDEBUG_FLOAT16, SMDEBUG_UINT32, SMDEBUG_UINT64, SMDEBUG_FLOAT8_E5M2,
        SMDEBUG_FLOAT8_E4M3FN}) {
    const smdebug_tensor tensor = {zeros, dtype, 2, shape_, nullptr};
    EXPECT_EQ(smdebug_save(hook, std::to_string(dtype).c_str(), &tensor), 0)
        << smdebug_last_error();
  }
  smdebug_close(hook);
  EXPECT_EQ(Trial::Open(run())->TensorNames().size(), 17u);
}

TEST_F(CApiTest, AMetricIsAScalarOfItsCollection) {
  smdebug_hook* hook = smdebug_open(run().c_str(), kAll);
  ASSERT_NE(hook, nullptr);
  smdebug_begin_step(hook);
  EXPECT_EQ(smdebug_save(hook, "w", &tensor_), 0);
  EXPECT_EQ(smdebug_save_metric(hook, "accuracy", 0.5), 0);
  EXPECT_EQ(smdebug_save_scalar(hook, "lr", 0.1), 0);
  EXPECT_EQ(smdebug_save_metric(hook, nullptr, 0.5), -1);
  smdebug_close(hook);
  const auto trial = Trial::Open(run());
  EXPECT_THAT(trial->TensorNames({.collection = "sm_metrics"}),
              ElementsAre("scalar/accuracy"));
  EXPECT_EQ(trial->tensor("scalar/accuracy").At(0).Get(0), 0.5);
}

}  // namespace
}  // namespace smdebug
