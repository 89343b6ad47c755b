#include "src/storage/folder_watches.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/storage/file_system.h"
#include "src/storage/key.h"
#include "src/storage/local_root.h"

namespace smdebug::storage {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kArrivals = IN_CREATE | IN_MOVED_TO;
constexpr uint32_t kRemovals = IN_DELETE | IN_MOVED_FROM;
// IN_MODIFY is left out: a file counts when it is complete.
constexpr uint32_t kFiles =
    kArrivals | kRemovals | IN_CLOSE_WRITE | IN_EXCL_UNLINK;

constexpr size_t kBufferBytes = size_t{32} << 10;

enum class Presence { kFolder, kMissing, kUnclear };

Presence PresenceOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    return S_ISDIR(status.st_mode) ? Presence::kFolder : Presence::kMissing;
  }
  if (errno != ENOENT && errno != ENOTDIR) return Presence::kUnclear;
  // Nobody tells when the target of a symbolic link comes.
  const bool dangling =
      lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return dangling ? Presence::kUnclear : Presence::kMissing;
}

std::string Join(std::string_view folder, std::string_view name) {
  std::string joined(folder);
  if (!joined.empty() && !joined.ends_with('/')) joined.push_back('/');
  return joined.append(name);
}

// "/", "/a" and "/a/b" for "/a/b/c"; nothing for "/".
std::vector<std::string> FoldersAbove(const std::string& root) {
  std::vector<std::string> above;
  if (root == "/") return above;
  for (size_t slash = 0; slash != std::string::npos;
       slash = root.find('/', slash + 1)) {
    above.push_back(root.substr(0, std::max<size_t>(slash, 1)));
  }
  return above;
}

}  // namespace

std::unique_ptr<FolderWatches> FolderWatches::Make(std::string root,
                                                   WatchedFolders folders) {
  std::unique_ptr<FolderWatches> made(
      new FolderWatches(std::move(root), std::move(folders)));
  if (!made->inotify_.valid() || !made->WatchAll()) return nullptr;
  return made;
}

FolderWatches::FolderWatches(std::string root, WatchedFolders folders)
    : root_(std::move(root)),
      folders_(std::move(folders)),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

FolderWatches::News FolderWatches::TakeIn() {
  alignas(inotify_event) std::array<std::byte, kBufferBytes> buffer;
  while (!failed_) {
    const ssize_t got = read(fd(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) failed_ = true;
    for (ssize_t at = 0; at < got;) {
      const auto* event =
          reinterpret_cast<const inotify_event*>(buffer.data() + at);
      TakeIn(*event, event->len > 0 ? event->name : "");
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  if (std::exchange(displaced_, false) && !failed_) failed_ = !WatchAll();
  if (failed_) {
    ++round_;  // Watches that are of no use here may be scarce elsewhere.
    GiveUpOld();
    return News::kLostSight;
  }
  return std::exchange(changed_, false) ? News::kChanged : News::kNothing;
}

void FolderWatches::TakeIn(const inotify_event& event, std::string_view name) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    changed_ = displaced_ = true;
    return;
  }
  const auto found = watched_.find(event.wd);
  if (found == watched_.end()) return;  // From before it was given up.
  const Folder& folder = found->second;
  if ((event.mask & IN_IGNORED) != 0) {  // The folder is gone for good.
    if (folder.above || folder.place.empty()) displaced_ = true;
    watched_.erase(found);
  } else if ((event.mask & (IN_MOVE_SELF | IN_UNMOUNT)) != 0) {
    changed_ = displaced_ = true;
  } else if (folder.above) {
    const std::string child = Join(folder.place, name);
    if (child == root_ || root_.starts_with(child + '/')) displaced_ = true;
  } else {
    TakeInBelow(folder.place, event.mask, name);
  }
}

void FolderWatches::TakeInBelow(const std::string& folder, uint32_t mask,
                                std::string_view name) {
  if ((mask & IN_ISDIR) == 0) {
    if (folders_.Holds(folder) && !name.ends_with(kPendingSuffix)) {
      changed_ = true;
    }
    return;
  }
  std::string child = Join(folder, name);
  if (!folders_.LeadsTo(child)) return;
  if ((mask & IN_MOVED_FROM) != 0) {
    changed_ = displaced_ = true;  // With all that was watched below it.
  } else if ((mask & kArrivals) != 0 && !displaced_ && !failed_) {
    failed_ = !WatchTree(std::move(child));
  }
}

bool FolderWatches::WatchAll() {
  ++round_;
  bool arrived = false;
  if (!WatchWayToRoot(&arrived)) return false;
  if (arrived && !WatchTree("")) return false;
  GiveUpOld();
  return true;
}

bool FolderWatches::WatchWayToRoot(bool* arrived) {
  const std::vector<std::string> above = FoldersAbove(root_);
  bool parent_watched = true;
  for (size_t i = 0; i < above.size(); ++i) {
    const std::string& child = i + 1 < above.size() ? above[i + 1] : root_;
    const Added added = AddAbove(above[i], kRemovals);
    if (added == Added::kFailed) return false;
    // Gone since it was seen; if its parent is watched, that raised an event.
    if (added == Added::kAbsent) return parent_watched;
    parent_watched = added != Added::kForbidden;
    switch (PresenceOf(child)) {
      case Presence::kUnclear:
        return false;
      case Presence::kFolder:
        // A folder that has another in it cannot be removed, only moved.
        if (i > 0 && parent_watched) AddAbove(above[i - 1], 0);
        continue;
      case Presence::kMissing:
        break;
    }
    if (!parent_watched || !InotifySeesAllOf(above[i])) return false;
    if (AddAbove(above[i], kRemovals | kArrivals) == Added::kFailed) {
      return false;
    }
    if (PresenceOf(child) != Presence::kFolder) return true;
  }
  *arrived = true;
  return true;
}

bool FolderWatches::WatchTree(std::string top) {
  std::vector<std::string> folders = {std::move(top)};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const std::string path = PathOf(folder);
    const uint32_t mask =
        kFiles | (folder.empty() ? IN_MOVE_SELF : IN_DONT_FOLLOW);
    switch (Add(path, {folder, false, round_}, mask)) {
      case Added::kKnown:
      case Added::kAbsent:
        continue;
      case Added::kForbidden:
      case Added::kFailed:
        return false;
      case Added::kNew:
        break;
    }
    if (!InotifySeesAllOf(path) || !LookThrough(folder, &folders)) return false;
  }
  return true;
}

bool FolderWatches::LookThrough(const std::string& folder,
                                std::vector<std::string>* subfolders) {
  std::error_code code;
  fs::directory_iterator entry(PathOf(folder), code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code vanished;
    if (entry->is_symlink(vanished)) continue;
    const std::string name = entry->path().filename().string();
    if (entry->is_directory(vanished)) {
      std::string subfolder = Join(folder, name);
      if (folders_.LeadsTo(subfolder)) {
        subfolders->push_back(std::move(subfolder));
      }
    } else if (folders_.Holds(folder) && !name.ends_with(kPendingSuffix)) {
      changed_ = true;
    }
  }
  return !code || IsAbsent(code.value());
}

FolderWatches::Added FolderWatches::Add(const std::string& path, Folder folder,
                                        uint32_t mask) {
  const int watch = inotify_add_watch(fd(), path.c_str(), mask | IN_ONLYDIR);
  if (watch < 0) {
    if (errno == EACCES) return Added::kForbidden;
    return IsAbsent(errno) ? Added::kAbsent : Added::kFailed;
  }
  Folder& known = watched_[watch];
  const bool found_before = known.round == folder.round;
  const bool same = known.place == folder.place && known.above == folder.above;
  known = std::move(folder);
  if (found_before && same) return Added::kKnown;
  // A link leads back to a folder that is already on the way.
  if (found_before && known.above) return Added::kFailed;
  return Added::kNew;
}

FolderWatches::Added FolderWatches::AddAbove(const std::string& path,
                                             uint32_t mask) {
  return Add(path, {path, true, round_}, mask | IN_MOVE_SELF);
}

void FolderWatches::GiveUpOld() {
  std::erase_if(watched_, [&](const auto& entry) {
    const auto& [watch, folder] = entry;
    if (folder.round == round_) return false;
    inotify_rm_watch(fd(), watch);
    return true;
  });
}

std::string FolderWatches::PathOf(std::string_view key) const {
  return key.empty() ? root_ : Join(root_, key);
}

}  // namespace smdebug::storage
