#include "src/query/run_summary.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/index/collections_file.h"
#include "src/index/step_index.h"
#include "src/query/text.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "src/steps/step_source.h"
#include "src/storage/beneath.h"
#include "src/trial/reduction_name.h"

namespace smdebug::query {
namespace {

using storage::kLinkInTheWay;

// The first entry that ends beyond `size`, as a reason; empty if all fit.
std::string FindEntryBeyond(const index::StepIndex& index, uint64_t size) {
  const auto reason = [&](const std::string& name,
                          const index::Location& location) {
    return fmt::format(
        "has {} bytes, but its index says that '{}' ends at byte {}", size,
        name, location.start + location.length);
  };
  for (const index::TensorEntry& entry : index.tensors) {
    if (entry.location.start + entry.location.length > size) {
      return reason(entry.name, entry.location);
    }
  }
  for (const index::ScalarEntry& entry : index.scalars) {
    if (entry.location.start + entry.location.length > size) {
      return reason(entry.name, entry.location);
    }
  }
  return {};
}

// Gathers a RunSummary file by file. One thread at a time.
class Summarizer {
 public:
  explicit Summarizer(const Storage& storage)
      : storage_(storage), source_(steps::OpenStepSource(&storage)) {}

  RunSummary Summarize() {
    FindLinkedFolders();
    if (!run::HoldsRun(storage_)) {
      if (linked_.empty()) {
        throw FormatError(storage_.root(), run::WhyNoRun(storage_));
      }
      throw FormatError(fmt::format("{}/{}", storage_.root(), *linked_.begin()),
                        kLinkInTheWay);
    }
    // The order is that of a writer, backwards: what is seen first implies
    // that what it depends on is there when it is looked for later.
    const run::Survey survey = run::LookAt(storage_);
    summary_.info = survey.info;
    summary_.ended = survey.marker.has_value();
    std::ranges::copy(survey.damage, std::back_inserter(summary_.damage));
    for (const Damage& damage : survey.damage) {
      if (const auto name = run::ParseWorkerFileKey(damage.file)) Worker(*name);
    }
    for (const run::Ledger& ledger : survey.ledgers) {
      WorkerSummary& worker = Worker(ledger.worker);
      worker.ledger = ledger;
      worker.gone = !ledger.closed && !run::IsAlive(ledger);
    }
    ReadCollections();
    const std::vector<steps::StepItem> items = source_->List({});
    ReadContentSizes();
    for (const steps::StepItem& item : items) ReadStep(item);
    FindLinkedFiles();
    CheckLedgers(survey);
    CheckCollections(survey);
    summary_.steps = static_cast<int64_t>(steps_.size());
    summary_.tensors = static_cast<int64_t>(names_.size());
    for (auto& [name, worker] : workers_) {
      summary_.workers.push_back(std::move(worker));
    }
    return std::move(summary_);
  }

 private:
  WorkerSummary& Worker(const std::string& name) {
    WorkerSummary& worker = workers_[name];
    worker.worker = name;
    return worker;
  }

  // Of those that are looked into here.
  void FindLinkedFolders() {
    for (const auto& [prefix, kind] :
         {std::pair{run::kIndexPrefix, DamageKind::kBadIndex},
          {run::kEventsPrefix, DamageKind::kMissingContent},
          {run::kCollectionsPrefix, DamageKind::kBadCollections},
          {run::kLedgerPrefix, DamageKind::kBadLedger}}) {
      AddLink(storage_.FindLink(run::FolderOf(prefix)), kind);
    }
  }

  // Nobody lists a link, so those in place of files are looked for by name.
  void FindLinkedFiles() {
    AddLink(storage_.FindLink(run::kClaimKey), DamageKind::kBadMarker);
    AddLink(storage_.FindLink(run::kEndMarkerKey), DamageKind::kBadMarker);
    for (const auto& [name, worker] : workers_) {
      AddLink(storage_.FindLink(run::LedgerKey(name)), DamageKind::kBadLedger);
      AddLink(storage_.FindLink(run::CollectionsFileKey(name)),
              DamageKind::kBadCollections);
    }
  }

  // Notes a link, if it is one, the first time that it is met; tells whether it
  // is one.
  bool AddLink(const std::string& link, DamageKind kind) {
    if (link.empty()) return false;
    if (linked_.insert(link).second) {
      AddDamage(link, std::string(kLinkInTheWay), kind);
    }
    return true;
  }

  // A ledger is written after the steps that it counts, and was read before
  // they were listed.
  void CheckLedgers(const run::Survey& survey) {
    const std::string folder(run::FolderOf(run::kIndexPrefix));
    if (linked_.contains(folder)) return;
    for (const auto& [name, worker] : workers_) {
      if (!worker.ledger) {
        CheckLedger(survey, name);
        continue;
      }
      std::string missing =
          run::MissingSteps(survey, *worker.ledger, indexed_[name]);
      if (missing.empty()) continue;
      // Another job may be setting the run aside.
      if (run::IdentityOf(storage_) != survey.id) return;
      AddDamage(folder, std::move(missing), DamageKind::kMissingSteps);
    }
  }

  // One that is missing; those that are damaged are noted.
  void CheckLedger(const run::Survey& survey, const std::string& name) {
    if (linked_.contains(std::string(run::FolderOf(run::kLedgerPrefix))))
      return;
    const bool keeps = run::KeepsLedgers(survey) || has_checksums_;
    if (!keeps || !indexed_.contains(name)) return;
    std::optional<Damage> damage = run::LedgerDamage(survey, name);
    constexpr auto kKind = DamageKind::kBadLedger;
    if (!damage || std::ranges::find(summary_.damage, damage->file,
                                     &Damage::file) != summary_.damage.end()) {
      return;
    }
    // Another job may be setting the run aside.
    if (run::IdentityOf(storage_) != survey.id) return;
    AddDamage(std::move(damage->file), std::move(damage->reason), kKind);
  }

  // A worker that was killed may have had no time to write its collections.
  void CheckCollections(const run::Survey& survey) {
    for (const auto& [name, worker] : workers_) {
      const bool has_saved =
          indexed_.contains(name) ||
          (worker.ledger && worker.ledger->stats.steps_saved > 0);
      if (!has_saved || declared_.contains(name)) continue;
      if (!run::HasLeft(survey, name)) continue;
      std::string key = run::CollectionsFileKey(name);
      constexpr auto kKind = DamageKind::kBadCollections;
      if (AddLink(storage_.FindLink(key), kKind)) continue;
      // Another job may be setting the run aside.
      if (run::IdentityOf(storage_) != survey.id) return;
      AddDamage(std::move(key),
                fmt::format("is missing, but {} has saved steps", name), kKind);
    }
  }

  // Calls `parse`, and notes a FormatError as damage of `name`.
  template <typename Parse>
  void Check(const std::string& name, DamageKind kind, Parse parse) {
    try {
      parse();
    } catch (const FormatError& error) {
      std::string_view reason = error.what();
      // Damage has the file beside the reason; once is enough.
      if (reason.starts_with(name + ": ")) {
        reason.remove_prefix(name.size() + 2);
      }
      AddDamage(name, std::string(reason), kind);
    }
  }

  // The same with the text of a file. One that is gone by now was moved aside
  // by another job.
  template <typename Parse>
  void ReadChecked(const std::string& key, DamageKind kind, Parse parse) {
    const std::optional<Blob> blob = storage_.Read(key);
    if (blob) Check(key, kind, [&] { parse(blob->text()); });
  }

  void AddDamage(std::string name, std::string reason, DamageKind kind) {
    summary_.damage.push_back(
        {.file = std::move(name), .reason = std::move(reason), .kind = kind});
  }

  void ReadCollections() {
    for (const FileInfo& file : storage_.List(run::kCollectionsPrefix)) {
      const auto name = run::ParseWorkerFileKey(file.key);
      if (!name) continue;
      Worker(*name);
      declared_.insert(*name);
      constexpr auto kKind = DamageKind::kBadCollections;
      ReadChecked(file.key, kKind, [&](std::string_view text) {
        const index::CollectionsFile content =
            index::ParseCollectionsFile(text, file.key);
        // The first file that says decides, as in smdebug 1.0.
        if (summary_.num_workers == 0) {
          summary_.num_workers = content.num_workers.value_or(0);
        }
      });
    }
  }

  void ReadContentSizes() {
    for (steps::ContentItem& item : source_->ListContents()) {
      if (item.worker)
        Worker(run::EncodeWorker(*item.worker)).bytes += item.size;
      content_sizes_.emplace(std::move(item.name), item.size);
    }
  }

  void ReadStep(const steps::StepItem& item) {
    if (item.step < 0) {
      AddDamage(item.name, "is not the name of an index file",
                DamageKind::kBadName);
      return;
    }
    ++indexed_[run::EncodeWorker(item.worker)];
    Check(item.name, DamageKind::kBadIndex, [&] {
      const std::optional<steps::StepRecord> record = source_->ReadIndex(item);
      if (!record) return;
      AddStep(item, record->index);
      CheckContent(item, *record);
    });
  }

  void AddStep(const steps::StepItem& item, const index::StepIndex& index) {
    WorkerSummary& worker = Worker(run::EncodeWorker(item.worker));
    ++worker.steps;
    worker.values += index::CountValues(index);
    worker.scalars += index::CountScalars(index);
    const auto take = [&](const auto& entry) {
      AddName(entry.name);
      has_checksums_ |= entry.location.crc32c.has_value();
    };
    std::ranges::for_each(index.tensors, take);
    std::ranges::for_each(index.scalars, take);
    for (const auto& entry : index.shapes) AddName(entry.name);
    if (worker.first_step < 0 || item.step < worker.first_step) {
      worker.first_step = item.step;
    }
    worker.last_step = std::max(worker.last_step, item.step);
    steps_.insert(item.step);
  }

  void AddName(std::string_view name) {
    if (const auto reduction = trial::SplitReductionName(name)) {
      name = reduction->tensor;
    }
    if (!names_.contains(name)) names_.emplace(name);
  }

  void CheckContent(const steps::StepItem& item,
                    const steps::StepRecord& record) {
    if (record.index.event_file.empty()) return;
    std::string name = source_->NameOf({item.step, item.worker, record.place});
    const auto size = content_sizes_.find(name);
    if (size == content_sizes_.end()) {
      constexpr auto kKind = DamageKind::kMissingContent;
      if (AddLink(storage_.FindLink(name), kKind)) return;
      AddDamage(std::move(name),
                fmt::format("is missing, but {} names it", item.name), kKind);
      return;
    }
    std::string reason = FindEntryBeyond(record.index, size->second);
    if (!reason.empty()) {
      AddDamage(std::move(name), std::move(reason), DamageKind::kShortContent);
    }
  }

  const Storage& storage_;
  const std::unique_ptr<const steps::StepSource> source_;
  RunSummary summary_;
  std::map<std::string, WorkerSummary> workers_;
  std::set<int64_t> steps_;
  std::set<std::string, std::less<>> names_;  // Of tensors.
  std::map<std::string, int64_t> indexed_;    // By worker, those damaged too.
  std::set<std::string> declared_;  // Workers that have a collections file.
  std::set<std::string> linked_;    // Symbolic links that were met.
  bool has_checksums_ = false;      // Of any value: smdebug 1.0 writes none.
  std::unordered_map<std::string, uint64_t> content_sizes_;
};

}  // namespace

HookStats WorkerSummary::stats() const {
  HookStats stats = ledger ? ledger->stats : HookStats{};
  stats.scalars_saved = std::max(stats.scalars_saved, scalars);
  return stats;
}

RunSummary SummarizeRun(const Storage& storage) {
  return Summarizer(storage).Summarize();
}

}  // namespace smdebug::query
