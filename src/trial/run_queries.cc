// The queries of Reader about the run as a whole.

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/index/step_index.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "src/trial/reader.h"

namespace smdebug::trial {
namespace {

bool HasMode(uint8_t modes, Mode mode) {
  return (modes >> ModeIndex(mode) & 1) != 0;
}

}  // namespace

std::vector<std::string> Reader::TensorNames(const TensorFilter& filter) {
  if (!filter.regexes.empty() && filter.collection) {
    throw ConfigError("tensor_names", *filter.collection,
                      "either a regex or a collection, not both");
  }
  const SnapshotPtr known = MaybeRefresh();
  const Catalog& catalog = known->catalog();
  std::vector<TensorId> candidates;
  if (filter.collection) {
    const auto& collections = known->collections->collections();
    const auto it = collections.find(*filter.collection);
    if (it != collections.end()) {
      candidates = known->collections->members().Of(it->second, catalog);
    }
  } else if (!filter.regexes.empty()) {
    candidates = patterns_.Matching(filter.regexes, catalog);
  } else {
    candidates.resize(catalog.tensor_count());
    for (TensorId id = 0; id < candidates.size(); ++id) candidates[id] = id;
  }
  std::vector<std::string> names;
  for (const TensorId id : candidates) {
    const TensorRow& row = catalog.tensor(id);
    const bool wanted =
        filter.step
            ? !known->EntriesAt(id, *filter.step, filter.mode).empty()
            : filter.mode == Mode::kGlobal || HasMode(row.modes, filter.mode);
    if (wanted) names.push_back(*row.name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<Reader::TensorId> Reader::Find(std::string_view tensor) {
  const auto find = [&](const Catalog& catalog) {
    const auto id = catalog.Find(tensor);
    return id ? id
              : catalog.Find(fmt::format("{}{}", index::kScalarPrefix, tensor));
  };
  if (const auto id = Known()->catalog().Find(tensor)) return id;
  return find(MaybeRefresh()->catalog());
}

const std::string& Reader::NameOf(TensorId id) const {
  return *Known()->catalog().tensor(id).name;
}

std::vector<int64_t> Reader::Steps(Mode mode, bool include_incomplete) {
  const SnapshotPtr known = MaybeRefresh();
  std::vector<int64_t> steps;
  for (const auto& [number, row] : known->catalog().StepsOf(mode)) {
    if (include_incomplete || known->IsComplete(*row)) steps.push_back(number);
  }
  return steps;
}

std::vector<Damage> Reader::LedgerDamage(const run::Survey& survey,
                                         WorkerName worker) const {
  const SnapshotPtr known = Known();
  const Catalog& catalog = known->catalog();
  std::vector<Damage> all;
  if (!run::KeepsLedgers(survey) && !catalog.has_checksums()) return all;
  for (uint32_t i = 0; i < catalog.num_workers(); ++i) {
    if (worker && catalog.worker(i) != *worker) continue;
    auto damage =
        run::LedgerDamage(survey, run::EncodeWorker(catalog.worker(i)));
    if (damage) all.push_back(*std::move(damage));
  }
  return all;
}

std::vector<Mode> Reader::Modes() const {
  const SnapshotPtr known = Known();
  std::vector<Mode> modes;
  std::ranges::copy_if(kModes, std::back_inserter(modes), [&](Mode mode) {
    return mode != Mode::kGlobal && HasMode(known->catalog().modes(), mode);
  });
  return modes;
}

SnapshotPtr Reader::KnowingStep(int64_t global_step) {
  SnapshotPtr known = Known();
  return known->catalog().FindStep(global_step) != nullptr ? known
                                                           : MaybeRefresh();
}

std::optional<Mode> Reader::ModeOf(int64_t global_step) {
  const SnapshotPtr known = KnowingStep(global_step);
  const StepRow* row = known->catalog().FindStep(global_step);
  return row == nullptr ? std::nullopt : std::optional(row->mode);
}

std::optional<int64_t> Reader::ModeStep(int64_t global_step) {
  const SnapshotPtr known = KnowingStep(global_step);
  const StepRow* row = known->catalog().FindStep(global_step);
  if (row == nullptr) return std::nullopt;
  return row->mode == Mode::kGlobal ? row->step : row->mode_step;
}

std::optional<int64_t> Reader::GlobalStep(Mode mode, int64_t mode_step) {
  if (mode == Mode::kGlobal) return mode_step;
  const auto step = Known()->catalog().GlobalStep(mode, mode_step);
  return step ? step : MaybeRefresh()->catalog().GlobalStep(mode, mode_step);
}

std::vector<std::string> Reader::Workers() {
  const auto collections = MaybeRefresh()->collections;
  return {collections->workers().begin(), collections->workers().end()};
}

int64_t Reader::num_workers() const {
  return Known()->collections->num_workers();
}

std::map<std::string, Collection, std::less<>> Reader::Collections() const {
  return Known()->collections->collections();
}

std::optional<Collection> Reader::FindCollection(std::string_view name) const {
  const auto files = Known()->collections;
  const auto it = files->collections().find(name);
  if (it == files->collections().end()) return std::nullopt;
  return it->second;
}

}  // namespace smdebug::trial
