#include "src/trial/collections.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/log.h"
#include "src/index/collections_file.h"
#include "src/index/run_files.h"
#include "src/trial/reason.h"

namespace smdebug::trial {

bool CollectionFiles::Refresh() {
  std::vector<FileInfo> files = storage_->List("collections/");
  if (files == seen_) return false;
  seen_ = std::move(files);
  num_workers_ = 1;
  num_workers_known_ = false;
  workers_.clear();
  collections_.clear();
  damage_.clear();
  for (const FileInfo& file : seen_) Read(file);
  return true;
}

void CollectionFiles::Read(const FileInfo& file) {
  const auto worker = index::ParseWorkerFileKey(file.key);
  if (!worker) return;
  workers_.insert(index::DecodeWorker(*worker));
  const std::optional<Blob> blob = storage_->Read(file.key);
  if (!blob) return;
  try {
    index::CollectionsFile parsed =
        index::ParseCollectionsFile(blob->text(), file.key);
    if (!num_workers_known_ && parsed.num_workers) {
      num_workers_ = *parsed.num_workers;
      num_workers_known_ = true;
    }
    for (auto& [name, collection] : parsed.collections) {
      const auto [it, fresh] = collections_.try_emplace(name, collection);
      if (!fresh) it->second.tensor_names.merge(collection.tensor_names);
    }
  } catch (const FormatError& error) {
    base::LogWarning("{}/{}", storage_->root(), error.what());
    damage_.push_back({file.key, ReasonOf(error, file.key)});
  }
}

}  // namespace smdebug::trial
