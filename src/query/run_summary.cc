#include "src/query/run_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/index/collections_file.h"
#include "src/index/run_files.h"
#include "src/index/step_index.h"

namespace smdebug::query {
namespace {

using index::CollectionsFile;
using index::Location;
using index::ParseStepFileKey;
using index::ParseWorkerFileKey;
using index::ScalarEntry;
using index::StepFile;
using index::StepIndex;
using index::TensorEntry;

// The first entry that ends beyond `size`, as a reason; empty if all fit.
std::string FindEntryBeyond(const StepIndex& index, uint64_t size) {
  const auto reason = [&](const std::string& name, const Location& location) {
    return fmt::format(
        "has {} bytes, but its index says that '{}' ends at byte {}", size,
        name, location.start + location.length);
  };
  for (const TensorEntry& entry : index.tensors) {
    if (entry.location.start + entry.location.length > size) {
      return reason(entry.name, entry.location);
    }
  }
  for (const ScalarEntry& entry : index.scalars) {
    if (entry.location.start + entry.location.length > size) {
      return reason(entry.name, entry.location);
    }
  }
  return {};
}

// Gathers a RunSummary file by file. One thread at a time.
class Summarizer {
 public:
  explicit Summarizer(const Storage& storage) : storage_(storage) {}

  RunSummary Summarize() {
    if (!index::HoldsRun(storage_)) {
      throw FormatError(storage_.root(),
                        "holds no run: it has no collections, index, events "
                        "or ledger files and no end marker");
    }
    // The order is that of a writer, backwards: what is seen first implies
    // that what it depends on is there when it is looked for later.
    summary_.ended = storage_.Stat(index::kEndMarkerKey).has_value();
    ReadLedgers();
    ReadCollections();
    const std::vector<FileInfo> index_files = storage_.List("index/");
    ReadEventSizes();
    for (const FileInfo& file : index_files) ReadIndex(file.key);
    summary_.steps = static_cast<int64_t>(steps_.size());
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

  // Calls `parse` with the text of `key`, and notes a FormatError as damage.
  // A file that is gone by now was moved aside by another job.
  template <typename Parse>
  void ReadChecked(const std::string& key, Parse parse) {
    const std::optional<Blob> blob = storage_.Read(key);
    if (!blob) return;
    try {
      parse(blob->text());
    } catch (const FormatError& error) {
      std::string_view reason = error.what();
      // Damage has the file beside the reason; once is enough.
      if (reason.starts_with(key + ": ")) reason.remove_prefix(key.size() + 2);
      summary_.damage.push_back({key, std::string(reason)});
    }
  }

  void ReadLedgers() {
    for (const FileInfo& file : storage_.List("ledger/")) {
      const auto name = ParseWorkerFileKey(file.key);
      if (!name) continue;
      WorkerSummary& worker = Worker(*name);
      ReadChecked(file.key, [&](std::string_view text) {
        worker.ledger = index::ParseLedger(text, file.key);
      });
    }
  }

  void ReadCollections() {
    for (const FileInfo& file : storage_.List("collections/")) {
      const auto name = ParseWorkerFileKey(file.key);
      if (!name) continue;
      Worker(*name);
      ReadChecked(file.key, [&](std::string_view text) {
        const CollectionsFile content =
            index::ParseCollectionsFile(text, file.key);
        // The first file that says decides, as in smdebug 1.0.
        if (summary_.num_workers == 0) {
          summary_.num_workers = content.num_workers.value_or(0);
        }
      });
    }
  }

  void ReadEventSizes() {
    for (FileInfo& file : storage_.List("events/")) {
      if (const auto step_file = ParseStepFileKey(file.key)) {
        Worker(step_file->worker).bytes += file.size;
      }
      event_sizes_.emplace(std::move(file.key), file.size);
    }
  }

  void ReadIndex(const std::string& key) {
    const auto file = ParseStepFileKey(key);
    if (!file) {
      if (key.ends_with(".json")) {
        summary_.damage.push_back({key, "is not the name of an index file"});
      }
      return;
    }
    ReadChecked(key, [&](std::string_view text) {
      const StepIndex index = index::ParseStepIndex(text, key);
      AddStep(*file, index);
      CheckEventFile(key, index);
    });
  }

  void AddStep(const StepFile& file, const StepIndex& index) {
    WorkerSummary& worker = Worker(file.worker);
    ++worker.steps;
    worker.tensors += static_cast<int64_t>(index.tensors.size());
    if (worker.first_step < 0 || file.step < worker.first_step) {
      worker.first_step = file.step;
    }
    worker.last_step = std::max(worker.last_step, file.step);
    steps_.insert(file.step);
  }

  void CheckEventFile(const std::string& key, const StepIndex& index) {
    if (index.event_file.empty()) return;
    const auto size = event_sizes_.find(index.event_file);
    if (size == event_sizes_.end()) {
      summary_.damage.push_back(
          {index.event_file, fmt::format("is missing, but {} names it", key)});
      return;
    }
    std::string reason = FindEntryBeyond(index, size->second);
    if (!reason.empty()) {
      summary_.damage.push_back({index.event_file, std::move(reason)});
    }
  }

  const Storage& storage_;
  RunSummary summary_;
  std::map<std::string, WorkerSummary> workers_;
  std::set<int64_t> steps_;
  std::unordered_map<std::string, uint64_t> event_sizes_;
};

}  // namespace

RunSummary SummarizeRun(const Storage& storage) {
  return Summarizer(storage).Summarize();
}

}  // namespace smdebug::query
