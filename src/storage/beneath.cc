#include "src/storage/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include <linux/openat2.h>

namespace smdebug::storage {
namespace {

constexpr int kFolderOnly = O_PATH | O_DIRECTORY;

// openat2(2). ELOOP too where there is no such call, a sandbox forbids it, or
// a race kept it from an answer.
base::Fd OpenResolved(int folder, const std::string& path, int flags,
                      uint64_t resolve) {
  static std::atomic<bool> kernel_lacks_it = false;
  base::Fd opened;
  if (!kernel_lacks_it) {
    open_how how = {};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    how.resolve = resolve;
    opened = base::Fd(static_cast<int>(
        syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how))));
    if (opened.valid()) return opened;
    if (errno == ENOSYS) kernel_lacks_it = true;
  }
  if (kernel_lacks_it || errno == EPERM || errno == EAGAIN) errno = ELOOP;
  return opened;
}

// One name, right in `folder`.
base::Fd OpenName(int folder, const std::string& name, int flags) {
  base::Fd opened(openat(folder, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (opened.valid() || errno != ENOTDIR) return opened;
  // So a link is reported where a folder is asked for.
  struct stat status {};
  const bool is_link =
      fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode);
  errno = is_link ? ELOOP : ENOTDIR;
  return opened;
}

// Goes down from `folder` to the one that holds the last name of `path`, each
// step by `enter(folder, name)`; returns what `arrive(folder, name)` gives.
template <typename Enter, typename Arrive>
base::Fd GoDown(int folder, std::string_view path, Enter enter, Arrive arrive) {
  base::Fd reached;
  for (size_t begin = 0;;) {
    const size_t slash = path.find('/', begin);
    const std::string name(path.substr(begin, slash - begin));
    if (slash == std::string_view::npos) return arrive(folder, name);
    base::Fd next = enter(folder, name);
    if (!next.valid()) return next;
    reached = std::move(next);
    folder = reached.get();
    begin = slash + 1;
  }
}

}  // namespace

base::Fd OpenLinkless(const std::string& path, int flags) {
  return OpenResolved(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
}

base::Fd OpenBeneath(int folder, std::string_view path, int flags) {
  if (path.find('/') == std::string_view::npos) {
    return OpenName(folder, std::string(path), flags);
  }
  base::Fd opened = OpenResolved(folder, std::string(path), flags,
                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (opened.valid() || errno != ELOOP) return opened;
  return WalkBeneath(folder, path, flags);
}

base::Fd WalkBeneath(int folder, std::string_view path, int flags) {
  return GoDown(
      folder, path,
      [](int parent, const std::string& name) {
        return OpenName(parent, name, kFolderOnly);
      },
      [flags](int parent, const std::string& name) {
        return OpenName(parent, name, flags);
      });
}

base::Fd MakeBeneath(int folder, std::string_view path) {
  base::Fd there = OpenBeneath(folder, path, kFolderOnly);
  if (there.valid() || errno != ENOENT) return there;
  const auto make = [](int parent, const std::string& name) {
    constexpr mode_t kMode = 0777;
    if (mkdirat(parent, name.c_str(), kMode) != 0 && errno != EEXIST) {
      return base::Fd();
    }
    return OpenName(parent, name, kFolderOnly);
  };
  return GoDown(folder, path, make, make);
}

}  // namespace smdebug::storage
