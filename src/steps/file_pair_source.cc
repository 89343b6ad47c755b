#include "src/steps/file_pair_source.h"

#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"

namespace smdebug::steps {
namespace {

// Sorts after every worker's name.
constexpr std::string_view kAfterAll = "\x7f";

// nullopt for a file that does not even claim to be an index.
std::optional<StepItem> ItemOf(FileInfo file) {
  StepItem item = {.size = file.size, .modified = file.modified};
  if (const auto name = run::ParseStepFileKey(file.key)) {
    item.step = name->step;
    item.worker = run::DecodeWorker(name->worker);
  } else if (!file.key.ends_with(".json")) {
    return std::nullopt;
  }
  item.name = std::move(file.key);
  return item;
}

std::string OwnPlace(int64_t step, std::string_view worker) {
  return run::EventFileKey(step, run::EncodeWorker(worker));
}

}  // namespace

std::vector<std::string_view> FilePairSource::folders() const {
  return {run::FolderOf(run::kIndexPrefix)};
}

std::vector<StepItem> FilePairSource::List(std::string_view cursor) const {
  std::vector<StepItem> items;
  std::vector<FileInfo> files = storage_->List(run::kIndexPrefix, cursor);
  items.reserve(files.size());
  for (FileInfo& file : files) {
    if (auto item = ItemOf(std::move(file))) items.push_back(*std::move(item));
  }
  return items;
}

std::string FilePairSource::CursorAfter(
    int64_t step, std::optional<std::string_view> worker) const {
  return run::IndexFileKey(
      step, worker ? run::EncodeWorker(*worker) : std::string(kAfterAll));
}

std::optional<StepItem> FilePairSource::Look(std::string_view name) const {
  std::optional<FileInfo> file = storage_->Stat(name);
  return file ? ItemOf(*std::move(file)) : std::nullopt;
}

std::optional<StepRecord> FilePairSource::ReadIndex(
    const StepItem& item) const {
  const std::optional<Blob> blob = storage_->Read(item.name);
  if (!blob) return std::nullopt;
  StepRecord record = {index::ParseStepIndex(blob->text(), item.name), {}};
  const std::string& file = record.index.event_file;
  if (file == OwnPlace(item.step, item.worker)) return record;
  const auto named = run::ParseStepFileKey(file);
  if (named && named->step != item.step) {
    throw FormatError(item.name, fmt::format("is that of step {}", named->step),
                      DamageKind::kBadIndex);
  }
  record.place = file;
  return record;
}

std::string FilePairSource::NameOf(const StepContent& content) const {
  return content.place.empty() ? OwnPlace(content.step, content.worker)
                               : std::string(content.place);
}

std::optional<Blob> FilePairSource::Read(const StepContent& content,
                                         uint64_t offset,
                                         uint64_t length) const {
  return storage_->Read(NameOf(content), offset, length);
}

std::vector<ContentItem> FilePairSource::ListContents() const {
  std::vector<ContentItem> items;
  for (FileInfo& file : storage_->List(run::kEventsPrefix)) {
    ContentItem item = {.size = file.size, .modified = file.modified};
    if (auto name = run::ParseStepFileKey(file.key)) {
      item.worker = run::DecodeWorker(name->worker);
    }
    item.name = std::move(file.key);
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace smdebug::steps
