#include "src/index/step_index.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/base/json_writer.h"
#include "src/index/step_index_writer.h"

namespace smdebug::index {
namespace {

constexpr const char* kFile = "index/000000001/000000001234_worker_0.json";

// Every key there is, with the largest numbers and the most awkward names.
StepIndex FullIndex() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  StepIndex index;
  index.mode = Mode::kPredict;
  index.mode_step = kMost;
  index.event_file = "events/000000001234/000000001234_worker_0.tfevents";
  index.tensors = {
      {"plain", {0, 112, 0u}},
      {"", {112, 16, std::nullopt}},
      {"q\"b\\n\n\x01 b\xC3\xA4rz \xF0\x9F\x98\x80",
       {static_cast<uint64_t>(kMost) - 10, 10, 0xFFFFFFFFu}},
      {"shared", {0, 112, 0u}, "plain"},
  };
  index.shapes = {{"scalar", "orig/scalar:0", {}},
                  {"empty", "empty", {0, kMost}, DType::kInt8}};
  index.scalars = {{"scalar/lr", 1200, Mode::kTrain, 600, {300, 60, 7u}},
                   {"scalar/lr", 1201, Mode::kEval, 0, {360, 60, 8u}}};
  index.counts = {{"plain", {DType::kBfloat16, 100, 1, 2, 3, 94}},
                  {"x", {DType::kFloat8E4M3FN, kMost, 0, 0, 0, kMost}}};
  return index;
}

// The texts below were written by smdebug 1.0.34's own FileWriter.
// The text without the checksum at its end.
std::string Unchecked(const StepIndex& index) {
  const std::string text = ToJson(index);
  return text.substr(0, text.rfind(kCheckKey)) + "}";
}

TEST(StepIndexTest, EndsInTheChecksumOfItsText) {
  const std::string text = ToJson(FullIndex());
  const size_t end = text.rfind(kCheckKey);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(end), std::string(kCheckKey) +
                                  std::to_string(base::Crc32c(base::AsBytes(
                                      std::string_view(text).substr(0, end)))) +
                                  "}");
}

TEST(StepIndexTest, WritesEachCharacterAsJsonDoesWhereverItStands) {
  for (int c = 0; c < 256; ++c) {
    for (size_t at = 0; at < 17; ++at) {
      std::string name(17, 'x');
      name[at] = static_cast<char>(c);
      std::string quoted;
      base::AppendJsonString(name, quoted);
      StepIndex index;
      index.tensors = {{name, {}}};
      ASSERT_NE(ToJson(index).find(R"("tensorname": )" + quoted + ","),
                std::string::npos)
          << "character " << c << " at " << at;
    }
  }
}

TEST(StepIndexWriterTest, NothingIsLeftOfTheFileBefore) {
  StepIndexWriter writer;
  EXPECT_TRUE(writer.empty());
  const std::string before(writer.Finish(Mode::kTrain, 1, "file"));
  writer.AddTensor("a", {});
  writer.AddShape("b", "b", {});
  writer.AddScalar("c", 1, Mode::kTrain, 1, {});
  writer.AddCounts("d", {});
  EXPECT_FALSE(writer.empty());
  EXPECT_NE(writer.Finish(Mode::kTrain, 1, "file"), before);
  writer.Clear();
  EXPECT_TRUE(writer.empty());
  EXPECT_EQ(writer.Finish(Mode::kTrain, 1, "file"), before);
}

TEST(StepIndexTest, NoBitCanFlipUnnoticedBeforeTheChecksum) {
  const StepIndex index = FullIndex();
  const std::string text = ToJson(index);
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    try {
      // Only the name of the key can have suffered; the rest is whole.
      EXPECT_EQ(ParseStepIndex(flipped, kFile), index) << bit;
      EXPECT_GE(bit / 8, text.rfind(kCheckKey)) << bit;
    } catch (const FormatError&) {
    }
  }
}

TEST(StepIndexTest, WritesTheBytesOfSmdebug1) {
  StepIndex index;
  index.mode = Mode::kTrain;
  index.mode_step = 7;
  index.event_file = "events/000000001234/000000001234_worker_0.tfevents";
  index.tensors = {{"a:0", {0, 112, std::nullopt}},
                   {"smdebug/reductions/mean/b\xC3\xA4rz \"q\"\\\n"
                    "\xF0\x9F\x98\x80",
                    {112, 165, std::nullopt}}};
  index.shapes = {{"fc.weight", "fc.weight", {4, 3}}, {"r0", "orig/r0:0", {}}};
  EXPECT_EQ(
      Unchecked(index),
      R"({"meta": {"mode": "TRAIN", "mode_step": 7, "event_file_name": )"
      R"("events/000000001234/000000001234_worker_0.tfevents"}, )"
      R"("tensor_payload": [{"tensorname": "a:0", "start_idx": 0, )"
      R"("length": 112}, {"tensorname": )"
      R"("smdebug/reductions/mean/b\u00e4rz \"q\"\\\n\ud83d\ude00", )"
      R"("start_idx": 112, "length": 165}], "shape_payload": [{"tensorname": )"
      R"("fc.weight", "originalname": "fc.weight", "shape": [4, 3]}, )"
      R"({"tensorname": "r0", "originalname": "orig/r0:0", "shape": []}]})");
}

TEST(StepIndexTest, ShapesAloneNameNoEventFileAsInSmdebug1) {
  StepIndex index;
  index.shapes = {{"x", "x", {1, 2, 3}}};
  const std::string text =
      R"({"meta": {"mode": "GLOBAL", "mode_step": 0}, "tensor_payload": [], )"
      R"("shape_payload": [{"tensorname": "x", "originalname": "x", )"
      R"("shape": [1, 2, 3]}]})";
  EXPECT_EQ(Unchecked(index), text);
  EXPECT_EQ(ParseStepIndex(text, kFile), index);
}

TEST(StepIndexTest, DeviceWorkersReadAsSmdebug1WroteThem) {
  const StepIndex index = ParseStepIndex(
      R"({"meta": {"mode": "EVAL", "mode_step": 5, "event_file_name": )"
      R"("events/000000000005/000000000005__job-worker_replica-0_task-1_)"
      R"(device-GPU-0.tfevents"}, "tensor_payload": [{"tensorname": "y", )"
      R"("start_idx": 0, "length": 104}], "shape_payload": []})",
      kFile);
  EXPECT_EQ(index.mode, Mode::kEval);
  EXPECT_EQ(index.mode_step, 5);
  EXPECT_EQ(index.event_file,
            "events/000000000005/"
            "000000000005__job-worker_replica-0_task-1_device-GPU-0.tfevents");
  ASSERT_EQ(index.tensors.size(), 1u);
  EXPECT_EQ(index.tensors[0], (TensorEntry{"y", {0, 104, std::nullopt}}));
  EXPECT_TRUE(index.shapes.empty());
}

TEST(StepIndexTest, OurKeysFollowThoseOfSmdebug1) {
  StepIndex index;
  index.event_file = "events/e";
  index.tensors = {{"w", {0, 50, 4294967295u}}};
  index.scalars = {{"scalar/lr", 11, Mode::kTrain, 5, {50, 60, 7u}}};
  index.counts = {{"w", {DType::kFloat32, 12, 1, 2, 3, 4}}};
  EXPECT_EQ(
      Unchecked(index),
      R"({"meta": {"mode": "GLOBAL", "mode_step": 0, )"
      R"("event_file_name": "events/e"}, "tensor_payload": [{"tensorname": )"
      R"("w", "start_idx": 0, "length": 50, "crc32c": 4294967295}], )"
      R"("shape_payload": [], "scalar_payload": [{"tensorname": "scalar/lr", )"
      R"("step": 11, "mode": "TRAIN", "mode_step": 5, "start_idx": 50, )"
      R"("length": 60, "crc32c": 7}], "value_counts": [{"tensorname": "w", )"
      R"("dtype": "float32", "count": 12, "nan": 1, "pos_inf": 2, )"
      R"("neg_inf": 3, "zero": 4}]})");
}

TEST(StepIndexTest, RoundTripsEveryKey) {
  const StepIndex index = FullIndex();
  EXPECT_EQ(ParseStepIndex(ToJson(index), kFile), index);
}

TEST(StepIndexTest, RoundTripsManyEntries) {
  StepIndex index;
  index.event_file = "events/e";
  for (uint64_t i = 0; i < 20'000; ++i) {
    index.tensors.push_back({"layer." + std::to_string(i), {i * 100, 100, 1u}});
  }
  EXPECT_EQ(ParseStepIndex(ToJson(index), kFile), index);
}

TEST(StepIndexTest, RoundTripsEveryModeAndDType) {
  StepIndex index;
  index.event_file = "events/e";
  for (const Mode mode : kModes) {
    index.scalars.push_back({"s", 0, mode, 0, {}});
  }
  for (const ElementType& type : kElementTypes) {
    index.counts.push_back({"t", {type.dtype, 1, 0, 0, 0, 0}});
  }
  EXPECT_EQ(ParseStepIndex(ToJson(index), kFile), index);
}

TEST(StepIndexTest, BytesThatAreNotUtf8BecomeReplacements) {
  StepIndex index;
  index.event_file = "events/e";
  index.tensors = {{"a\xFFz", {0, 20, 1u}}};
  const StepIndex read = ParseStepIndex(ToJson(index), kFile);
  EXPECT_EQ(read.tensors.at(0).name, "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace smdebug::index
