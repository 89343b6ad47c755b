#include "src/query/zip_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/query/crc32.h"

namespace smdebug::query {
namespace {

constexpr uint32_t kLocalSignature = 0x04034B50;
constexpr uint32_t kCentralSignature = 0x02014B50;
constexpr uint32_t kZip64EndSignature = 0x06064B50;
constexpr uint32_t kZip64LocatorSignature = 0x07064B50;
constexpr uint32_t kEndSignature = 0x06054B50;

constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersionZip64 = 45;
constexpr uint16_t kMadeByUnix = 3 << 8;
constexpr uint16_t kNamesAreUtf8 = 1 << 11;
constexpr uint16_t kStored = 0;
constexpr uint16_t kNoTime = 0;
constexpr uint16_t kFirstDate = 1 << 5 | 1;  // 1980-01-01.
constexpr uint32_t kFileMode = uint32_t{0100644} << 16;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kInZip64 = 0xFFFFFFFF;

// Little-endian fields one after the other. One thread at a time.
class Fields {
 public:
  Fields& U16(uint16_t value) { return Append(value); }
  Fields& U32(uint32_t value) { return Append(value); }
  Fields& U64(uint64_t value) { return Append(value); }
  Fields& Text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  Fields& Append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  std::string bytes_;
};

// `fields` as the extra field of Zip64; empty if there are none.
std::string Zip64Extra(const Fields& fields) {
  if (fields.empty()) return {};
  return Fields()
      .U16(kZip64Extra)
      .U16(static_cast<uint16_t>(fields.bytes().size()))
      .Text(fields.bytes())
      .bytes();
}

uint32_t OrInZip64(uint64_t value, uint64_t limit) {
  return value >= limit ? kInZip64 : static_cast<uint32_t>(value);
}

}  // namespace

ZipWriter::ZipWriter(ByteSink sink) : ZipWriter(std::move(sink), Limits()) {}

ZipWriter::ZipWriter(ByteSink sink, Limits limits)
    : sink_(std::move(sink)), limits_(limits) {}

void ZipWriter::Put(std::string_view bytes) {
  sink_(base::AsBytes(bytes));
  offset_ += bytes.size();
}

void ZipWriter::Add(std::string_view name, uint64_t size,
                    const std::function<void(const ByteSink&)>& write) {
  if (name.size() > 0xFFFF) {
    throw Error(fmt::format("'{}...' is too long a name for a zip file",
                            name.substr(0, 40)));
  }
  Entry entry = {std::string(name), 0, size, offset_};
  write([&](Bytes bytes) { entry.crc = Crc32(bytes, entry.crc); });

  Fields zip64;
  if (size >= limits_.bytes) zip64.U64(size).U64(size);
  const std::string extra = Zip64Extra(zip64);
  Put(Fields()
          .U32(kLocalSignature)
          .U16(extra.empty() ? kVersion : kVersionZip64)
          .U16(kNamesAreUtf8)
          .U16(kStored)
          .U16(kNoTime)
          .U16(kFirstDate)
          .U32(entry.crc)
          .U32(OrInZip64(size, limits_.bytes))
          .U32(OrInZip64(size, limits_.bytes))
          .U16(static_cast<uint16_t>(name.size()))
          .U16(static_cast<uint16_t>(extra.size()))
          .Text(name)
          .Text(extra)
          .bytes());
  write(sink_);
  offset_ += size;
  entries_.push_back(std::move(entry));
}

void ZipWriter::PutCentral(const Entry& entry) {
  Fields zip64;
  if (entry.size >= limits_.bytes) zip64.U64(entry.size).U64(entry.size);
  if (entry.offset >= limits_.bytes) zip64.U64(entry.offset);
  const std::string extra = Zip64Extra(zip64);
  const uint16_t version = extra.empty() ? kVersion : kVersionZip64;
  Put(Fields()
          .U32(kCentralSignature)
          .U16(kMadeByUnix | version)
          .U16(version)
          .U16(kNamesAreUtf8)
          .U16(kStored)
          .U16(kNoTime)
          .U16(kFirstDate)
          .U32(entry.crc)
          .U32(OrInZip64(entry.size, limits_.bytes))
          .U32(OrInZip64(entry.size, limits_.bytes))
          .U16(static_cast<uint16_t>(entry.name.size()))
          .U16(static_cast<uint16_t>(extra.size()))
          .U16(0)  // Comment.
          .U16(0)  // Disk.
          .U16(0)  // Internal attributes.
          .U32(kFileMode)
          .U32(OrInZip64(entry.offset, limits_.bytes))
          .Text(entry.name)
          .Text(extra)
          .bytes());
}

void ZipWriter::PutZip64End(uint64_t start, uint64_t size) {
  const uint64_t end = offset_;
  Put(Fields()
          .U32(kZip64EndSignature)
          .U64(44)  // Bytes of this record that follow.
          .U16(kMadeByUnix | kVersionZip64)
          .U16(kVersionZip64)
          .U32(0)
          .U32(0)
          .U64(entries_.size())
          .U64(entries_.size())
          .U64(size)
          .U64(start)
          .bytes());
  Put(Fields().U32(kZip64LocatorSignature).U32(0).U64(end).U32(1).bytes());
}

void ZipWriter::Finish() {
  const uint64_t start = offset_;
  for (const Entry& entry : entries_) PutCentral(entry);
  const uint64_t size = offset_ - start;
  const bool many = entries_.size() >= limits_.files;
  if (many || size >= limits_.bytes || start >= limits_.bytes) {
    PutZip64End(start, size);
  }
  const auto count =
      many ? uint16_t{0xFFFF} : static_cast<uint16_t>(entries_.size());
  Put(Fields()
          .U32(kEndSignature)
          .U16(0)
          .U16(0)
          .U16(count)
          .U16(count)
          .U32(OrInZip64(size, limits_.bytes))
          .U32(OrInZip64(start, limits_.bytes))
          .U16(0)  // Comment.
          .bytes());
}

}  // namespace smdebug::query
