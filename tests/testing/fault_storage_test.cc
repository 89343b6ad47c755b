#include "tests/testing/fault_storage.h"

#include <cerrno>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "tests/testing/files.h"

namespace smdebug::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

template <typename Call>
int CodeOf(Call call) {
  try {
    call();
  } catch (const IoError& error) {
    return error.code();
  }
  return 0;
}

class FaultStorageTest : public ::testing::Test {
 protected:
  FaultStorage storage_{OpenMemoryStorage()};
  FaultPlan& plan_ = storage_.plan();
};

TEST_F(FaultStorageTest, FailsOnlyTheNthFromNow) {
  PutFile(storage_, "before", "x");
  plan_.FailNth(Operation::kPublish, 2, EIO);
  PutFile(storage_, "first", "x");
  EXPECT_EQ(CodeOf([&] { PutFile(storage_, "second", "x"); }), EIO);
  PutFile(storage_, "third", "x");
  EXPECT_THAT(Keys(storage_), ElementsAre("before", "first", "third"));
  EXPECT_EQ(plan_.count(Operation::kPublish), 4u);
  EXPECT_EQ(plan_.failures(), 1u);
}

TEST_F(FaultStorageTest, FailsAnyKindOfOperation) {
  PutFile(storage_, "a", "x");
  const auto expect_failure = [&](Operation operation, auto call) {
    plan_.FailAll(operation, EACCES);
    EXPECT_EQ(CodeOf(call), EACCES) << static_cast<int>(operation);
    EXPECT_EQ(CodeOf(call), EACCES) << static_cast<int>(operation);
    plan_.Clear();
    EXPECT_EQ(CodeOf(call), 0) << static_cast<int>(operation);
  };
  expect_failure(Operation::kCreate, [&] { storage_.Create("b"); });
  expect_failure(Operation::kCreateExclusive,
                 [&] { storage_.CreateExclusive("c", {}); });
  expect_failure(Operation::kAppend,
                 [&] { AppendText(*storage_.Create("d"), "x"); });
  expect_failure(Operation::kFlush, [&] { storage_.Create("d")->Flush(); });
  expect_failure(Operation::kPublish, [&] { storage_.Create("d")->Publish(); });
  expect_failure(Operation::kRead, [&] { storage_.Read("a"); });
  expect_failure(Operation::kStat, [&] { storage_.Stat("a"); });
  expect_failure(Operation::kList, [&] { storage_.List(""); });
  expect_failure(Operation::kRead, [&] { storage_.ReadVersioned("a"); });
  expect_failure(Operation::kReplace,
                 [&] { storage_.ReplaceIfUnchanged("a", "", {}); });
  expect_failure(Operation::kRemove, [&] { storage_.Remove("x"); });
  expect_failure(Operation::kMove, [&] { storage_.Move("a", "a"); });
}

TEST_F(FaultStorageTest, AFileIsBeyondUseAfterAFailure) {
  plan_.FailNth(Operation::kAppend, 1, EIO);
  const auto file = storage_.Create("a");
  EXPECT_EQ(CodeOf([&] { AppendText(*file, "x"); }), EIO);
  EXPECT_EQ(CodeOf([&] { AppendText(*file, "x"); }), EIO);
  EXPECT_EQ(CodeOf([&] { file->Publish(); }), EIO);
  EXPECT_THAT(Keys(storage_), IsEmpty());
}

TEST_F(FaultStorageTest, AFullDiskTearsTheLastAppend) {
  plan_.FillDiskAfter(10);
  const auto log =
      storage_.Create("log", {.visibility = Visibility::kWhileWriting});
  AppendText(*log, "12345");
  const std::vector<Bytes> parts = {base::AsBytes("67"), base::AsBytes("890ab"),
                                    base::AsBytes("cd")};
  EXPECT_EQ(CodeOf([&] { log->Append(parts); }), ENOSPC);
  EXPECT_THAT(GetFile(storage_, "log"), Optional(std::string("1234567890")));
}

TEST_F(FaultStorageTest, NothingIsWrittenToAFullDiskUntilItHasRoom) {
  const auto whole = storage_.Create("whole");
  AppendText(*whole, "x");
  plan_.FillDiskAfter(0);
  const auto torn = storage_.Create("torn");
  EXPECT_EQ(CodeOf([&] { AppendText(*torn, "x"); }), ENOSPC);
  EXPECT_EQ(CodeOf([&] { torn->Publish(); }), ENOSPC);
  EXPECT_EQ(CodeOf([&] { storage_.Create("b"); }), ENOSPC);
  EXPECT_EQ(CodeOf([&] { storage_.CreateExclusive("c", {}); }), ENOSPC);
  whole->Publish();
  EXPECT_THAT(Keys(storage_), ElementsAre("whole"));
  plan_.Clear();
  PutFile(storage_, "b", "x");
  EXPECT_THAT(Keys(storage_), ElementsAre("b", "whole"));
}

TEST_F(FaultStorageTest, BlockedOperationsWaitUntilReleased) {
  plan_.Block(Operation::kPublish);
  std::jthread writer([&] { PutFile(storage_, "a", "x"); });
  plan_.WaitUntilBlocked(Operation::kPublish);
  EXPECT_THAT(Keys(storage_.inner()), IsEmpty());
  EXPECT_EQ(plan_.count(Operation::kAppend), 1u);
  plan_.Unblock(Operation::kPublish);
  writer.join();
  EXPECT_THAT(Keys(storage_), ElementsAre("a"));
}

TEST_F(FaultStorageTest, ABlockedOperationMayFailOnRelease) {
  plan_.Block(Operation::kAppend);
  plan_.FailNth(Operation::kAppend, 1, EIO);
  int code = 0;
  std::jthread writer(
      [&] { code = CodeOf([&] { PutFile(storage_, "a", "x"); }); });
  plan_.WaitUntilBlocked(Operation::kAppend);
  plan_.Clear();
  writer.join();
  EXPECT_EQ(code, EIO);
}

TEST_F(FaultStorageTest, ThreadsShareOnePlan) {
  plan_.FailNth(Operation::kCreate, 50, EIO);
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 25; ++i) {
          const std::string key =
              std::to_string(thread) + "/" + std::to_string(i);
          CodeOf([&] { PutFile(storage_, key, key); });
        }
      });
    }
  }
  EXPECT_EQ(plan_.count(Operation::kCreate), 100u);
  EXPECT_EQ(plan_.failures(), 1u);
  EXPECT_EQ(Keys(storage_).size(), 99u);
}

}  // namespace
}  // namespace smdebug::testing
