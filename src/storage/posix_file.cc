#include "src/storage/posix_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "smdebug/error.h"

namespace smdebug::storage {
namespace {

// How often an operation is repeated when other processes keep undoing its
// preparation (removing the folder it made, taking the name it freed).
constexpr int kMostAttempts = 16;

bool MakeFolders(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const std::string parent = ParentOf(path);
  if (parent == path || !MakeFolders(parent)) return false;
  return mkdir(path.c_str(), 0777) == 0 || errno == EEXIST;
}

// Moves `count` bytes into the io vectors from `first` on; returns the first
// one that still has bytes.
size_t SkipWritten(std::span<iovec> vectors, size_t first, size_t count) {
  while (first < vectors.size() && count >= vectors[first].iov_len) {
    count -= vectors[first].iov_len;
    ++first;
  }
  if (count > 0) {
    iovec& torn = vectors[first];
    torn.iov_base = static_cast<std::byte*>(torn.iov_base) + count;
    torn.iov_len -= count;
  }
  return first;
}

int WriteVectors(int fd, std::span<iovec> vectors) noexcept {
  for (size_t first = 0; first < vectors.size();) {
    const ssize_t written = writev(fd, vectors.data() + first,
                                   static_cast<int>(vectors.size() - first));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (written == 0) return EIO;  // No progress and no reason: do not spin.
    first = SkipWritten(vectors, first, static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

int FileDescriptor::Close() noexcept {
  if (fd_ < 0) return 0;
  const int result = close(std::exchange(fd_, -1));
  // Linux has closed the descriptor even when a signal interrupted it.
  return result == 0 || errno == EINTR ? 0 : errno;
}

int WriteAll(int fd, std::span<const Bytes> parts) noexcept {
  std::array<iovec, IOV_MAX> vectors;
  size_t count = 0;
  for (const Bytes part : parts) {
    if (part.empty()) continue;
    vectors[count++] = {const_cast<std::byte*>(part.data()), part.size()};
    if (count < vectors.size()) continue;
    if (const int code = WriteVectors(fd, vectors); code != 0) return code;
    count = 0;
  }
  return WriteVectors(fd, std::span(vectors).first(count));
}

bool WithParents(const std::string& path,
                 const std::function<bool()>& attempt) {
  for (int attempts = 1;; ++attempts) {
    if (attempt()) return true;
    if (errno != ENOENT || attempts == kMostAttempts) return false;
    if (!MakeFolders(ParentOf(path))) return false;
  }
}

FileDescriptor OpenFresh(const std::string& path) {
  FileDescriptor file;
  const bool opened = WithParents(path, [&] {
    for (int attempts = 1;; ++attempts) {
      file = FileDescriptor(
          open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (file.valid()) return true;
      if (errno != EEXIST || attempts == kMostAttempts) return false;
      if (unlink(path.c_str()) != 0 && errno != ENOENT) return false;
    }
  });
  if (!opened) throw IoError("create", path, errno);
  return file;
}

int SyncFolders(const std::string& path, const std::string& root) noexcept {
  std::string folder = path;
  while (folder.size() >= root.size()) {
    const bool above_root = folder == root;
    folder = ParentOf(folder);
    const FileDescriptor opened(
        open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.valid() && fsync(opened.get()) == 0) {
      if (above_root) break;
      continue;
    }
    // The folder above the root is not ours and may be closed to us.
    return above_root ? 0 : errno;
  }
  return 0;
}

double ModifiedSeconds(const struct stat& status) noexcept {
  return static_cast<double>(status.st_mtim.tv_sec) +
         static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
}

std::string ParentOf(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return ".";
  const size_t last = path.find_last_not_of('/', slash);
  return std::string(last == std::string_view::npos ? "/"
                                                    : path.substr(0, last + 1));
}

}  // namespace smdebug::storage
