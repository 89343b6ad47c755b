#include "src/query/zip_writer.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/query/crc32.h"

namespace smdebug::query {
namespace {

using ::testing::HasSubstr;

template <typename T>
T At(const std::string& file, size_t offset) {
  return base::LoadLittleEndian<T>(
      reinterpret_cast<const std::byte*>(file.data() + offset));
}

std::string Archive(ZipWriter::Limits limits) {
  std::string file;
  ZipWriter zip([&](Bytes bytes) { file += base::AsText(bytes); }, limits);
  for (const std::string content : {"hello", ""}) {
    zip.Add("file" + content, content.size(),
            [&](const ByteSink& sink) { sink(base::AsBytes(content)); });
  }
  zip.Finish();
  return file;
}

TEST(ZipWriterTest, SmallArchivesHaveThePlainFields) {
  const std::string file = Archive({});
  EXPECT_EQ(At<uint32_t>(file, 0), 0x04034B50u);
  EXPECT_EQ(At<uint16_t>(file, 4), 20);
  EXPECT_EQ(At<uint32_t>(file, 14), Crc32(base::AsBytes("hello")));
  EXPECT_EQ(At<uint32_t>(file, 18), 5u);
  EXPECT_EQ(At<uint32_t>(file, 22), 5u);
  EXPECT_EQ(file.substr(30, 14), "filehellohello");
  const size_t end = file.size() - 22;
  EXPECT_EQ(At<uint32_t>(file, end), 0x06054B50u);
  EXPECT_EQ(At<uint16_t>(file, end + 10), 2);
  const auto central_size = At<uint32_t>(file, end + 12);
  const auto central = At<uint32_t>(file, end + 16);
  EXPECT_EQ(central + central_size, end);
  EXPECT_EQ(At<uint32_t>(file, central), 0x02014B50u);
  EXPECT_THAT(file, Not(HasSubstr("PK\x06\x06")));
}

TEST(ZipWriterTest, ManyFilesTakeZip64AtTheEnd) {
  const std::string file = Archive({.files = 2});
  const size_t end = file.size() - 22;
  EXPECT_EQ(At<uint16_t>(file, end + 10), 0xFFFF);
  EXPECT_EQ(At<uint32_t>(file, end - 20), 0x07064B50u);
  const auto record = At<uint64_t>(file, end - 20 + 8);
  ASSERT_EQ(At<uint32_t>(file, record), 0x06064B50u);
  EXPECT_EQ(At<uint64_t>(file, record + 4), 44u);
  EXPECT_EQ(At<uint64_t>(file, record + 32), 2u);
  const auto central_size = At<uint64_t>(file, record + 40);
  const auto central = At<uint64_t>(file, record + 48);
  EXPECT_EQ(central + central_size, record);
}

TEST(ZipWriterTest, LargeSizesAndOffsetsTakeZip64InTheirEntries) {
  const std::string file = Archive({.bytes = 5});
  // The first file: its size does not fit, its offset does.
  EXPECT_EQ(At<uint16_t>(file, 4), 45);
  EXPECT_EQ(At<uint32_t>(file, 18), 0xFFFFFFFFu);
  EXPECT_EQ(At<uint16_t>(file, 28), 20);
  EXPECT_EQ(At<uint16_t>(file, 39), 1);
  EXPECT_EQ(At<uint64_t>(file, 43), 5u);
  EXPECT_EQ(At<uint64_t>(file, 51), 5u);
  const size_t central = file.find("PK\x01\x02");
  EXPECT_EQ(At<uint16_t>(file, central + 30), 20);
  EXPECT_EQ(At<uint32_t>(file, central + 42), 0u);
  // The second: the other way round.
  const size_t second = file.find("PK\x01\x02", central + 4);
  EXPECT_EQ(At<uint32_t>(file, second + 24), 0u);
  EXPECT_EQ(At<uint32_t>(file, second + 42), 0xFFFFFFFFu);
  EXPECT_EQ(At<uint16_t>(file, second + 30), 12);
  EXPECT_EQ(At<uint64_t>(file, second + 46 + 4 + 4), 30u + 9 + 20 + 5);
}

TEST(ZipWriterTest, TooLongANameIsRefused) {
  ZipWriter zip([](Bytes) {});
  EXPECT_THROW(zip.Add(std::string(70000, 'n'), 0, [](const ByteSink&) {}),
               Error);
}

}  // namespace
}  // namespace smdebug::query
