#include "src/cli/commands/export_file.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"
#include "src/storage/posix_file.h"

namespace smdebug::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBuffer = size_t{1} << 20;

// What stands at the end of the links at `path`, if it may be written to.
fs::file_type KindOf(const std::string& path) {
  std::error_code ignored;
  const fs::file_type kind = fs::status(path, ignored).type();
  switch (kind) {
    case fs::file_type::regular:
    case fs::file_type::character:
    case fs::file_type::fifo:
      return kind;
    case fs::file_type::not_found:
      if (!fs::is_symlink(path, ignored)) return kind;
      throw Error(fmt::format("{}: is a link to {}, which is not there", path,
                              fs::read_symlink(path, ignored).string()));
    default:
      throw Error(
          fmt::format("{}: is {}; expected a file, a pipe or a character "
                      "device such as /dev/null",
                      path,
                      kind == fs::file_type::block    ? "a block device"
                      : kind == fs::file_type::socket ? "a socket"
                                                      : "of an unknown kind"));
  }
}

[[noreturn]] void Fail(const std::string& path, int error) {
  throw IoError("write", path, error);
}

}  // namespace

void RequireFilePath(const std::string& path) {
  const std::filesystem::path full = std::filesystem::absolute(path);
  if (full.filename().empty() || std::filesystem::is_directory(full)) {
    throw Error(fmt::format("{}: is a folder; give the name of a file", path));
  }
  if (!std::filesystem::is_directory(full.parent_path())) {
    throw Error(fmt::format("{}: there is no folder {}", path,
                            full.parent_path().string()));
  }
}

ExportFile::ExportFile(const std::string& path, bool replace) : path_(path) {
  RequireFilePath(path);
  const fs::file_type kind = KindOf(path);
  buffer_.reserve(kBuffer);
  if (kind == fs::file_type::character || kind == fs::file_type::fifo) {
    stream_ = base::Fd(open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!stream_.valid()) Fail(path, errno);
    return;
  }
  const bool is_there = kind == fs::file_type::regular;
  if (is_there && !replace) {
    throw Error(fmt::format("{}: is there already; --force replaces it", path));
  }
  // Of a link, the file that it leads to.
  const fs::path full = is_there ? fs::canonical(path) : fs::absolute(path);
  const std::string name = full.filename().string();
  if (name.ends_with(".tmp")) {
    throw Error(fmt::format(
        "{}: names that end in .tmp are for files being written", path));
  }
  folder_ = OpenLocalStorage(full.parent_path().string());
  file_ = folder_->Create(name);
}

ExportFile::~ExportFile() = default;

void ExportFile::Write(Bytes bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBuffer) Flush();
  if (bytes.size() >= kBuffer) return Append(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void ExportFile::Write(std::string_view text) { Write(base::AsBytes(text)); }

void ExportFile::Publish() {
  Flush();
  if (file_ != nullptr) return file_->Publish();
  if (const int error = stream_.Close(); error != 0) Fail(path_, error);
}

void ExportFile::Append(Bytes bytes) {
  if (file_ != nullptr) return file_->Append({&bytes, 1});
  const int error = storage::WriteAll(stream_.get(), {&bytes, 1});
  if (error != 0) Fail(path_, error);
}

void ExportFile::Flush() {
  if (buffer_.empty()) return;
  Append(buffer_);
  buffer_.clear();
}

}  // namespace smdebug::cli
