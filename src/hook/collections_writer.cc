#include "src/hook/collections_writer.h"

#include <utility>

#include "src/base/bytes.h"
#include "src/base/kill_point.h"
#include "src/run/keys.h"

namespace smdebug::hook {

CollectionsWriter::CollectionsWriter(Storage* storage, Durability durability,
                                     std::string worker, int64_t num_workers)
    : storage_(storage), durability_(durability), worker_(std::move(worker)) {
  content_.num_workers = num_workers;
}

void CollectionsWriter::Note(const CollectionChanges& changes) {
  has_changed_ = true;
  for (const Collection& made : changes.made) {
    content_.collections.insert_or_assign(made.name, made);
  }
  for (const CollectionChanges::Member& member : changes.joined) {
    content_.collections.at(member.collection).tensor_names.insert(member.name);
  }
}

void CollectionsWriter::Publish() {
  if (!has_changed_) return;
  const std::string json = ToJson(content_);
  const auto file = storage_->Create(
      run::CollectionsFileKey(worker_),
      {.visibility = Visibility::kOnPublish, .durability = durability_});
  const Bytes parts[] = {base::AsBytes(json)};
  file->Append(parts);
  SMDEBUG_KILL_POINT("before_collections_publish");
  file->Publish();
  has_changed_ = false;
}

}  // namespace smdebug::hook
