#include "src/storage/local_conditions.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/host.h"
#include "src/storage/key.h"
#include "src/storage/posix_file.h"

namespace smdebug::storage {
namespace {

// Writes `content` at `place` under a name that nobody else has, so that nobody
// sees the file without it, and has `show(folder, draft)` give it its name.
// Returns 0 or an errno value.
int WriteAndShow(
    const Place& place, Bytes content,
    const std::function<int(int folder, const char* draft)>& show) {
  static std::atomic<uint64_t> last{0};
  const std::string draft =
      fmt::format("{}.{}.{}.{}{}", place.name, base::HostName(), getpid(),
                  ++last, kPendingSuffix);
  const int folder = place.folder.get();
  base::Fd file = OpenFresh(folder, draft);
  if (!file.valid()) return errno;
  struct stat status {};
  int code = WriteAll(file.get(), {&content, 1});
  if (code == 0 && fstat(file.get(), &status) != 0) code = errno;
  if (code == 0) MarkVersion(file.get(), status);
  if (code == 0) code = file.Close();
  if (code == 0 && show(folder, draft.c_str()) != 0) code = errno;
  unlinkat(folder, draft.c_str(), 0);
  return code;
}

bool HasNoSecondNames(int code) {
  return code == EPERM || code == EOPNOTSUPP || code == ENOSYS ||
         code == EMLINK;
}

bool IsRegularFile(const Place& place) {
  struct stat status {};
  return fstatat(place.folder.get(), place.name.c_str(), &status,
                 AT_SYMLINK_NOFOLLOW) != 0 ||
         S_ISREG(status.st_mode);
}

}  // namespace

bool CreateLocalExclusive(const LocalRoot& root, std::string_view key,
                          Bytes content) {
  const std::string path = root.PathOf(key);
  bool is_file = true;
  const bool created = root.At(key, [&](const Place& place) {
    const char* name = place.name.c_str();
    const int code =
        WriteAndShow(place, content, [&](int folder, const char* draft) {
          const int linked = linkat(folder, draft, folder, name, 0);
          if (linked == 0 || !HasNoSecondNames(errno)) return linked;
          // Some file systems can still tell that a name is taken.
          return renameat2(folder, draft, folder, name, RENAME_NOREPLACE);
        });
    if (code == EEXIST) is_file = IsRegularFile(place);
    errno = code;
    return code == 0;
  });
  if (created) return true;
  if (errno != EEXIST) ThrowIoError(root, "create", path, errno);
  if (is_file) return false;
  throw IoError("create", path, IoKind::kDenied,
                "something that is no file has this name");
}

bool ReplaceLocalIfUnchanged(const LocalRoot& root, std::string_view key,
                             std::string_view version, Bytes content) {
  const std::string path = root.PathOf(key);
  // Whoever replaces a file under a condition holds the root meanwhile.
  const base::Fd lock = root.OpenSelf(O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (lock.valid() && flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  const Place place = root.Find(key);
  struct stat status {};
  if (!place.folder.valid() || fstatat(place.folder.get(), place.name.c_str(),
                                       &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (IsAbsent(errno)) return false;
    ThrowIoError("replace", path, errno);
  }
  if (!S_ISREG(status.st_mode) || VersionOf(status) != version) return false;
  const int code =
      WriteAndShow(place, content, [&](int folder, const char* draft) {
        return renameat(folder, draft, folder, place.name.c_str());
      });
  if (code != 0) ThrowIoError("replace", path, code);
  return true;
}

std::string VersionOf(const struct stat& status) {
  return fmt::format("{}:{}.{:09}:{}", status.st_ino, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_size);
}

}  // namespace smdebug::storage
