#include "src/cli/commands/export_file.h"

#include <filesystem>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/bytes.h"

namespace smdebug::cli {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

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

ExportFile::ExportFile(const std::string& path, bool replace) {
  RequireFilePath(path);
  const std::filesystem::path full = std::filesystem::absolute(path);
  const std::string name = full.filename().string();
  if (name.ends_with(".tmp")) {
    throw Error(fmt::format(
        "{}: names that end in .tmp are for files being written", path));
  }
  if (!replace && std::filesystem::exists(full)) {
    throw Error(fmt::format("{}: is there already; --force replaces it", path));
  }
  folder_ = OpenLocalStorage(full.parent_path().string());
  file_ = folder_->Create(name);
  buffer_.reserve(kBuffer);
}

ExportFile::~ExportFile() = default;

void ExportFile::Write(Bytes bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBuffer) Flush();
  if (bytes.size() >= kBuffer) {
    file_->Append({&bytes, 1});
    return;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void ExportFile::Write(std::string_view text) { Write(base::AsBytes(text)); }

void ExportFile::Publish() {
  Flush();
  file_->Publish();
}

void ExportFile::Flush() {
  if (buffer_.empty()) return;
  const Bytes bytes = buffer_;
  file_->Append({&bytes, 1});
  buffer_.clear();
}

}  // namespace smdebug::cli
