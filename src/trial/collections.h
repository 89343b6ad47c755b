#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "src/trial/members.h"

namespace smdebug::trial {

// The collections files of a run: who writes, and what was configured.
//
// The first worker's file, by name, defines the collections; the others add
// their tensor names to them. Thread-safe: it does not change.
class CollectionFiles {
 public:
  CollectionFiles() = default;

  // What the files of `storage` say; null if no file is new or has changed.
  // Throws IoError.
  std::shared_ptr<const CollectionFiles> ReadAgain(
      const Storage& storage) const;

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

  // Which tensors they take in.
  Members& members() const noexcept { return members_; }

 private:
  void Read(const Storage& storage, const FileInfo& file);

  std::vector<FileInfo> seen_;
  int64_t num_workers_ = 1;
  bool num_workers_known_ = false;
  std::set<std::string> workers_;
  std::map<std::string, Collection, std::less<>> collections_;
  std::vector<Damage> damage_;
  mutable Members members_;  // Remembers what it was asked.
};

}  // namespace smdebug::trial
