#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"

namespace smdebug::cli {

// Throws Error if `path` can be no file: it is a folder, or is in a folder that
// is not there.
void RequireFilePath(const std::string& path);

// A new file that appears under its name only when it is whole. Destroyed
// before that, it leaves nothing. One thread at a time.
class ExportFile {
 public:
  // Throws Error if `path` is there and `replace` is false, or if it can be no
  // file, and IoError.
  ExportFile(const std::string& path, bool replace);
  ~ExportFile();

  void Write(Bytes bytes);
  void Write(std::string_view text);

  // Makes the file appear. Throws IoError.
  void Publish();

  uint64_t size() const { return size_; }

 private:
  void Flush();

  std::shared_ptr<Storage> folder_;
  std::unique_ptr<PendingFile> file_;
  std::vector<std::byte> buffer_;
  uint64_t size_ = 0;
};

}  // namespace smdebug::cli
