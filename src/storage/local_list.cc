#include "src/storage/local_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "smdebug/error.h"
#include "src/storage/key.h"
#include "src/storage/posix_file.h"

namespace smdebug::storage {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// One walk below a root. Folders are named by the common start of their keys:
// empty for the root, else ending in '/'.
class Walk {
 public:
  Walk(const std::string& root, std::string_view prefix,
       std::string_view start_after)
      : root_(root), prefix_(prefix), start_after_(start_after) {}

  std::vector<FileInfo> Run() {
    root_fd_ =
        FileDescriptor(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root_fd_.valid()) {
      if (errno == ENOENT) return {};
      throw IoError("list", root_, errno);
    }
    if (!EnterPrefix()) return {};
    while (!folders_.empty()) {
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      if (FileDescriptor fd = Open(folder); fd.valid()) {
        ReadFolder(folder, std::move(fd));
      }
    }
    std::ranges::sort(found_, {}, &FileInfo::key);
    return std::move(found_);
  }

 private:
  // Goes down to the deepest folder that all keys with the prefix share. False
  // if there is none, or only behind a symbolic link.
  bool EnterPrefix() {
    for (size_t slash = prefix_.find('/'); slash != std::string_view::npos;
         slash = prefix_.find('/', slash + 1)) {
      if (!IsValidFolder(prefix_.substr(0, slash))) return false;
      if (!Open(prefix_.substr(0, slash + 1)).valid()) return false;
    }
    folders_.emplace_back(prefix_.substr(0, prefix_.rfind('/') + 1));
    return true;
  }

  static bool IsValidFolder(std::string_view folder) {
    return IsValidKey(std::string(folder) + "/file");
  }

  // None if the folder is gone or is not one.
  FileDescriptor Open(std::string_view folder) const {
    const std::string path = folder.empty() ? "." : std::string(folder);
    // O_NOFOLLOW would not apply to a path that ends in a slash.
    const std::string bare = path.substr(0, path.find_last_not_of('/') + 1);
    FileDescriptor fd(openat(root_fd_.get(), bare.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const bool absent = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (!fd.valid() && !absent) throw IoError("list", PathOf(folder), errno);
    return fd;
  }

  void ReadFolder(const std::string& folder, FileDescriptor fd) {
    const int number = fd.get();
    const Folder opened(fdopendir(number));
    if (opened == nullptr) throw IoError("list", PathOf(folder), errno);
    static_cast<void>(fd.Release());  // closedir() closes it.
    while (true) {
      errno = 0;
      // Each stream has one reader, so readdir() is safe here.
      const dirent* entry = readdir(opened.get());  // NOLINT(concurrency-*)
      if (entry == nullptr) break;
      Visit(folder, *entry, number);
    }
    if (errno != 0) throw IoError("list", PathOf(folder), errno);
  }

  void Visit(const std::string& folder, const dirent& entry, int fd) {
    const std::string_view name = entry.d_name;
    if (name == "." || name == "..") return;
    std::string key = folder + std::string(name);
    if (!MayHold(key)) return;
    // 0 where the file system cannot tell.
    auto mode = static_cast<mode_t>(DTTOIF(entry.d_type));
    struct stat status {};
    if (mode == 0 || (S_ISREG(mode) && IsWanted(key))) {
      if (fstatat(fd, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return;  // Removed or renamed since it was read.
        throw IoError("list", PathOf(key), errno);
      }
      mode = status.st_mode;
    }
    if (S_ISDIR(mode)) {
      key.push_back('/');
      if (MayHold(key)) folders_.push_back(std::move(key));
    } else if (S_ISREG(mode) && IsWanted(key)) {
      found_.push_back({std::move(key), static_cast<uint64_t>(status.st_size),
                        ModifiedSeconds(status)});
    }
  }

  bool IsWanted(std::string_view key) const {
    return key > start_after_ && key.starts_with(prefix_) &&
           !key.ends_with(kPendingSuffix);
  }

  // Whether `start`, or a longer key that starts with it, can be wanted.
  bool MayHold(std::string_view start) const {
    const bool in_prefix =
        start.starts_with(prefix_) || prefix_.starts_with(start);
    return in_prefix &&
           (start > start_after_ || start_after_.starts_with(start));
  }

  std::string PathOf(std::string_view key) const {
    return root_ + '/' + std::string(key);
  }

  const std::string& root_;
  const std::string_view prefix_;
  const std::string_view start_after_;
  FileDescriptor root_fd_;
  std::vector<std::string> folders_;  // Still to be read.
  std::vector<FileInfo> found_;
};

}  // namespace

std::vector<FileInfo> ListLocalFiles(const std::string& root,
                                     std::string_view prefix,
                                     std::string_view start_after) {
  return Walk(root, prefix, start_after).Run();
}

}  // namespace smdebug::storage
