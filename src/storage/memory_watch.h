#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "src/base/mutex.h"
#include "src/storage/watched_folders.h"

namespace smdebug::storage {

class MemoryChanges;

// Tells the watches of a memory storage which files changed. Thread-safe.
class ChangeFeed {
 public:
  // To be called after `key` was published, moved or removed.
  void Report(std::string_view key);

  // May outlive the feed.
  std::unique_ptr<ChangeWatch> Watch(WatchedFolders folders);

 private:
  base::Mutex mu_;
  std::vector<std::weak_ptr<MemoryChanges>> watched_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace smdebug::storage
