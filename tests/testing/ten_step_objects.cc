#include "tests/testing/ten_step_objects.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "src/run/keys.h"
#include "src/steps/file_pair_source.h"
#include "tests/testing/files.h"

namespace smdebug::testing {
namespace {

constexpr std::string_view kFolder = "packs/";
constexpr std::string_view kSuffix = ".pack";

std::string ObjectKey(int64_t step, std::string_view worker) {
  return fmt::format("{}{:012}_{}{}", kFolder, step, run::EncodeWorker(worker),
                     kSuffix);
}

std::string ItemName(int64_t step, std::string_view worker) {
  return fmt::format("step {:012} of {}", step, worker);
}

std::string Position(int64_t step, std::string_view worker) {
  return fmt::format("{:012}_{}", step, worker);
}

}  // namespace

void TenStepWriter::Add(int64_t step, index::StepIndex index,
                        std::string content) {
  waiting_.push_back({step, ToJson(index), std::move(content)});
  if (waiting_.size() == kSteps) Flush();
}

void TenStepWriter::Flush() {
  if (waiting_.empty()) return;
  std::string object = fmt::format("{}\n", waiting_.size());
  for (const Step& step : waiting_) {
    object += fmt::format("{} {} {}\n", step.step, step.index.size(),
                          step.content.size());
  }
  for (const Step& step : waiting_) object += step.index + step.content;
  PutFile(*storage_, ObjectKey(waiting_.front().step, worker_), object);
  waiting_.clear();
}

TenStepSource::Places TenStepSource::LookAtObjects() const {
  Places all;
  for (const FileInfo& file : storage_->List(kFolder)) {
    const base::MutexLock lock(mu_);
    auto it = objects_.find(file.key);
    if (it == objects_.end()) {
      const auto blob = storage_->Read(file.key);
      if (!blob) continue;
      std::istringstream text{std::string(blob->text())};
      // "packs/000000000120_worker_0.pack"
      const std::string worker = run::DecodeWorker(file.key.substr(
          kFolder.size() + 13,
          file.key.size() - kFolder.size() - 13 - kSuffix.size()));
      size_t count = 0;
      text >> count;
      Places places;
      for (size_t i = 0; i < count; ++i) {
        int64_t step = 0;
        Place place = {.object = file.key, .modified = file.modified};
        text >> step >> place.index_bytes >> place.content_bytes;
        places.emplace(std::pair(step, worker), std::move(place));
      }
      uint64_t start = static_cast<uint64_t>(text.tellg()) + 1;
      for (auto& [id, place] : places) {
        place.index_start = start;
        start += place.index_bytes + place.content_bytes;
      }
      it = objects_.emplace(file.key, std::move(places)).first;
    }
    all.insert(it->second.begin(), it->second.end());
  }
  return all;
}

std::optional<TenStepSource::Place> TenStepSource::Find(
    int64_t step, std::string_view worker) const {
  const Places places = LookAtObjects();
  const auto it = places.find({step, std::string(worker)});
  return it == places.end() ? std::nullopt : std::optional(it->second);
}

std::vector<steps::StepItem> TenStepSource::List(
    std::string_view cursor) const {
  std::vector<steps::StepItem> items;
  for (const auto& [id, place] : LookAtObjects()) {
    const auto& [step, worker] = id;
    if (Position(step, worker) <= cursor) continue;
    items.push_back({.name = ItemName(step, worker),
                     .step = step,
                     .worker = worker,
                     .size = place.index_bytes,
                     .modified = place.modified});
  }
  return items;
}

std::string TenStepSource::CursorAfter(
    int64_t step, std::optional<std::string_view> worker) const {
  return Position(step, worker.value_or("\x7f"));
}

std::optional<steps::StepItem> TenStepSource::Look(
    std::string_view name) const {
  for (steps::StepItem& item : List({})) {
    if (item.name == name) return std::move(item);
  }
  return std::nullopt;
}

std::optional<steps::StepRecord> TenStepSource::ReadIndex(
    const steps::StepItem& item) const {
  const auto place = Find(item.step, item.worker);
  if (!place) return std::nullopt;
  const auto blob =
      storage_->Read(place->object, place->index_start, place->index_bytes);
  if (!blob) return std::nullopt;
  return steps::StepRecord{index::ParseStepIndex(blob->text(), item.name), {}};
}

std::string TenStepSource::NameOf(const steps::StepContent& content) const {
  return "content of " + ItemName(content.step, content.worker);
}

std::optional<Blob> TenStepSource::Read(const steps::StepContent& content,
                                        uint64_t offset,
                                        uint64_t length) const {
  const auto place = Find(content.step, content.worker);
  if (!place) return std::nullopt;
  offset = std::min(offset, place->content_bytes);
  length = std::min(length, place->content_bytes - offset);
  return storage_->Read(
      place->object, place->index_start + place->index_bytes + offset, length);
}

std::vector<steps::ContentItem> TenStepSource::ListContents() const {
  std::vector<steps::ContentItem> items;
  for (const auto& [id, place] : LookAtObjects()) {
    if (place.content_bytes == 0) continue;
    items.push_back({.name = NameOf({id.first, id.second}),
                     .worker = id.second,
                     .size = place.content_bytes,
                     .modified = place.modified});
  }
  return items;
}

void PackRun(const Storage& from, Storage& to) {
  const steps::FilePairSource pairs(&from);
  std::map<std::string, TenStepWriter> writers;
  for (const steps::StepItem& item : pairs.List({})) {
    const auto record = pairs.ReadIndex(item);
    const auto content =
        pairs.Read({item.step, item.worker, record->place}, 0, UINT64_MAX);
    writers.try_emplace(item.worker, &to, item.worker)
        .first->second.Add(item.step, record->index,
                           content ? std::string(content->text()) : "");
  }
  for (auto& [worker, writer] : writers) writer.Flush();
  for (const FileInfo& file : from.List("")) {
    if (run::ParseStepFileKey(file.key)) continue;
    PutFile(to, file.key, from.Read(file.key)->text());
  }
}

steps::MakeStepSource TenStepSources() {
  return [](const Storage* storage) {
    return std::make_unique<TenStepSource>(storage);
  };
}

}  // namespace smdebug::testing
