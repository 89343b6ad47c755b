#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/query/byte_sink.h"

namespace smdebug::query {

// Writes a zip archive of stored (not compressed) files from front to back, as
// PKWARE's APPNOTE 6.3 says. Zip64 fields are used where a number needs them.
// Only the list of contents is kept in memory.
//
// One thread at a time.
class ZipWriter {
 public:
  // Numbers of files, and sizes and offsets, from which on Zip64 is used. The
  // defaults are those of the format; tests set smaller ones.
  struct Limits {
    uint64_t files = 0xFFFF;
    uint64_t bytes = 0xFFFFFFFF;
  };

  explicit ZipWriter(ByteSink sink);
  ZipWriter(ByteSink sink, Limits limits);

  // Adds a file. `write` is called twice and hands over the same bytes, `size`
  // of them, each time. Throws Error for a name of more than 65535 bytes.
  void Add(std::string_view name, uint64_t size,
           const std::function<void(const ByteSink&)>& write);

  // Writes the list of contents. Call once, at the end.
  void Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc = 0;
    uint64_t size = 0;
    uint64_t offset = 0;
  };

  void Put(std::string_view bytes);
  void PutCentral(const Entry& entry);
  void PutZip64End(uint64_t start, uint64_t size);

  const ByteSink sink_;
  const Limits limits_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace smdebug::query
