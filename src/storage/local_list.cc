#include "src/storage/local_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "smdebug/error.h"
#include "src/storage/key.h"
#include "src/storage/local_root.h"
#include "src/storage/posix_file.h"

namespace smdebug::storage {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

bool IsValidFolder(std::string_view folder) {
  return IsValidKey(std::string(folder) + "/file");
}

// One walk below a root, in key order. Folders are named by the common start of
// their keys: empty for the root, else ending in '/'.
class Walk {
 public:
  Walk(const LocalRoot& root, std::string_view prefix,
       std::string_view start_after, size_t limit)
      : root_(root),
        prefix_(prefix),
        start_after_(start_after),
        limit_(limit) {}

  std::vector<FileInfo> Run() {
    base::Fd folder = root_.OpenSelf(O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!folder.valid()) {
      if (errno == ENOENT) return {};
      throw IoError("list", root_.path(), errno);
    }
    // Down to the deepest folder that all keys with the prefix share.
    for (size_t begin = 0, slash = 0;
         (slash = prefix_.find('/', begin)) != std::string_view::npos;
         begin = slash + 1) {
      if (!IsValidFolder(prefix_.substr(0, slash))) return {};
      folder = Enter(folder.get(), prefix_.substr(0, slash + 1), begin);
      if (!folder.valid()) return {};
    }
    Visit(std::string(prefix_.substr(0, prefix_.rfind('/') + 1)),
          std::move(folder));
    return std::move(found_);
  }

 private:
  // A name in a folder: a file's key, or a folder's with its '/'.
  struct Entry {
    std::string key;
    bool is_folder = false;
  };

  // The folder whose name begins at `name` of `folder`, in the one opened as
  // `parent`. None if it is gone, or is not a folder.
  base::Fd Enter(int parent, std::string_view folder, size_t name) const {
    // No file below could be read, and who nests folders must not be able to
    // exhaust the stack.
    if (folder.size() > PATH_MAX) {
      throw IoError("list", PathOf(folder), ENAMETOOLONG);
    }
    const std::string bare(folder.substr(name, folder.size() - 1 - name));
    base::Fd fd(openat(parent, bare.c_str(),
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid() && !IsAbsent(errno)) {
      throw IoError("list", PathOf(folder), errno);
    }
    return fd;
  }

  void Visit(const std::string& folder, base::Fd fd) {
    const int number = fd.get();
    const Folder opened(fdopendir(number));
    if (opened == nullptr) throw IoError("list", PathOf(folder), errno);
    static_cast<void>(fd.Release());  // closedir() closes it.
    for (Entry& entry : EntriesOf(folder, opened.get(), number)) {
      if (found_.size() >= limit_) return;
      if (entry.is_folder) {
        base::Fd below = Enter(number, entry.key, folder.size());
        if (below.valid()) Visit(entry.key, std::move(below));
        continue;
      }
      const auto status = StatusOf(number, entry.key, folder.size());
      if (!status || !S_ISREG(status->st_mode)) continue;
      found_.push_back({std::move(entry.key),
                        static_cast<uint64_t>(status->st_size),
                        ModifiedSeconds(*status)});
    }
  }

  // What may be wanted of a folder, in key order. With its '/', a folder sorts
  // as the keys below it do.
  std::vector<Entry> EntriesOf(const std::string& folder, DIR* opened,
                               int fd) const {
    std::vector<Entry> entries;
    while (true) {
      errno = 0;
      // Each stream has one reader, so readdir() is safe here.
      const dirent* entry = readdir(opened);  // NOLINT(concurrency-*)
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      std::string key = folder + std::string(name);
      if (!MayHold(key)) continue;
      // 0 where the file system cannot tell.
      auto mode = static_cast<mode_t>(DTTOIF(entry->d_type));
      if (mode == 0) {
        const auto status = StatusOf(fd, key, folder.size());
        if (!status) continue;
        mode = status->st_mode;
      }
      const bool is_folder = S_ISDIR(mode);
      if (is_folder) key.push_back('/');
      const bool wanted =
          is_folder ? MayHold(key) : S_ISREG(mode) && IsWanted(key);
      if (wanted) entries.push_back({std::move(key), is_folder});
    }
    if (errno != 0) throw IoError("list", PathOf(folder), errno);
    std::ranges::sort(entries, {}, &Entry::key);
    return entries;
  }

  // Of the file whose name begins at `name` of `key`; nullopt if it has been
  // removed or renamed since it was seen.
  std::optional<struct stat> StatusOf(int fd, const std::string& key,
                                      size_t name) const {
    struct stat status {};
    if (fstatat(fd, key.c_str() + name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      return status;
    }
    if (errno == ENOENT) return std::nullopt;
    throw IoError("list", PathOf(key), errno);
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
    return root_.path() + '/' + std::string(key);
  }

  const LocalRoot& root_;
  const std::string_view prefix_;
  const std::string_view start_after_;
  const size_t limit_;
  std::vector<FileInfo> found_;
};

}  // namespace

std::vector<FileInfo> ListLocalFiles(const LocalRoot& root,
                                     std::string_view prefix,
                                     std::string_view start_after,
                                     size_t limit) {
  return Walk(root, prefix, start_after, limit).Run();
}

}  // namespace smdebug::storage
