#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "tests/testing/hex.h"

namespace smdebug::record {
namespace {

using ::testing::ElementsAre;
using testing::FromHex;

std::string Frame(const std::string& payload, uint32_t check = kTensorFooter) {
  return std::string(base::AsText(MakeHeader(payload.size()))) + payload +
         std::string(base::AsText(MakeFooter(check)));
}

DecodedTensor Decode(const std::string& record) {
  return DecodeTensorRecord(base::AsBytes(record), "a.tfevents");
}

// The reason of the FormatError; empty if the record was accepted.
std::string ReasonAgainst(const std::string& record) {
  try {
    Decode(record);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.file(), "a.tfevents");
    return error.what();
  }
  return {};
}

// One field whose content is `content`.
std::string Field(int number, const std::string& content) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  field.push_back(static_cast<char>(content.size()));  // Below 128 here.
  return field + content;
}

// The payload of an event whose TensorProto is `tensor`.
std::string EventOf(const std::string& tensor) {
  return Field(5, Field(1, Field(1, "t") + Field(8, tensor)));
}

// uint8, shape [2], two bytes.
const std::string kTensor = FromHex("0804 1204 12020802 22020708");

const std::string kRecord = Frame(EventOf(kTensor));

TEST(DecodeTensorRecordTest, TakesModeAndModeStepFromTheEventIfNotGiven) {
  const DecodedTensor tensor =
      Decode(Frame(FromHex("1005") + EventOf(kTensor)));
  EXPECT_EQ(tensor.mode, Mode::kGlobal);
  EXPECT_EQ(tensor.step, 5);
  EXPECT_EQ(tensor.mode_step, 5);
  EXPECT_EQ(tensor.wall_time, 0);
}

TEST(DecodeTensorRecordTest, BorrowsFromTheRecord) {
  const DecodedTensor tensor = Decode(kRecord);
  const auto* first = reinterpret_cast<const std::byte*>(kRecord.data());
  EXPECT_GE(tensor.content.data(), first);
  EXPECT_LE(tensor.content.data() + tensor.content.size(),
            first + kRecord.size());
}

TEST(DecodeTensorRecordTest, AcceptsTheTrueChecksumToo) {
  const std::string payload = EventOf(kTensor);
  const uint32_t crc = base::MaskCrc(base::Crc32c(base::AsBytes(payload)));
  EXPECT_EQ(ReasonAgainst(Frame(payload, crc)), "");
  EXPECT_NE(ReasonAgainst(Frame(payload, crc + 1)), "");
}

TEST(DecodeTensorRecordTest, RefusesEveryCutAndEveryExtension) {
  for (size_t size = 0; size < kRecord.size(); ++size) {
    EXPECT_NE(ReasonAgainst(kRecord.substr(0, size)), "") << size;
  }
  EXPECT_NE(ReasonAgainst(kRecord + '\0'), "");
  EXPECT_NE(ReasonAgainst(kRecord + kRecord), "");
}

TEST(DecodeTensorRecordTest, RefusesAnyFlippedBitOfTheFrame) {
  for (size_t at = 0; at < kRecord.size(); ++at) {
    const bool in_frame =
        at < kHeaderBytes || at >= kRecord.size() - kFooterBytes;
    if (!in_frame) continue;
    for (int bit = 0; bit < 8; ++bit) {
      std::string record = kRecord;
      record[at] = static_cast<char>(record[at] ^ (1 << bit));
      EXPECT_NE(ReasonAgainst(record), "") << "byte " << at << " bit " << bit;
    }
  }
}

// An event that holds a tensor and one plugin entry.
std::string EventWithPlugin(const std::string& name, const std::string& text) {
  const std::string plugin = Field(1, Field(1, name) + Field(2, text));
  return Field(5, Field(1, Field(8, kTensor) + Field(9, plugin)));
}

TEST(DecodeTensorRecordTest, RefusesMessagesThatAreNotOneTensor) {
  struct Row {
    const char* what;
    std::string payload;
    const char* reason;
  };
  const std::string value = Field(1, Field(1, "t") + Field(8, kTensor));
  const std::string two_tensors = Field(8, kTensor) + Field(8, kTensor);
  const std::string scalar = Field(1, "t") + FromHex("1500000040");
  const std::vector<Row> rows = {
      {"nothing", "", "no tensor"},
      {"no summary", FromHex("1005"), "no tensor"},
      {"no value", Field(5, ""), "no tensor"},
      {"a tag alone", Field(5, Field(1, Field(1, "t"))), "no tensor"},
      {"a scalar", Field(5, Field(1, scalar)), "no tensor"},
      {"a tensor of another wire type", Field(5, Field(1, FromHex("4005"))),
       "no tensor"},
      {"two values", Field(5, value + value), "more than one value"},
      {"two summaries", Field(5, value) + Field(5, value),
       "more than one summary"},
      {"two tensors", Field(5, Field(1, two_tensors)), "more than one tensor"},
      {"two shapes", EventOf(FromHex("0804 1200 1200 220107")),
       "more than one shape"},
      {"content too short", EventOf(FromHex("0804 1204 12020802 220107")),
       "does not fill"},
      {"content too long", EventOf(FromHex("0804 1204 12020802 2203070809")),
       "does not fill"},
      {"no content", EventOf(FromHex("0804 1204 12020802")), "does not fill"},
      {"content of an empty shape", EventOf(FromHex("0804 1202 1200 220107")),
       "does not fill"},
      {"a shape whose product wraps to the length",
       EventOf(FromHex("0804 1218 120a08 8080808080808080 01"
                       "120a08 8080808080808080 01")),
       "does not fill"},
      {"a huge shape",
       EventOf(FromHex("0804 120c 120a08 ffffffffffffffff 7f 220107")),
       "does not fill"},
      {"an empty shape that nobody could walk over",
       EventOf(FromHex("0804 1212 120a08 ffffffffffffffff 7f 12020802 1200")),
       "does not fill"},
      {"a negative size",
       EventOf(FromHex("0804 120d 120b08 ffffffffffffffffff 01 220107")),
       "the size -1"},
      {"an unknown type", EventOf(FromHex("0863 1200 220107")), "type 99"},
      {"a quantized type", EventOf(FromHex("080b 1200 220107")), "type 11"},
      {"a type above a byte", EventOf(FromHex("088402 1200 220107")),
       "type 260"},
      {"strings with content", EventOf(FromHex("1204 12020801 420178 220107")),
       "does not fill"},
      {"numbers with strings",
       EventOf(FromHex("0804 1204 12020801 220107 420178")), "does not fill"},
      {"too few strings", EventOf(FromHex("1204 12020802 420178")),
       "does not fill"},
      {"strings of rank 0", EventOf(FromHex("1200 420178")), "does not fill"},
      {"strings of rank 2", EventOf(FromHex("1208 12020801 12020801 420178")),
       "does not fill"},
      {"content without a type", EventOf(FromHex("1200 220107")),
       "does not fill"},
      {"mode 0", EventWithPlugin("mode", "0"), "the mode is not"},
      {"mode 5", EventWithPlugin("mode", "5"), "the mode is not"},
      {"no mode step", EventWithPlugin("mode_step", ""), "the mode step"},
      {"a mode step beyond 64 bits",
       EventWithPlugin("mode_step", "9223372036854775808"), "the mode step"},
      {"an endless varint", FromHex("10 ffffffffffffffffffffff"), "malformed"},
      {"field number zero", FromHex("0005"), "malformed"},
      {"a group", FromHex("0b"), "malformed"},
      {"a length beyond the end", FromHex("2a7f"), "malformed"},
  };
  for (const auto& [what, payload, reason] : rows) {
    EXPECT_THAT(ReasonAgainst(Frame(payload)), ::testing::HasSubstr(reason))
        << what;
  }
}

TEST(DecodeTensorRecordTest, SkipsFieldsItDoesNotKnow) {
  const std::string unknown = FromHex("f80101 f9010000000000000000 fa0101ff");
  const std::string tensor = unknown + kTensor + unknown;
  const std::string record =
      Frame(unknown +
            Field(5, unknown + Field(1, unknown + Field(8, tensor) + unknown)));
  EXPECT_THAT(Decode(record).shape, ElementsAre(2));
}

// Applies one random change: a bit, a byte, a cut, a repeated or a new piece.
void Mutate(std::mt19937_64& random, std::string& bytes) {
  if (bytes.empty()) bytes.push_back('\0');
  const size_t at = random() % bytes.size();
  const size_t length = random() % std::min<size_t>(8, bytes.size() - at) + 1;
  switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, length));
      break;
    default:
      bytes.insert(at, length, static_cast<char>(random()));
  }
}

// Decodes from a buffer of exactly the record's size, so that a sanitizer sees
// any read beyond it, and touches all that the result borrows.
bool DecodesWithinBounds(const std::string& bytes) {
  const auto buffer = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(buffer.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> record(buffer.get(), bytes.size());
  try {
    const DecodedTensor tensor = DecodeTensorRecord(record, "file");
    const std::string content(base::AsText(tensor.content));
    const std::string name(tensor.name);
    size_t text_bytes = content.size() + name.size();
    for (const std::string_view text : tensor.strings) {
      text_bytes += std::string(text).size();
    }
    EXPECT_LE(text_bytes, bytes.size());
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

TEST(DecodeTensorRecordTest, SurvivesAnyDamage) {
  const std::array<std::string, 3> payloads = {
      EventOf(kTensor), EventOf(FromHex("1204 12020802 4201784200")),
      FromHex("09000000000000f83f10032a370a350a0174421308051209120708021203745f"
              "322204010203044a1b0a0e0a096d6f64655f737465701201320a090a046d6f64"
              "65120131")};
  std::mt19937_64 random(20240229);  // NOLINT: the same damage every time.
  size_t accepted = 0;
  size_t refused = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string bytes = payloads[random() % payloads.size()];
    // Half the time the frame is right, so that the message is reached.
    const bool damage_frame = random() % 2 == 0;
    if (damage_frame) bytes = Frame(bytes);
    for (uint64_t changes = random() % 4 + 1; changes > 0; --changes) {
      Mutate(random, bytes);
    }
    if (!damage_frame) bytes = Frame(bytes);
    ++(DecodesWithinBounds(bytes) ? accepted : refused);
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace smdebug::record
