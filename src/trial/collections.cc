#include "src/trial/collections.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/log.h"
#include "src/index/collections_file.h"
#include "src/run/keys.h"

namespace smdebug::trial {

std::shared_ptr<const CollectionFiles> CollectionFiles::ReadAgain(
    const Storage& storage) const {
  std::vector<FileInfo> files = storage.List(run::kCollectionsPrefix);
  if (files == seen_) return nullptr;
  auto fresh = std::make_shared<CollectionFiles>();
  for (const FileInfo& file : files) fresh->Read(storage, file);
  fresh->seen_ = std::move(files);
  return fresh;
}

void CollectionFiles::Read(const Storage& storage, const FileInfo& file) {
  const auto worker = run::ParseWorkerFileKey(file.key);
  if (!worker) return;
  workers_.insert(run::DecodeWorker(*worker));
  const std::optional<Blob> blob = storage.Read(file.key);
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
    base::LogWarning("{}/{}", storage.root(), error.what());
    damage_.push_back({.file = file.key,
                       .reason = std::string(error.reason()),
                       .kind = DamageKind::kBadCollections});
  }
}

}  // namespace smdebug::trial
