#pragma once

#include <cstdint>
#include <string>

#include "smdebug/storage.h"
#include "src/hook/selector.h"
#include "src/index/collections_file.h"

namespace smdebug::hook {

// A worker's collections file, which is there before the first step that needs
// it. One thread at a time. `storage` is borrowed and outlives the writer.
class CollectionsWriter {
 public:
  CollectionsWriter(Storage* storage, Durability durability, std::string worker,
                    int64_t num_workers);

  void Note(const CollectionChanges& changes);

  // Writes the file if anything has changed since. Throws IoError.
  void Publish();

 private:
  Storage* const storage_;
  const Durability durability_;
  const std::string worker_;
  index::CollectionsFile content_;  // As told so far.
  bool has_changed_ = true;
};

}  // namespace smdebug::hook
