#include "src/steps/step_builder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/bytes.h"
#include "src/record/tensor_event.h"

namespace smdebug::steps {
namespace {

// Keeps what it is given without copying it.
class Keeper final : public StepSink {
 public:
  struct Kept {
    std::vector<Bytes> parts;
    std::vector<Owner> owners;
    std::string index;

    std::string Text() const {
      std::string text;
      for (const Bytes part : parts) text += base::AsText(part);
      return text;
    }
  };

  std::unique_ptr<OpenStep> Open(const StepKey&, SinkListener*) override {
    steps.push_back(std::make_unique<Kept>());
    return std::make_unique<Step>(steps.back().get());
  }
  void Hurry() override {}

  std::vector<std::unique_ptr<Kept>> steps;

 private:
  class Step final : public OpenStep {
   public:
    explicit Step(Kept* kept) : kept_(*kept) {}
    void Append(std::span<const Bytes> parts,
                std::span<const Owner> owners) override {
      kept_.parts.insert(kept_.parts.end(), parts.begin(), parts.end());
      kept_.owners.insert(kept_.owners.end(), owners.begin(), owners.end());
    }
    void Seal(std::string_view index) override { kept_.index = index; }

   private:
    Kept& kept_;
  };
};

record::TensorEvent EventOf(std::string_view name,
                            std::span<const int64_t> shape) {
  record::TensorEvent event;
  event.name = name;
  event.dtype = DType::kUint8;
  event.shape = shape;
  event.content_bytes = static_cast<uint64_t>(shape[0]);
  return event;
}

class StepBuilderTest : public ::testing::Test {
 protected:
  StepBuilder Build(int64_t step) {
    return StepBuilder(&keeper_, nullptr, {"worker_0", step}, &workspace_);
  }

  // Adds a record of `size` bytes `letter`, which live as long as their owner.
  static index::Location Add(StepBuilder& builder, size_t size, char letter) {
    const auto content = std::make_shared<const std::string>(size, letter);
    const int64_t shape[] = {static_cast<int64_t>(size)};
    return builder.AddRecord(EventOf("x", shape), base::AsBytes(*content),
                             content);
  }

  static record::DecodedTensor Decode(const std::string& text,
                                      const index::Location& at) {
    return record::DecodeTensorRecord(
        base::AsBytes(text).subspan(at.start, at.length), "test");
  }

  Keeper keeper_;
  StepBuilder::Workspace workspace_;
};

TEST_F(StepBuilderTest, ASinkMayKeepWhatItGot) {
  // Contents that are copied, and such that are not; flushes in between; the
  // next step uses the workspace again.
  std::vector<std::pair<size_t, index::Location>> added;
  for (int64_t step = 0; step < 2; ++step) {
    StepBuilder builder = Build(step);
    for (const size_t size : {size_t{3}, size_t{1000}, size_t{512}}) {
      added.emplace_back(size,
                         Add(builder, size, static_cast<char>('a' + step)));
      builder.Flush();
    }
    builder.Seal(Mode::kTrain, step);
  }
  ASSERT_EQ(keeper_.steps.size(), 2u);
  for (size_t i = 0; i < added.size(); ++i) {
    const std::string text = keeper_.steps[i / 3]->Text();
    const record::DecodedTensor tensor = Decode(text, added[i].second);
    EXPECT_EQ(base::AsText(tensor.content),
              std::string(added[i].first, i < 3 ? 'a' : 'b'));
  }
}

TEST_F(StepBuilderTest, OwnersGoToTheSink) {
  StepBuilder builder = Build(0);
  const auto room = std::make_shared<const int>(0);
  builder.Keep(room);
  Add(builder, 8, 'x');
  builder.Seal(Mode::kTrain, 0);
  EXPECT_EQ(room.use_count(), 2);
  keeper_.steps.clear();
  EXPECT_EQ(room.use_count(), 1);
}

TEST_F(StepBuilderTest, NothingIsOpenedBeforeThereIsSomething) {
  StepBuilder builder = Build(0);
  builder.Flush();
  EXPECT_TRUE(keeper_.steps.empty());
}

TEST_F(StepBuilderTest, AnIndexWithoutRecordsNamesNoFile) {
  StepBuilder builder = Build(3);
  const int64_t shape[] = {2};
  builder.index().AddShape("x", "x", shape);
  builder.Seal(Mode::kTrain, 3);
  ASSERT_EQ(keeper_.steps.size(), 1u);
  const std::string& text = keeper_.steps[0]->index;
  EXPECT_EQ(text.find("event_file_name"), std::string::npos);
  EXPECT_NE(text.find("shape_payload"), std::string::npos);
}

}  // namespace
}  // namespace smdebug::steps
