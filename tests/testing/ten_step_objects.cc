#include "tests/testing/ten_step_objects.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "src/base/bytes.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"
#include "src/steps/file_pair_source.h"
#include "tests/testing/files.h"

namespace smdebug::testing {
namespace {

constexpr std::string_view kSuffix = ".pack";

std::string ObjectKey(int64_t step, std::string_view worker) {
  return fmt::format("{}{:012}_{}{}", run::kIndexPrefix, step,
                     run::EncodeWorker(worker), kSuffix);
}

std::string ItemName(int64_t step, std::string_view worker) {
  return fmt::format("step {:012} of {}", step, worker);
}

std::string Position(int64_t step, std::string_view worker) {
  return fmt::format("{:012}_{}", step, worker);
}

size_t SizeOf(std::span<const Bytes> parts) {
  size_t size = 0;
  for (const Bytes part : parts) size += part.size();
  return size;
}

class Deaf final : public steps::SinkListener {
 public:
  void OnProgress() noexcept override {}
  void OnReports(std::span<const steps::StepReport>) noexcept override {}
};

}  // namespace

void PutObject(Storage& storage, std::string_view worker,
               std::span<const PackedStep> steps) {
  std::string head = fmt::format("{}\n", steps.size());
  for (const PackedStep& step : steps) {
    head += fmt::format("{} {} {}\n", step.step, step.index.size(),
                        SizeOf(step.content));
  }
  std::vector<Bytes> parts = {base::AsBytes(head)};
  for (const PackedStep& step : steps) {
    parts.push_back(base::AsBytes(step.index));
    parts.insert(parts.end(), step.content.begin(), step.content.end());
  }
  const auto file = storage.Create(ObjectKey(steps.front().step, worker));
  file->Append(parts);
  file->Publish();
}

class TenStepSink::Step final : public steps::OpenStep {
 public:
  Step(TenStepSink* sink, const steps::StepKey& key,
       steps::SinkListener* listener)
      : sink_(sink) {
    content_.key = key;
    content_.listener = listener;
  }

  void Append(std::span<const Bytes> parts,
              std::span<const steps::Owner> owners) override {
    content_.parts.insert(content_.parts.end(), parts.begin(), parts.end());
    content_.owners.insert(content_.owners.end(), owners.begin(), owners.end());
  }

  void Seal(std::string_view index) override {
    content_.index = index;
    {
      const base::MutexLock lock(sink_->mu_);
      sink_->sealed_.push_back(std::move(content_));
    }
    sink_->changed_.notify_all();
  }

 private:
  TenStepSink* const sink_;
  Sealed content_;
};

TenStepSink::~TenStepSink() {
  {
    const base::MutexLock lock(mu_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<steps::OpenStep> TenStepSink::Open(
    const steps::StepKey& key, steps::SinkListener* listener) {
  return std::make_unique<Step>(this, key, listener);
}

void TenStepSink::Hurry() {
  {
    const base::MutexLock lock(mu_);
    for (Sealed& step : sealed_) step.hurried = true;
  }
  changed_.notify_all();
}

void TenStepSink::Run() {
  while (true) {
    std::vector<Sealed> taken = Take();
    if (taken.empty()) return;
    std::exception_ptr error;
    try {
      Store(taken);
    } catch (...) {
      error = std::current_exception();
    }
    std::vector<steps::StepReport> reports;
    for (const Sealed& step : taken) reports.push_back({step.key, error});
    steps::SinkListener* const listener = taken.front().listener;
    taken.clear();  // Lets the memory go, then tells.
    listener->OnReports(reports);
  }
}

std::optional<std::string> TenStepSink::DueWorker() const {
  std::map<std::string, size_t> counts;
  for (const Sealed& step : sealed_) {
    const size_t count = ++counts[step.key.worker];
    if (count == kStepsPerObject || step.hurried || ended_) {
      return step.key.worker;
    }
  }
  return std::nullopt;
}

std::vector<TenStepSink::Sealed> TenStepSink::Take() {
  const base::MutexLock lock(mu_);
  std::optional<std::string> worker;
  changed_.wait(mu_, [&] {
    mu_.AssertHeld();
    worker = DueWorker();
    return worker || ended_;
  });
  std::vector<Sealed> taken;
  for (auto it = sealed_.begin(); it != sealed_.end();) {
    if (it->key.worker != worker || taken.size() == kStepsPerObject) {
      ++it;
    } else {
      taken.push_back(std::move(*it));
      it = sealed_.erase(it);
    }
  }
  return taken;
}

void TenStepSink::Store(std::span<const Sealed> taken) {
  std::vector<PackedStep> steps;
  for (const Sealed& step : taken) {
    steps.push_back({step.key.step, step.index, step.parts});
  }
  PutObject(*storage_, taken.front().key.worker, steps);
}

TenStepSource::Places TenStepSource::LookAtObjects() const {
  Places all;
  for (const FileInfo& file : storage_->List(run::kIndexPrefix)) {
    const base::MutexLock lock(mu_);
    auto known = objects_.find(file.key);
    if (known == objects_.end()) {
      const auto blob = storage_->Read(file.key);
      if (!blob) continue;
      known = objects_.emplace(file.key, PlacesIn(file, blob->text())).first;
    }
    all.insert(known->second.begin(), known->second.end());
  }
  return all;
}

TenStepSource::Places TenStepSource::PlacesIn(const FileInfo& file,
                                              std::string_view object) {
  const std::string worker =
      run::DecodeWorker(run::WorkerOfKey(file.key).value_or(""));
  std::istringstream text{std::string(object)};
  size_t count = 0;
  text >> count;
  std::vector<std::pair<int64_t, Place>> places(count);
  for (auto& [step, place] : places) {
    text >> step >> place.index_bytes >> place.content_bytes;
  }
  uint64_t start = static_cast<uint64_t>(text.tellg()) + 1;
  Places result;
  for (auto& [step, place] : places) {
    place.object = file.key;
    place.modified = file.modified;
    place.index_start = start;
    start += place.index_bytes + place.content_bytes;
    result.emplace(std::pair(step, worker), std::move(place));
  }
  return result;
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
  Deaf deaf;  // Until the sink has stored what is left.
  TenStepSink sink{std::shared_ptr<Storage>(std::shared_ptr<Storage>(), &to)};
  for (const steps::StepItem& item : pairs.List({})) {
    const auto record = pairs.ReadIndex(item);
    const auto content =
        pairs.Read({item.step, item.worker, record->place}, 0, UINT64_MAX);
    const auto step = sink.Open({item.worker, item.step}, &deaf);
    const Bytes parts[] = {content ? content->bytes : Bytes()};
    const steps::Owner owners[] = {content ? content->owner : nullptr};
    step->Append(parts, owners);
    step->Seal(ToJson(record->index));
  }
  for (const FileInfo& file : from.List("")) {
    if (run::ParseStepFileKey(file.key)) continue;
    PutFile(to, file.key, from.Read(file.key)->text());
  }
}

}  // namespace smdebug::testing
