#include "src/query/verify_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "src/base/bytes.h"
#include "src/base/crc32c.h"
#include "src/index/step_index.h"
#include "src/query/run_summary.h"
#include "src/record/record.h"
#include "src/record/tensor_event.h"
#include "src/run/keys.h"
#include "src/steps/step_source.h"
#include "src/storage/beneath.h"

namespace smdebug::query {
namespace {

using index::Location;
using index::StepIndex;
using storage::kLinkInTheWay;

// Where the framing of an event file breaks; nullopt if every byte of it
// belongs to a record.
std::optional<size_t> FindBreak(Bytes file) {
  constexpr size_t kFrame = record::kHeaderBytes + record::kFooterBytes;
  size_t at = 0;
  while (at < file.size()) {
    const size_t left = file.size() - at;
    if (left < kFrame) return at;
    const auto length = base::LoadLittleEndian<uint64_t>(file.data() + at);
    const auto check = base::LoadLittleEndian<uint32_t>(file.data() + at + 8);
    if (base::MaskCrc(base::Crc32c(file.subspan(at, 8))) != check) return at;
    if (length > left - kFrame) return at;
    at += kFrame + length;
  }
  return std::nullopt;
}

// Where the last value ends that the index names.
uint64_t EndOfValues(const StepIndex& index) {
  uint64_t end = 0;
  const auto take = [&](const auto& entries) {
    for (const auto& entry : entries) {
      end = std::max(end, entry.location.start + entry.location.length);
    }
  };
  take(index.scalars);
  take(index.tensors);
  return end;
}

// Whether it is one of a whole folder of the run.
bool IsOfFolder(const Damage& damage) {
  return std::ranges::find(run::kRunPrefixes, damage.file, run::FolderOf) !=
         run::kRunPrefixes.end();
}

// Verifies one run. One thread at a time.
class Verifier {
 public:
  Verifier(const Storage& storage,
           const std::function<void(uint64_t)>& progress)
      : storage_(storage),
        source_(steps::OpenStepSource(&storage)),
        progress_(progress) {}

  VerifyResult Verify() {
    result_.run = storage_.root();
    for (Damage& damage : SummarizeRun(storage_).damage) {
      lacks_steps_ |= damage.kind == DamageKind::kMissingSteps;
      // Steps are looked at more closely below.
      if (damage.kind == DamageKind::kBadCollections ||
          damage.kind == DamageKind::kBadLedger ||
          damage.kind == DamageKind::kBadMarker || IsOfFolder(damage)) {
        if (damage.reason == kLinkInTheWay) linked_.insert(damage.file);
        result_.damage.push_back(std::move(damage));
      }
    }
    // Content first: the index of what is seen now may come while we work, but
    // the content of an index seen later is all there.
    const std::vector<steps::ContentItem> contents = source_->ListContents();
    for (const steps::StepItem& item : source_->List({})) VerifyStep(item);
    for (const steps::ContentItem& item : contents) {
      if (named_.contains(item.name) || !item.worker) continue;
      progress_(item.size);
      const auto index = of_damaged_.find(item.name);
      if (index == of_damaged_.end() && lacks_steps_) {
        result_.unchecked.push_back(
            {item.name, std::string(run::FolderOf(run::kIndexPrefix))});
      } else if (index == of_damaged_.end()) {
        result_.leftovers.push_back(item.name);
      } else {
        result_.unchecked.push_back({item.name, index->second});
      }
    }
    return std::move(result_);
  }

 private:
  void VerifyStep(const steps::StepItem& item) {
    if (item.step < 0) {
      AddDamage(item.name, "is not the name of an index file", {},
                DamageKind::kBadName);
      return;
    }
    progress_(item.size);
    try {
      const auto record = source_->ReadIndex(item);
      if (!record) return;  // Moved aside by another job since it was listed.
      ++result_.index_files;
      if (!record->index.event_file.empty()) VerifyContent(item, *record);
    } catch (const FormatError& error) {
      ++result_.index_files;
      AddDamage(item.name, std::string(error.reason()), {},
                DamageKind::kBadIndex);
      of_damaged_.emplace(source_->NameOf({item.step, item.worker}), item.name);
    }
  }

  void VerifyContent(const steps::StepItem& item,
                     const steps::StepRecord& record) {
    const StepIndex& index = record.index;
    const steps::StepContent content = {item.step, item.worker, record.place};
    const std::string key = source_->NameOf(content);
    const bool first_time = named_.insert(key).second;
    const std::optional<Blob> blob = source_->Read(content, 0, UINT64_MAX);
    if (!blob) {
      const std::string link = storage_.FindLink(key);
      if (!link.empty()) {
        if (linked_.insert(link).second) {
          AddDamage(link, std::string(kLinkInTheWay), {},
                    DamageKind::kMissingContent);
        }
        return;
      }
      AddDamage(key, fmt::format("is missing, but {} names it", item.name), {},
                DamageKind::kMissingContent);
      return;
    }
    const size_t before = result_.damage.size();
    const uint64_t needed = EndOfValues(index);
    std::set<uint64_t> riders;
    for (const auto& entry : index.scalars) {
      riders.insert(entry.location.start);
      VerifyValue(key, blob->bytes, entry.name, needed, entry.location);
    }
    for (const auto& entry : index.tensors) {
      // A rider that stands in both lists is one value.
      if (riders.contains(entry.location.start)) continue;
      VerifyValue(key, blob->bytes, entry.name, needed, entry.location,
                  entry.stored_as);
    }
    if (!first_time) return;
    ++result_.event_files;
    result_.bytes += blob->bytes.size();
    // A damaged value breaks the framing too; once is enough.
    const auto broken =
        before == result_.damage.size() ? FindBreak(blob->bytes) : std::nullopt;
    if (broken) {
      AddDamage(key, fmt::format("what follows byte {} is no record", *broken));
    }
    progress_(blob->bytes.size());
  }

  void VerifyValue(const std::string& key, Bytes file, const std::string& name,
                   uint64_t needed, const Location& location,
                   const std::string& stored_as = {}) {
    ++result_.values;
    if (!location.crc32c) ++result_.without_checksum;
    if (location.start > file.size() ||
        location.length > file.size() - location.start) {
      AddDamage(key,
                fmt::format("is cut short: it ends after {} bytes, its index "
                            "names values up to byte {}",
                            file.size(), needed),
                name, DamageKind::kShortContent);
      return;
    }
    const Bytes record = file.subspan(location.start, location.length);
    constexpr size_t kFrame = record::kHeaderBytes + record::kFooterBytes;
    if (location.crc32c && record.size() >= kFrame) {
      const Bytes payload =
          record.subspan(record::kHeaderBytes, record.size() - kFrame);
      if (base::Crc32c(payload) != *location.crc32c) {
        AddDamage(key, "the checksum is wrong", name, DamageKind::kChecksum);
        return;
      }
    }
    try {
      const auto decoded = record::DecodeTensorRecord(record, key);
      if (decoded.name != (stored_as.empty() ? name : stored_as)) {
        AddDamage(key, fmt::format("holds '{}' in its place", decoded.name),
                  name);
      }
    } catch (const FormatError& error) {
      AddDamage(key, std::string(error.reason()), name);
    }
  }

  void AddDamage(std::string file, std::string reason, std::string tensor = {},
                 DamageKind kind = DamageKind::kBadContent) {
    result_.damage.push_back(
        {std::move(file), std::move(reason), std::move(tensor), kind});
  }

  const Storage& storage_;
  const std::unique_ptr<const steps::StepSource> source_;
  const std::function<void(uint64_t)>& progress_;
  std::set<std::string> named_;   // Event files that an index names.
  std::set<std::string> linked_;  // Symbolic links that were met.
  // Damaged indexes by the event file that goes with each.
  std::map<std::string, std::string> of_damaged_;
  bool lacks_steps_ = false;  // Fewer are there than a ledger counts.
  VerifyResult result_;
};

}  // namespace

uint64_t BytesToVerify(const Storage& storage) {
  const auto source = steps::OpenStepSource(&storage);
  uint64_t bytes = 0;
  for (const auto& item : source->List({})) bytes += item.size;
  for (const auto& item : source->ListContents()) bytes += item.size;
  return bytes;
}

VerifyResult VerifyRun(const Storage& storage,
                       const std::function<void(uint64_t)>& progress) {
  return Verifier(storage, progress).Verify();
}

Json ToJson(const VerifyResult& result) {
  Json damage = Json::array();
  for (const Damage& one : result.damage) {
    damage.push_back(
        {{"file", one.file},
         {"tensor", one.tensor.empty() ? Json() : Json(one.tensor)},
         {"reason", one.reason}});
  }
  Json unchecked = Json::array();
  for (const VerifyResult::Unchecked& one : result.unchecked) {
    unchecked.push_back({{"file", one.file}, {"index", one.index}});
  }
  return {{"run", result.run},
          {"well", result.damage.empty()},
          {"index_files", result.index_files},
          {"event_files", result.event_files},
          {"values", result.values},
          {"bytes", result.bytes},
          {"with_checksum", result.values - result.without_checksum},
          {"without_checksum", result.without_checksum},
          {"unchecked", std::move(unchecked)},
          {"leftovers", result.leftovers},
          {"damage", std::move(damage)}};
}

}  // namespace smdebug::query
