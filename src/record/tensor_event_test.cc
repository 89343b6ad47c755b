#include "src/record/tensor_event.h"

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/record/record.h"
#include "tests/testing/hex.h"

// The byte vectors below were made with the protobuf classes of smdebug 1.0.34,
// those of the types it can write also with its own writer.
namespace smdebug::record {
namespace {

using ::testing::ElementsAre;
using testing::FromHex;
using ::testing::IsEmpty;
using testing::ToHex;

// "mode_step" 2 and "mode" TRAIN, as nearly all vectors end.
constexpr std::string_view kTrainStep2 =
    "4a1b0a0e0a096d6f64655f737465701201320a090a046d6f6465120131";

std::string Encode(const TensorEvent& event, std::string_view content) {
  std::string head;
  std::string tail;
  const uint64_t payload = EncodeTensorEvent(event, head, tail);
  std::string record = head + std::string(content) + tail;
  EXPECT_EQ(payload, record.size() - kHeaderBytes - kFooterBytes);
  return record;
}

// The record without its frame, which is checked.
std::string PayloadHex(const std::string& record) {
  const std::string payload =
      record.substr(kHeaderBytes, record.size() - kHeaderBytes - kFooterBytes);
  EXPECT_EQ(record.substr(0, kHeaderBytes),
            base::AsText(MakeHeader(payload.size())));
  EXPECT_EQ(record.substr(record.size() - kFooterBytes),
            base::AsText(MakeFooter(kTensorFooter)));
  return ToHex(payload);
}

DecodedTensor DecodeEvent(const std::string& record) {
  return DecodeTensorRecord(base::AsBytes(record), "file");
}

TEST(TensorEventTest, WritesARankZeroTensorAtStepZero) {
  const TensorEvent event = {.wall_time = 1.5, .name = "L", .content_bytes = 4};
  EXPECT_EQ(ToHex(Encode(event, FromHex("00002040"))),
            "3900000000000000"
            "8b0737f1"
            "09000000000000f83f"
            "2a2e0a2c0a014c"
            "420a08011200220400002040"
            "4a1b0a0e0a096d6f64655f73746570120130"
            "0a090a046d6f6465120134"
            "b3c02d06");
}

TEST(TensorEventTest, NamesEachDimensionAfterTensorAndSize) {
  const std::array<int64_t, 2> shape = {2, 2};
  const std::array<float, 4> values = {1, 2, 3, 4};
  const TensorEvent event = {.wall_time = 1.5,
                             .step = 1234,
                             .name = "a:0",
                             .mode = Mode::kTrain,
                             .mode_step = 7,
                             .shape = shape,
                             .content_bytes = sizeof(values)};
  const std::string record =
      Encode(event, base::AsText(std::as_bytes(std::span(values))));
  EXPECT_EQ(record.size(), 112u);
  EXPECT_EQ(ToHex(record),
            "6000000000000000"
            "2821c6da"
            "09000000000000f83f"
            "10d209"
            "2a520a500a03613a30"
            "422c080112161209080212"
            "05613a305f321209080212"
            "05613a305f322210"
            "0000803f000000400000404000008040"
            "4a1b0a0e0a096d6f64655f73746570120137"
            "0a090a046d6f6465120131"
            "b3c02d06");
}

TEST(TensorEventTest, WritesStringsWithoutAType) {
  const std::array<int64_t, 1> shape = {2};
  const std::array<std::string_view, 2> strings = {"foo", "b\xC3\xA4rz"};
  const TensorEvent event = {
      .name = "s", .dtype = DType::kString, .shape = shape, .strings = strings};
  EXPECT_THAT(ToHex(Encode(event, "")), ::testing::HasSubstr("120912070802"
                                                             "1203735f32"
                                                             "4203666f6f"
                                                             "420562c3a4727a"));
}

struct DTypeVector {
  DType dtype;
  // The payload up to the tensor's content, whose bytes are 1, 2, 3, ...
  std::string_view head;
};

// Two elements, tag "t", step 3.
constexpr std::array<DTypeVector, 17> kDTypeVectors = {{
    {DType::kFloat32,
     "09000000000000f83f10032a3b0a390a0174421708011209120708021203745f322208"},
    {DType::kFloat64,
     "09000000000000f83f10032a430a410a0174421f08021209120708021203745f322210"},
    {DType::kInt32,
     "09000000000000f83f10032a3b0a390a0174421708031209120708021203745f322208"},
    {DType::kUint8,
     "09000000000000f83f10032a350a330a0174421108041209120708021203745f322202"},
    {DType::kInt16,
     "09000000000000f83f10032a370a350a0174421308051209120708021203745f322204"},
    {DType::kInt8,
     "09000000000000f83f10032a350a330a0174421108061209120708021203745f322202"},
    {DType::kComplex64,
     "09000000000000f83f10032a430a410a0174421f08081209120708021203745f322210"},
    {DType::kInt64,
     "09000000000000f83f10032a430a410a0174421f08091209120708021203745f322210"},
    {DType::kBool,
     "09000000000000f83f10032a350a330a01744211080a1209120708021203745f322202"},
    {DType::kBfloat16,
     "09000000000000f83f10032a370a350a01744213080e1209120708021203745f322204"},
    {DType::kUint16,
     "09000000000000f83f10032a370a350a0174421308111209120708021203745f322204"},
    {DType::kComplex128,
     "09000000000000f83f10032a530a510a0174422f08121209120708021203745f322220"},
    {DType::kFloat16,
     "09000000000000f83f10032a370a350a0174421308131209120708021203745f322204"},
    {DType::kUint32,
     "09000000000000f83f10032a3b0a390a0174421708161209120708021203745f322208"},
    {DType::kUint64,
     "09000000000000f83f10032a430a410a0174421f08171209120708021203745f322210"},
    {DType::kFloat8E5M2,
     "09000000000000f83f10032a350a330a0174421108181209120708021203745f322202"},
    {DType::kFloat8E4M3FN,
     "09000000000000f83f10032a350a330a0174421108191209120708021203745f322202"},
}};

TEST(TensorEventTest, WritesAndReadsEveryElementType) {
  const std::array<int64_t, 1> shape = {2};
  for (const auto& [dtype, head] : kDTypeVectors) {
    SCOPED_TRACE(DTypeName(dtype));
    std::string content(2 * ItemSize(dtype), '\0');
    std::iota(content.begin(), content.end(), '\1');
    const std::string record = Encode({.wall_time = 1.5,
                                       .step = 3,
                                       .name = "t",
                                       .mode = Mode::kTrain,
                                       .mode_step = 2,
                                       .dtype = dtype,
                                       .shape = shape,
                                       .content_bytes = content.size()},
                                      content);
    EXPECT_EQ(PayloadHex(record),
              std::string(head) + ToHex(content) + std::string(kTrainStep2));

    const DecodedTensor tensor = DecodeEvent(record);
    EXPECT_EQ(tensor.wall_time, 1.5);
    EXPECT_EQ(tensor.step, 3);
    EXPECT_EQ(tensor.name, "t");
    EXPECT_EQ(tensor.mode, Mode::kTrain);
    EXPECT_EQ(tensor.mode_step, 2);
    EXPECT_EQ(tensor.dtype, dtype);
    EXPECT_THAT(tensor.shape, ElementsAre(2));
    EXPECT_EQ(base::AsText(tensor.content), content);
    EXPECT_THAT(tensor.strings, IsEmpty());
  }
}

TEST(TensorEventTest, LeavesOutWhatProto3LeavesOut) {
  const std::array<int64_t, 2> empty = {0, 3};
  EXPECT_EQ(PayloadHex(Encode({.wall_time = 1.5,
                               .step = 3,
                               .name = "t",
                               .mode = Mode::kTrain,
                               .mode_step = 2,
                               .shape = empty},
                              "")),
            "09000000000000f83f10032a380a360a0174"
            "42140801121012051203745f30120708031203745f33" +
                std::string(kTrainStep2));
  EXPECT_EQ(PayloadHex(Encode({.name = "L",
                               .mode = Mode::kPredict,
                               .dtype = DType::kUint8,
                               .content_bytes = 1},
                              "\x07")),
            "2a2b0a290a014c420708041200220107"
            "4a1b0a0e0a096d6f64655f737465701201300a090a046d6f6465120133");
  const std::array<int64_t, 1> one = {1};
  EXPECT_EQ(PayloadHex(Encode({.wall_time = 1.5,
                               .step = 3,
                               .mode = Mode::kTrain,
                               .mode_step = 2,
                               .dtype = DType::kUint8,
                               .shape = one,
                               .content_bytes = 1},
                              "\x07")),
            "09000000000000f83f10032a300a2e420f080412081206080112025f31220107" +
                std::string(kTrainStep2));
}

TEST(TensorEventTest, WritesNegativeSteps) {
  const std::string record = Encode({.wall_time = 1.5,
                                     .step = -1,
                                     .name = "L",
                                     .mode = Mode::kEval,
                                     .mode_step = -1,
                                     .dtype = DType::kUint8,
                                     .content_bytes = 1},
                                    "\x07");
  EXPECT_EQ(PayloadHex(record),
            "09000000000000f83f10ffffffffffffffffff01"
            "2a2c0a2a0a014c420708041200220107"
            "4a1c0a0f0a096d6f64655f7374657012022d310a090a046d6f6465120132");
  EXPECT_EQ(DecodeEvent(record).step, -1);
  EXPECT_EQ(DecodeEvent(record).mode_step, -1);
}

TEST(TensorEventTest, WritesEmptyStringsAndNoStrings) {
  TensorEvent event = {.wall_time = 1.5,
                       .step = 3,
                       .name = "s",
                       .mode = Mode::kTrain,
                       .mode_step = 2,
                       .dtype = DType::kString};
  const std::array<int64_t, 1> three = {3};
  const std::array<std::string_view, 3> strings = {"foo", "", "b\xC3\xA4rz"};
  event.shape = three;
  event.strings = strings;
  const std::string record = Encode(event, "");
  EXPECT_EQ(PayloadHex(record),
            "09000000000000f83f10032a3d0a3b0a017342191209120708031203735f33"
            "4203666f6f4200420562c3a4727a" +
                std::string(kTrainStep2));
  const DecodedTensor tensor = DecodeEvent(record);
  EXPECT_EQ(tensor.dtype, DType::kString);
  EXPECT_THAT(tensor.strings, ElementsAre("foo", "", "b\xC3\xA4rz"));

  const std::array<int64_t, 1> none = {0};
  event.shape = none;
  event.strings = {};
  const std::string empty = Encode(event, "");
  EXPECT_EQ(PayloadHex(empty),
            "09000000000000f83f10032a2d0a2b0a01734209120712051203735f30" +
                std::string(kTrainStep2));
  EXPECT_THAT(DecodeEvent(empty).strings, IsEmpty());
  EXPECT_EQ(DecodeEvent(empty).dtype, DType::kString);
}

TEST(TensorEventTest, ReadsBackAnyShapeAndLength) {
  // Lengths around the places where a length's own varint grows.
  for (const size_t name_bytes : {1u, 126u, 127u, 128u, 16'383u, 16'384u}) {
    for (const int64_t extent : {1, 127, 128, 300, 16'384, 2'097'152}) {
      const std::string name(name_bytes, 'n');
      const std::array<int64_t, 3> shape = {1, extent, 1};
      const std::string content(static_cast<size_t>(extent), 'c');
      const std::string record = Encode({.wall_time = -2.5,
                                         .step = int64_t{1} << 40,
                                         .name = name,
                                         .mode_step = extent,
                                         .dtype = DType::kInt8,
                                         .shape = shape,
                                         .content_bytes = content.size()},
                                        content);
      const DecodedTensor tensor = DecodeEvent(record);
      ASSERT_EQ(tensor.name, name);
      ASSERT_EQ(tensor.step, int64_t{1} << 40);
      ASSERT_EQ(tensor.mode_step, extent);
      ASSERT_THAT(tensor.shape, ElementsAre(1, extent, 1));
      ASSERT_EQ(base::AsText(tensor.content), content);
    }
  }
}

TEST(TensorEventTest, AppendsToWhatIsThere) {
  std::string head = "before";
  std::string tail = "between";
  EncodeTensorEvent({.name = "L", .content_bytes = 4}, head, tail);
  EXPECT_TRUE(head.starts_with("before"));
  EXPECT_TRUE(tail.starts_with("between"));
}

TEST(TensorEventTest, RefusesWhatARecordCannotHold) {
  std::string head;
  std::string tail;
  const auto refused = [&](const TensorEvent& event) {
    try {
      EncodeTensorEvent(event, head, tail);
      return false;
    } catch (const UnsupportedTensor& error) {
      EXPECT_EQ(error.tensor(), "t");
      return head.empty() && tail.empty();
    }
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::array<int64_t, 1> over = {int64_t{1} << 31};
  EXPECT_TRUE(refused({.name = "t",
                       .dtype = DType::kUint8,
                       .shape = over,
                       .content_bytes = uint64_t{1} << 31}));
  const std::array<int64_t, 1> with_frame = {(int64_t{1} << 31) - 10};
  EXPECT_TRUE(refused({.name = "t",
                       .dtype = DType::kUint8,
                       .shape = with_frame,
                       .content_bytes = (uint64_t{1} << 31) - 10}));
  const std::array<int64_t, 3> overflow = {kMax, kMax, 4};
  EXPECT_TRUE(refused({.name = "t", .shape = overflow, .content_bytes = 4}));
  const std::array<int64_t, 3> empty_overflow = {0, kMax, 2};
  EXPECT_TRUE(refused({.name = "t", .shape = empty_overflow}));
  const std::array<int64_t, 2> negative = {-1, -1};
  EXPECT_TRUE(refused({.name = "t", .shape = negative, .content_bytes = 4}));
  const std::array<int64_t, 1> two = {2};
  EXPECT_TRUE(refused({.name = "t", .shape = two, .content_bytes = 4}));
  EXPECT_TRUE(refused({.name = "t", .shape = two, .content_bytes = 9}));

  const std::array<std::string_view, 1> strings = {"x"};
  const std::array<int64_t, 2> rank_two = {1, 1};
  EXPECT_TRUE(refused({.name = "t",
                       .dtype = DType::kString,
                       .shape = rank_two,
                       .strings = strings}));
  EXPECT_TRUE(
      refused({.name = "t", .dtype = DType::kString, .strings = strings}));
  EXPECT_TRUE(refused({.name = "t",
                       .dtype = DType::kString,
                       .shape = two,
                       .strings = strings}));
}

TEST(TensorEventTest, LargeContentIsAlignedInItsFileWhereverTheRecordStarts) {
  const std::vector<std::byte> content(kAlignedContentBytes, std::byte{7});
  const int64_t shape[] = {static_cast<int64_t>(kAlignedContentBytes)};
  TensorEvent event;
  event.name = "x";
  event.dtype = DType::kUint8;
  event.shape = shape;
  event.content_bytes = content.size();
  for (uint64_t offset = 0; offset < 2 * kContentAlignment; ++offset) {
    event.file_offset = offset;
    std::string head;
    std::string tail;
    const uint64_t payload = EncodeTensorEvent(event, head, tail);
    EXPECT_EQ((offset + head.size()) % kContentAlignment, 0u) << offset;
    std::string record = head;
    record += base::AsText(content);
    record += tail;
    EXPECT_EQ(payload + kHeaderBytes + kFooterBytes, record.size());
    const DecodedTensor read =
        DecodeTensorRecord(base::AsBytes(record), "file");
    EXPECT_EQ(read.name, "x");
    EXPECT_EQ(read.content.size(), content.size());
  }
}

}  // namespace
}  // namespace smdebug::record
