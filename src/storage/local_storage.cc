#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/environment.h"
#include "src/base/host.h"
#include "src/storage/key.h"
#include "src/storage/local_file.h"
#include "src/storage/local_list.h"
#include "src/storage/local_watch.h"
#include "src/storage/posix_file.h"

namespace smdebug {
namespace {

using storage::FileDescriptor;

// Below this a copy costs less than mapping pages, and a file that someone cuts
// short meanwhile gives fewer bytes instead of a SIGBUS.
constexpr uint64_t kLeastMappedBytes = uint64_t{256} << 10;

// A path that leads to no file: a name is missing, or a file is in the way.
bool IsAbsent(int code) { return code == ENOENT || code == ENOTDIR; }

bool IsUnsupported(int code) {
  return code == EPERM || code == EOPNOTSUPP || code == ENOSYS ||
         code == EMLINK;
}

// Files are replaced, never written again, so a new version is a new inode.
std::string VersionOf(const struct stat& status) {
  return fmt::format("{}:{}.{:09}:{}", status.st_ino, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_size);
}

// Writes a file beside `path`, under a name that nobody else has.
std::string WritePending(const std::string& path, Bytes content) {
  static std::atomic<uint64_t> last{0};
  std::string pending = fmt::format("{}.{}.{}.{}{}", path, base::HostName(),
                                    getpid(), ++last, storage::kPendingSuffix);
  FileDescriptor file = storage::OpenFresh(pending);
  int code = storage::WriteAll(file.get(), {&content, 1});
  if (code == 0) code = file.Close();
  if (code == 0) return pending;
  unlink(pending.c_str());
  throw IoError("create", path, code);
}

Blob CopyRange(int fd, uint64_t offset, uint64_t length,
               const std::string& path) {
  auto buffer = std::make_shared_for_overwrite<std::byte[]>(length);
  uint64_t filled = 0;
  while (filled < length) {
    const ssize_t got = pread(fd, buffer.get() + filled, length - filled,
                              static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError("read", path, errno);
    if (got == 0) break;
    filled += static_cast<uint64_t>(got);
  }
  const Bytes bytes(buffer.get(), filled);
  return {bytes, std::move(buffer)};
}

Blob MapRange(int fd, uint64_t offset, uint64_t length,
              const std::string& path) {
  static const auto kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t lead = offset % kPageBytes;
  const size_t mapped = lead + length;
  void* address = mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE, fd,
                       static_cast<off_t>(offset - lead));
  if (address == MAP_FAILED) {
    // Some file systems cannot map; they can be read.
    if (errno == ENODEV) return CopyRange(fd, offset, length, path);
    throw IoError("read", path, errno);
  }
  std::shared_ptr<const void> owner(address, [mapped](const void* start) {
    munmap(const_cast<void*>(start), mapped);
  });
  const auto* first = static_cast<const std::byte*>(address) + lead;
  return {Bytes(first, length), std::move(owner)};
}

class LocalStorage final : public Storage {
 public:
  explicit LocalStorage(std::string root) : root_(std::move(root)) {}

  const std::string& root() const override { return root_; }

  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override {
    return storage::CreateLocalFile(PathOf(key), root_, options);
  }

  bool CreateExclusive(std::string_view key, Bytes content) override {
    const std::string path = PathOf(key);
    // Another name first, so that nobody sees the file without its content.
    const std::string pending = WritePending(path, content);
    const bool created = link(pending.c_str(), path.c_str()) == 0;
    int code = created ? 0 : errno;
    // Some file systems have no second names, but can tell that one is taken.
    if (IsUnsupported(code)) {
      code = renameat2(AT_FDCWD, pending.c_str(), AT_FDCWD, path.c_str(),
                       RENAME_NOREPLACE) == 0
                 ? 0
                 : errno;
    }
    unlink(pending.c_str());
    if (code == EEXIST) return false;
    if (code != 0) throw IoError("create", path, code);
    return true;
  }

  std::optional<VersionedText> ReadVersioned(
      std::string_view key) const override {
    const std::string path = PathOf(key);
    const FileDescriptor file(
        open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) {
      if (IsAbsent(errno)) return std::nullopt;
      throw IoError("read", path, errno);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    const Blob blob =
        CopyRange(file.get(), 0, static_cast<uint64_t>(status.st_size), path);
    return VersionedText{std::string(blob.text()), VersionOf(status)};
  }

  bool ReplaceIfUnchanged(std::string_view key, std::string_view version,
                          Bytes content) override {
    const std::string path = PathOf(key);
    // Whoever replaces a file under a condition holds the root meanwhile.
    // Where a folder cannot be locked, two may both find the file unchanged.
    const FileDescriptor root(
        open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (root.valid() && flock(root.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
      if (IsAbsent(errno)) return false;
      throw IoError("replace", path, errno);
    }
    if (VersionOf(status) != version) return false;
    const std::string pending = WritePending(path, content);
    if (std::rename(pending.c_str(), path.c_str()) == 0) return true;
    const int code = errno;
    unlink(pending.c_str());
    throw IoError("replace", path, code);
  }

  std::optional<Blob> Read(std::string_view key, uint64_t offset,
                           uint64_t length) const override {
    const std::string path = PathOf(key);
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    const FileDescriptor file(
        open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) {
      if (IsAbsent(errno)) return std::nullopt;
      throw IoError("read", path, errno);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    const auto size = static_cast<uint64_t>(status.st_size);
    offset = std::min(offset, size);
    length = std::min(length, size - offset);
    if (length == 0) return Blob{};
    return length < kLeastMappedBytes
               ? CopyRange(file.get(), offset, length, path)
               : MapRange(file.get(), offset, length, path);
  }

  std::optional<FileInfo> Stat(std::string_view key) const override {
    const std::string path = PathOf(key);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
      if (IsAbsent(errno)) return std::nullopt;
      throw IoError("stat", path, errno);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return FileInfo{std::string(key), static_cast<uint64_t>(status.st_size),
                    storage::ModifiedSeconds(status)};
  }

  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after,
                             size_t limit) const override {
    return storage::ListLocalFiles(root_, prefix, start_after, limit);
  }

  void Remove(std::string_view key) override {
    const std::string path = PathOf(key);
    if (unlink(path.c_str()) == 0) return;
    // A folder is no file, so there was nothing to remove.
    if (!IsAbsent(errno) && errno != EISDIR) {
      throw IoError("remove", path, errno);
    }
  }

  void Move(std::string_view from, std::string_view to) override {
    const std::string source = PathOf(from);
    const std::string target = PathOf(to);
    // rename() would move a whole folder, and its ENOENT does not say which of
    // the two paths is at fault.
    if (!Stat(from).has_value()) throw IoError("move", source, ENOENT);
    const bool moved = storage::WithParents(target, [&] {
      return std::rename(source.c_str(), target.c_str()) == 0;
    });
    if (!moved) throw IoError("move", source, errno);
  }

  std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const override {
    return storage::WatchLocalFiles(root_, folders);
  }

 private:
  std::string PathOf(std::string_view key) const {
    storage::CheckKey(key);
    std::string path;
    path.reserve(root_.size() + 1 + key.size());
    return path.append(root_).append("/").append(key);
  }

  // Absolute, so that a later chdir() does not move the run.
  const std::string root_;
};

}  // namespace

std::shared_ptr<Storage> OpenLocalStorage(std::string_view root) {
  if (root.empty()) throw ConfigError("storage root", root, "a folder's path");
  std::string path =
      std::filesystem::absolute(base::ExpandHome(root)).lexically_normal();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists ? !S_ISDIR(status.st_mode) : errno == ENOTDIR) {
    throw IoError("open", path, ENOTDIR);
  }
  return std::make_shared<LocalStorage>(std::move(path));
}

}  // namespace smdebug
