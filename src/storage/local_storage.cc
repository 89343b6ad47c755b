#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/base/environment.h"
#include "src/storage/key.h"
#include "src/storage/local_conditions.h"
#include "src/storage/local_file.h"
#include "src/storage/local_list.h"
#include "src/storage/local_root.h"
#include "src/storage/local_watch.h"
#include "src/storage/posix_file.h"

namespace smdebug {
namespace {

// Below this a copy costs less than mapping pages, and a file that someone cuts
// short meanwhile gives fewer bytes instead of a SIGBUS.
constexpr uint64_t kLeastMappedBytes = uint64_t{256} << 10;

Blob CopyRange(int fd, uint64_t offset, uint64_t length,
               const std::string& path) {
  // libstdc++ 11 has no make_shared_for_overwrite.
  std::shared_ptr<std::byte[]> buffer =
      std::make_unique_for_overwrite<std::byte[]>(length);
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

  const std::string& root() const override { return root_.path(); }

  std::unique_ptr<PendingFile> Create(std::string_view key,
                                      CreateOptions options) override {
    return storage::CreateLocalFile(root_, key, options);
  }

  bool CreateExclusive(std::string_view key, Bytes content) override {
    return storage::CreateLocalExclusive(root_, key, content);
  }

  std::optional<VersionedText> ReadVersioned(
      std::string_view key) const override {
    const auto opened = OpenFile("read", key, kToRead);
    if (!opened) return std::nullopt;
    const Blob blob =
        CopyRange(opened->file.get(), 0, opened->size(), root_.PathOf(key));
    return VersionedText{std::string(blob.text()),
                         storage::VersionOf(opened->status)};
  }

  bool ReplaceIfUnchanged(std::string_view key, std::string_view version,
                          Bytes content) override {
    return storage::ReplaceLocalIfUnchanged(root_, key, version, content);
  }

  std::optional<Blob> Read(std::string_view key, uint64_t offset,
                           uint64_t length) const override {
    const auto opened = OpenFile("read", key, kToRead);
    if (!opened) return std::nullopt;
    offset = std::min(offset, opened->size());
    length = std::min(length, opened->size() - offset);
    if (length == 0) return Blob{};
    const int fd = opened->file.get();
    return length < kLeastMappedBytes
               ? CopyRange(fd, offset, length, root_.PathOf(key))
               : MapRange(fd, offset, length, root_.PathOf(key));
  }

  std::optional<FileInfo> Stat(std::string_view key) const override {
    const auto opened = OpenFile("stat", key, O_PATH);
    if (!opened) return std::nullopt;
    return FileInfo{std::string(key), opened->size(),
                    storage::ModifiedSeconds(opened->status)};
  }

  std::vector<FileInfo> List(std::string_view prefix,
                             std::string_view start_after,
                             size_t limit) const override {
    return storage::ListLocalFiles(root_, prefix, start_after, limit);
  }

  void Remove(std::string_view key) override {
    const std::string path = root_.PathOf(key);
    const storage::Place place = root_.Find(key);
    const int folder = place.folder.get();
    if (place.folder.valid() && unlinkat(folder, place.name.c_str(), 0) == 0) {
      return;
    }
    // A folder is no file, so there was nothing to remove.
    if (!storage::IsAbsent(errno) && errno != EISDIR) {
      storage::ThrowIoError("remove", path, errno);
    }
  }

  void Move(std::string_view from, std::string_view to) override {
    const std::string path = root_.PathOf(from);
    storage::CheckKey(to);
    // renameat() would move a whole folder, and its ENOENT does not say which
    // of the two keys is at fault.
    if (!Stat(from).has_value()) throw IoError("move", path, ENOENT);
    const storage::Place source = root_.Find(from);
    const bool moved = root_.At(to, [&](const storage::Place& target) {
      return renameat(source.folder.get(), source.name.c_str(),
                      target.folder.get(), target.name.c_str()) == 0;
    });
    if (!moved) storage::ThrowIoError("move", path, errno);
  }

  // A whole folder is renamed at once where nothing is in the way.
  void MoveAll(std::string_view from, std::string_view to) override {
    const auto is_folder = [](std::string_view prefix) {
      return prefix.size() > 1 && prefix.ends_with('/');
    };
    if (is_folder(from) && is_folder(to)) {
      const std::string_view folder = from.substr(0, from.size() - 1);
      if (!root_.Open(folder, O_PATH | O_DIRECTORY).valid()) return;
      const storage::Place source = root_.Find(folder);
      const bool moved = root_.At(
          to.substr(0, to.size() - 1), [&](const storage::Place& target) {
            return renameat2(source.folder.get(), source.name.c_str(),
                             target.folder.get(), target.name.c_str(),
                             RENAME_NOREPLACE) == 0;
          });
      if (moved) return;
    }
    Storage::MoveAll(from, to);
  }

  void Hold() override {
    if (!root_.Hold()) storage::ThrowIoError("open", root(), errno);
  }

  std::string FindLink(std::string_view key) const override {
    for (size_t end = 0; end != std::string_view::npos;) {
      end = key.find('/', end + 1);
      const std::string_view part = key.substr(0, end);
      const storage::Place place = root_.Find(part);
      struct stat status {};
      if (!place.folder.valid() ||
          fstatat(place.folder.get(), place.name.c_str(), &status,
                  AT_SYMLINK_NOFOLLOW) != 0) {
        break;
      }
      if (S_ISLNK(status.st_mode)) return std::string(part);
    }
    return {};
  }

  std::unique_ptr<ChangeWatch> Watch(
      std::span<const std::string_view> folders) const override {
    return storage::WatchLocalFiles(root(), folders);
  }

 private:
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  static constexpr int kToRead = O_RDONLY | O_NONBLOCK;

  struct OpenedFile {
    base::Fd file;
    struct stat status {};

    uint64_t size() const { return static_cast<uint64_t>(status.st_size); }
  };

  // nullopt if there is no such file. Throws IoError.
  std::optional<OpenedFile> OpenFile(std::string_view operation,
                                     std::string_view key, int flags) const {
    storage::CheckKey(key);
    OpenedFile opened{root_.Open(key, flags)};
    if (!opened.file.valid() || fstat(opened.file.get(), &opened.status) != 0) {
      if (storage::IsAbsent(errno)) return std::nullopt;
      throw IoError(operation, root_.PathOf(key), errno);
    }
    if (!S_ISREG(opened.status.st_mode)) return std::nullopt;
    return opened;
  }

  storage::LocalRoot root_;
};

}  // namespace

std::shared_ptr<Storage> OpenLocalStorage(std::string_view root) {
  if (root.empty()) throw ConfigError("storage root", root, "a folder's path");
  if (root.find('\0') != std::string_view::npos) {
    throw ConfigError("storage root", root, "a path without the character NUL");
  }
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
