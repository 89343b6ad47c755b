#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/storage/posix_file.h"
#include "src/storage/watched_folders.h"

namespace smdebug::storage {

// The inotify watches of a root and some folders below it. Watched are:
//
//   - the folders on the way to the root, so that its removal, its return and
//     moves of any of them are noticed. Where the way ends before the root, its
//     last folder is watched for the next one to come;
//   - the root, and every folder below it that leads to files that count.
//
// A folder is watched first and looked through then. So a file that comes into
// a new folder is either found or raises an event.
//
// Symbolic links are followed on the way to the root, but not watched: what
// they point at may change unnoticed. One thread at a time.
class FolderWatches {
 public:
  enum class News {
    kNothing,
    kChanged,
    // Not everything can be watched any more. There will be no more news.
    kLostSight,
  };

  // nullptr if not everything can be watched: without inotify, at one of its
  // limits, without the right to read a folder, or on a file system that others
  // may change. `root` is absolute, without a '/' at the end.
  static std::unique_ptr<FolderWatches> Make(std::string root,
                                             WatchedFolders folders);

  // Readable when there may be news.
  int fd() const noexcept { return inotify_.get(); }

  // Takes in all events so far and watches the folders that came. Afterwards
  // every change has been told or will raise an event. Does not block.
  News TakeIn();

 private:
  struct Folder {
    std::string place;  // Above the root a path, else a key; the root is "".
    bool above = false;
    uint64_t round = 0;  // When it was last found at this place.
  };
  enum class Added { kNew, kKnown, kAbsent, kForbidden, kFailed };

  FolderWatches(std::string root, WatchedFolders folders);

  void TakeIn(const inotify_event& event, std::string_view name);
  void TakeInBelow(const std::string& folder, uint32_t mask,
                   std::string_view name);

  // Watches everything anew and gives up what is no longer there. False if it
  // cannot, as for the functions below.
  bool WatchAll();
  bool WatchWayToRoot(bool* arrived);
  bool WatchTree(std::string top);
  bool LookThrough(const std::string& folder,
                   std::vector<std::string>* subfolders);

  Added Add(const std::string& path, Folder folder, uint32_t mask);
  Added AddAbove(const std::string& path, uint32_t mask);
  void GiveUpOld();

  std::string PathOf(std::string_view key) const;

  const std::string root_;
  const WatchedFolders folders_;
  const base::Fd inotify_;
  // By watch descriptor. The kernel does not use a number twice.
  std::unordered_map<int, Folder> watched_;
  uint64_t round_ = 0;
  bool changed_ = false;    // Since the last TakeIn().
  bool displaced_ = false;  // What is watched is not what should be.
  bool failed_ = false;
};

}  // namespace smdebug::storage
