// What ParseStepIndex makes of texts that no writer wrote.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/index/step_index.h"

namespace smdebug::index {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHostile = "index/000000000/000000000000_worker_0.json";

// The whole message of the FormatError; empty if there is none.
std::string ErrorOf(std::string_view json) {
  try {
    ParseStepIndex(json, kHostile);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.file(), kHostile);
    return error.what();
  }
  return "";
}

constexpr std::string_view kMeta =
    R"("meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e/f"})";

std::string WithTensor(std::string_view entry) {
  return "{" + std::string(kMeta) + R"(, "tensor_payload": [)" +
         std::string(entry) + "]}";
}

std::string WithMeta(std::string_view meta) {
  return R"({"meta": )" + std::string(meta) + R"(, "shape_payload": []})";
}

std::string WithList(std::string_view key, std::string_view entry) {
  return "{" + std::string(kMeta) + R"(, "tensor_payload": [], ")" +
         std::string(key) + R"(": [)" + std::string(entry) + "]}";
}

struct Case {
  std::string json;
  std::string reason;  // Part of the message.
};

void ExpectAllRefused(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const std::string error = ErrorOf(test.json);
    EXPECT_THAT(error, HasSubstr(kHostile)) << test.json;
    EXPECT_THAT(error, HasSubstr(test.reason)) << test.json;
  }
}

TEST(StepIndexHostileTest, RefusesWhatIsNotAJsonObject) {
  const std::string good = WithTensor("");
  ASSERT_EQ(ErrorOf(good), "");
  ExpectAllRefused({{"", "is empty"},
                    {"   ", "is not JSON"},
                    {"tensors", "is not JSON"},
                    {"[]", "expected a JSON object, got a list"},
                    {"7", "expected a JSON object, got a number"},
                    {"null", "expected a JSON object, got null"},
                    {std::string(3, '\0'), "is not JSON"},
                    {good + good, "is not JSON"},
                    {good + "x", "is not JSON"},
                    {"{\"\xFF\": 1}", "is not JSON"},
                    {good.substr(0, good.size() - 1), "is not JSON"}});
}

TEST(StepIndexHostileTest, RefusesEveryTruncation) {
  StepIndex index;
  index.event_file = "events/e";
  index.tensors = {{"w", {0, 50, 1u}}};
  index.counts = {{"w", {DType::kFloat32, 12, 1, 2, 3, 4}}};
  const std::string whole = ToJson(index);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(ErrorOf(whole.substr(0, length)), "") << length;
  }
}

TEST(StepIndexHostileTest, RefusesDeepNesting) {
  const size_t depth = 100'000;
  ExpectAllRefused(
      {{std::string(depth, '['), "is not JSON"},
       {std::string(depth, '[') + std::string(depth, ']'), "is not JSON"},
       {"{" + std::string(kMeta) + R"(, "tensor_payload": [], "x": )" +
            std::string(depth, '[') + std::string(depth, ']') + "}",
        "is not JSON"}});
}

TEST(StepIndexHostileTest, RefusesAMissingOrWrongMeta) {
  ExpectAllRefused({
      {R"({"tensor_payload": []})", "meta: is missing"},
      {WithMeta("null"), "meta: expected an object, got null"},
      {WithMeta("[]"), "meta: expected an object, got a list"},
      {WithMeta("{}"), "meta.mode: is missing"},
      {WithMeta(R"({"mode": 1, "mode_step": 0})"),
       "meta.mode: expected a string, got a number"},
      {WithMeta(R"({"mode": "train", "mode_step": 0})"),
       "meta.mode: \"train\" is none of TRAIN, EVAL, PREDICT, GLOBAL"},
      {WithMeta(R"({"mode": "EVAL"})"), "meta.mode_step: is missing"},
      {WithMeta(R"({"mode": "EVAL", "mode_step": -1})"), "got -1"},
      {WithMeta(R"({"mode": "EVAL", "mode_step": 1.5})"), "got 1.5"},
      {WithMeta(R"({"mode": "EVAL", "mode_step": "1"})"), "got a string"},
      {WithMeta(R"({"mode": "EVAL", "mode_step": 0, "event_file_name": 5})"),
       "meta.event_file_name: expected a string"},
  });
}

TEST(StepIndexHostileTest, RefusesEventFilesOutsideTheRun) {
  for (const std::string name :
       {"", "/etc/passwd", "../x", "events/../../x", "events//x", "events/",
        "./x", "..", "a/./b", "a\\u0000b", "events/x.tmp"}) {
    EXPECT_THAT(ErrorOf(WithMeta(
                    R"({"mode": "EVAL", "mode_step": 0, "event_file_name": ")" +
                    name + "\"}")),
                HasSubstr("is not the name of a file in the run"))
        << name;
  }
}

TEST(StepIndexHostileTest, RefusesValuesWithoutAnEventFile) {
  const std::string meta = R"("meta": {"mode": "EVAL", "mode_step": 0})";
  ExpectAllRefused(
      {{"{" + meta +
            R"(, "tensor_payload": [{"tensorname": "x", "start_idx": 0, )"
            R"("length": 9}]})",
        "meta.event_file_name: is missing"},
       {"{" + meta + "}", "tensor_payload: is missing"}});
}

TEST(StepIndexHostileTest, RefusesEntriesOfWrongTypeOrRange) {
  ExpectAllRefused({
      {"{" + std::string(kMeta) + R"(, "tensor_payload": {}})",
       "tensor_payload: expected a list, got an object"},
      {WithTensor("1"), "tensor_payload[0]: expected an object, got a number"},
      {WithTensor("{}"), "tensor_payload[0].tensorname: is missing"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0, "length": 1}, {})"),
       "tensor_payload[1].tensorname: is missing"},
      {WithTensor(R"({"tensorname": null, "start_idx": 0, "length": 1})"),
       "tensorname: expected a string, got null"},
      {WithTensor(R"({"tensorname": "a", "length": 1})"),
       "start_idx: is missing"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0})"),
       "length: is missing"},
      {WithTensor(R"({"tensorname": "a", "start_idx": -1, "length": 1})"),
       "tensor_payload[0].start_idx: expected a whole number from 0 to "
       "9223372036854775807, got -1"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 1e3, "length": 1})"),
       "got 1000"},
      {WithTensor(R"({"tensorname": "a", "start_idx": true, "length": 1})"),
       "got a boolean"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0, )"
                  R"("length": 9223372036854775808})"),
       "got 9223372036854775808"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0, )"
                  R"("length": 18446744073709551616})"),
       "is not JSON"},
      // The end of the record would overflow.
      {WithTensor(R"({"tensorname": "a", "start_idx": 9223372036854775807, )"
                  R"("length": 1})"),
       "length: expected a whole number from 0 to 0, got 1"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0, "length": 1, )"
                  R"("crc32c": 4294967296})"),
       "crc32c: expected a whole number from 0 to 4294967295"},
      {WithTensor(R"({"tensorname": "a", "start_idx": 0, "length": 1, )"
                  R"("crc32c": null})"),
       "crc32c"},
  });
}

TEST(StepIndexHostileTest, RefusesWrongShapesScalarsAndCounts) {
  const std::string shape = R"({"tensorname": "a", "originalname": "a", )";
  const std::string counts =
      R"({"tensorname": "a", "count": 1, "nan": 0, "pos_inf": 0, )"
      R"("neg_inf": 0, )";
  ExpectAllRefused({
      {WithList("shape_payload", R"({"tensorname": "a", "shape": []})"),
       "shape_payload[0].originalname: is missing"},
      {WithList("shape_payload", shape + R"("shape": 3})"),
       "shape: expected a list"},
      {WithList("shape_payload", shape + R"("shape": [2, -1]})"), "got -1"},
      {WithList("shape_payload", shape + R"("shape": [[1]]})"), "got a list"},
      {WithList("shape_payload", shape + R"("shape": [0], "dtype": "f"})"),
       "is not an element type"},
      {WithList("shape_payload",
                shape + R"("shape": [2], "dtype": "float32"})"),
       "the shape has elements"},
      {WithList("scalar_payload",
                R"({"tensorname": "a", "step": -1, "mode": "EVAL", )"
                R"("mode_step": 0, "start_idx": 0, "length": 1})"),
       "scalar_payload[0].step: expected a whole number"},
      {WithList("scalar_payload",
                R"({"tensorname": "a", "step": 1, "mode": "NONE", )"
                R"("mode_step": 0, "start_idx": 0, "length": 1})"),
       "scalar_payload[0].mode: \"NONE\" is none of"},
      {WithList("scalar_payload",
                R"({"tensorname": "a", "step": 1, "mode": "EVAL", )"
                R"("mode_step": 0})"),
       "scalar_payload[0].start_idx: is missing"},
      {WithList("value_counts", counts + R"("dtype": "f4", "zero": 0})"),
       "value_counts[0].dtype: \"f4\" is not an element type"},
      {WithList("value_counts", counts + R"("dtype": "float32"})"),
       "value_counts[0].zero: is missing"},
      {WithList("value_counts", counts + R"("dtype": "float32", "zero": -4})"),
       "got -4"},
  });
}

TEST(StepIndexHostileTest, IgnoresUnknownKeys) {
  const StepIndex index = ParseStepIndex(
      R"({"version": 9, "meta": {"mode": "TRAIN", "mode_step": 1, )"
      R"("event_file_name": "e/f", "note": [{}]}, "tensor_payload": )"
      R"([{"flags": null, "tensorname": "a", "start_idx": 3, "length": 4}], )"
      R"("more": {"x": [1, 2.5, "y"]}})",
      kHostile);
  ASSERT_EQ(index.tensors.size(), 1u);
  EXPECT_EQ(index.tensors[0], (TensorEntry{"a", {3, 4, std::nullopt}}));
}

TEST(StepIndexHostileTest, ReadsAHugeListOfTheWrongKindWithoutTrouble) {
  std::string list = "0";
  for (int i = 0; i < 200'000; ++i) list += ",0";
  EXPECT_THAT(ErrorOf(WithTensor(list)), HasSubstr("tensor_payload[0]"));
}

// Any text either parses, and then survives a round trip, or is refused with
// FormatError; nothing else may happen.
TEST(StepIndexHostileTest, RandomMutationsParseOrAreRefused) {
  StepIndex index;
  index.mode = Mode::kTrain;
  index.event_file = "events/000000000000/000000000000_worker_0.tfevents";
  index.tensors = {{"w\xC3\xA4", {0, 50, 1u}}, {"b", {50, 70, 2u}}};
  index.shapes = {{"w", "w:0", {4, 3}}};
  index.scalars = {{"scalar/lr", 11, Mode::kTrain, 5, {120, 60, 7u}}};
  index.counts = {{"w", {DType::kFloat32, 12, 1, 2, 3, 4}}};
  std::string original = ToJson(index);
  // The checksum would refuse nearly all of them before they are looked at.
  original.replace(original.rfind(kCheckKey), std::string::npos, "}");
  const std::string_view alphabet = "{}[]\",:\\-+.eE0123456789 ntu\0\xFF";

  std::mt19937 random(20240229);
  const auto below = [&](size_t bound) {
    return static_cast<size_t>(random()) % bound;
  };
  int parsed = 0;
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = original;
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = alphabet[below(alphabet.size())];
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(40)));
      }
    }
    try {
      const StepIndex mutated = ParseStepIndex(text, kHostile);
      ++parsed;
      EXPECT_EQ(ParseStepIndex(ToJson(mutated), kHostile), mutated) << text;
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace smdebug::index
