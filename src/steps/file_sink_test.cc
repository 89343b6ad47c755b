#include "src/steps/file_sink.h"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "tests/testing/fault_storage.h"
#include "tests/testing/files.h"

namespace smdebug::steps {
namespace {

using base::AsBytes;
using smdebug::testing::FaultStorage;
using smdebug::testing::GetFile;
using smdebug::testing::Keys;
using smdebug::testing::Operation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kEvents[] = "events/000000000007/000000000007_worker_0.tfevents";
constexpr char kIndex[] = "index/000000000/000000000007_worker_0.json";

// Remembers what it heard.
class Ear final : public SinkListener {
 public:
  void OnProgress() noexcept override { ++progress; }
  void OnReports(std::span<const StepReport> more) noexcept override {
    reports.insert(reports.end(), more.begin(), more.end());
  }

  int progress = 0;
  std::vector<StepReport> reports;
};

class FileSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpenStep> OpenSeven() {
    return sink_->Open({"worker_0", 7}, &ear_);
  }

  static void Append(OpenStep& step, std::string_view text) {
    const Bytes parts[] = {AsBytes(text)};
    step.Append(parts, {});
  }

  const std::shared_ptr<FaultStorage> storage_ =
      std::make_shared<FaultStorage>(OpenMemoryStorage());
  const std::shared_ptr<StepSink> sink_ =
      MakeFileSink(storage_, Durability::kProcessCrash);
  Ear ear_;
};

TEST_F(FileSinkTest, ASealedStepIsTwoFilesAndReportedAtOnce) {
  const auto step = OpenSeven();
  Append(*step, "ab");
  Append(*step, "cd");
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  EXPECT_THAT(ear_.reports, IsEmpty());
  step->Seal("index");
  EXPECT_EQ(GetFile(*storage_, kEvents), "abcd");
  EXPECT_EQ(GetFile(*storage_, kIndex), "index");
  ASSERT_EQ(ear_.reports.size(), 1u);
  EXPECT_EQ(ear_.reports[0].key, (StepKey{"worker_0", 7}));
  EXPECT_EQ(ear_.reports[0].error, nullptr);
}

TEST_F(FileSinkTest, AStepWithoutRecordsIsAnIndex) {
  OpenSeven()->Seal("index");
  EXPECT_THAT(Keys(*storage_), ElementsAre(kIndex));
}

TEST_F(FileSinkTest, AStepThatIsNotSealedLeavesNothing) {
  Append(*OpenSeven(), "ab");
  EXPECT_THAT(Keys(*storage_), IsEmpty());
  EXPECT_THAT(ear_.reports, IsEmpty());
}

TEST_F(FileSinkTest, AFailedWriteIsThrown) {
  storage_->plan().FailAll(Operation::kAppend, ENOSPC);
  const auto step = OpenSeven();
  EXPECT_THROW(Append(*step, "ab"), IoError);
  EXPECT_THAT(ear_.reports, IsEmpty());
}

// Each operation of Seal() in turn: the index is there only if all is.
TEST_F(FileSinkTest, AFailedSealIsReported) {
  for (const Operation operation :
       {Operation::kCreate, Operation::kAppend, Operation::kPublish}) {
    for (uint64_t nth = 1; nth <= 2; ++nth) {
      ear_.reports.clear();
      const auto step = OpenSeven();
      Append(*step, "ab");
      storage_->plan().FailNth(operation, nth, EIO);
      const uint64_t before = storage_->plan().failures();
      step->Seal("index");
      storage_->plan().Clear();
      ASSERT_EQ(ear_.reports.size(), 1u);
      const bool failed = storage_->plan().failures() != before;
      EXPECT_EQ(ear_.reports[0].error != nullptr, failed);
      EXPECT_EQ(GetFile(*storage_, kIndex).has_value(), !failed);
      storage_->Remove(kIndex);
    }
  }
}

TEST_F(FileSinkTest, ProgressShowsInLargeWrites) {
  const std::string large(size_t{40} << 20, 'x');
  const auto step = OpenSeven();
  Append(*step, large);
  EXPECT_EQ(ear_.progress, 3);  // Of 16 MiB each.
  step->Seal("index");
  EXPECT_EQ(GetFile(*storage_, kEvents), large);
}

TEST_F(FileSinkTest, ManyPartsStayInOrder) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i % 26);
  std::vector<Bytes> parts;
  for (size_t i = 0; i < text.size(); ++i) {
    parts.push_back(AsBytes(text).subspan(i, 1));
  }
  const auto step = OpenSeven();
  step->Append(parts, {});
  step->Seal("index");
  EXPECT_EQ(GetFile(*storage_, kEvents), text);
}

}  // namespace
}  // namespace smdebug::steps
