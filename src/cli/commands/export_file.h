#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/fd.h"

namespace smdebug::cli {

// Throws Error if `path` can be no file: it is a folder, or is in a folder that
// is not there.
void RequireFilePath(const std::string& path);

// A new file that appears under its name only when it is whole. Destroyed
// before that, it leaves nothing. A link is followed: what it leads to is
// replaced, never the link. A pipe or a character device is no file to replace:
// it is written to, as the bytes come. One thread at a time.
class ExportFile {
 public:
  // Throws Error if a file is there and `replace` is false, if `path` can be no
  // file, is a link to nothing, a socket or a block device, and IoError. Waits
  // for a reader of a named pipe.
  ExportFile(const std::string& path, bool replace);
  ~ExportFile();

  void Write(Bytes bytes);
  void Write(std::string_view text);

  // Makes the file appear. Throws IoError.
  void Publish();

  uint64_t size() const { return size_; }

 private:
  void Append(Bytes bytes);
  void Flush();

  const std::string path_;
  base::Fd stream_;  // Of a pipe or a device; else there is a file.
  std::shared_ptr<Storage> folder_;
  std::unique_ptr<PendingFile> file_;
  std::vector<std::byte> buffer_;
  uint64_t size_ = 0;
};

}  // namespace smdebug::cli
