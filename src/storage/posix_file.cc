#include "src/storage/posix_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

namespace smdebug::storage {
namespace {

// How often a name is freed that other processes keep taking.
constexpr int kMostAttempts = 16;

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

base::Fd OpenFresh(int folder, const std::string& name) {
  constexpr mode_t kMode = 0666;
  for (int attempts = 1;; ++attempts) {
    base::Fd file(openat(folder, name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (file.valid() || errno != EEXIST || attempts == kMostAttempts) {
      return file;
    }
    if (unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT) return {};
  }
}

void MarkVersion(int fd, const struct stat& status) noexcept {
  constexpr int64_t kMillisecond = 1'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  timespec modified = status.st_mtim;
  modified.tv_nsec +=
      now.tv_nsec % kMillisecond - modified.tv_nsec % kMillisecond;
  const std::array<timespec, 2> times = {timespec{0, UTIME_OMIT}, modified};
  futimens(fd, times.data());
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
