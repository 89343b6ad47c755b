#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/storage.h"

namespace smdebug::trial {

// The collections files of a run: who writes, and what was configured.
//
// The first worker's file, by name, defines the collections; the others add
// their tensor names to them. One thread at a time. `storage` is borrowed.
class CollectionFiles {
 public:
  explicit CollectionFiles(const Storage* storage) : storage_(storage) {}

  // Reads the files again if any is new or has changed, and tells whether.
  // Throws IoError.
  bool Refresh();

  // Whether every worker's file is there.
  bool complete() const {
    return !workers_.empty() &&
           static_cast<int64_t>(workers_.size()) >= num_workers_;
  }

  // As declared by the first file that says; 1 if none does.
  int64_t num_workers() const noexcept { return num_workers_; }
  const std::set<std::string>& workers() const noexcept { return workers_; }
  const std::map<std::string, Collection, std::less<>>& collections()
      const noexcept {
    return collections_;
  }
  const std::vector<Damage>& damage() const noexcept { return damage_; }

 private:
  void Read(const FileInfo& file);

  const Storage* const storage_;
  std::vector<FileInfo> seen_;
  int64_t num_workers_ = 1;
  bool num_workers_known_ = false;
  std::set<std::string> workers_;
  std::map<std::string, Collection, std::less<>> collections_;
  std::vector<Damage> damage_;
};

}  // namespace smdebug::trial
