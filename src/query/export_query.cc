#include "src/query/export_query.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/query/name_match.h"
#include "src/trial/step_sweep.h"

namespace smdebug::query {

bool ExportEntry::Gives(Reduction reduction) const {
  return saved.value || std::ranges::find(saved.reductions, reduction) !=
                            saved.reductions.end();
}

std::string ExportEntry::NameOf(Reduction reduction) const {
  return fmt::format("{}:{}", tensor(), ReductionName(reduction));
}

bool IsNumber(const Value& value) {
  return value.size() == 1 && value.dtype() != DType::kString;
}

std::vector<trial::Reader::TensorId> ChooseTensors(Trial& trial,
                                                   const ExportQuery& query) {
  std::vector<std::string> names =
      trial.TensorNames({.step = query.step, .mode = query.mode});
  if (query.tensors) {
    std::set<std::string> wanted;
    for (const std::string& name : *query.tensors) {
      if (trial.HasTensor(name)) wanted.insert(trial.tensor(name).name());
    }
    std::erase_if(
        names, [&](const std::string& name) { return !wanted.contains(name); });
  }
  std::vector<trial::Reader::TensorId> tensors;
  for (const std::string& name :
       KeepMatching(std::move(names), query.regexes)) {
    tensors.push_back(*trial.reader().Find(name));
  }
  return tensors;
}

void ForEachEntry(Trial& trial, const ExportQuery& query,
                  const std::function<bool(const ExportEntry&)>& visit) {
  trial::Reader& reader = trial.reader();
  trial::StepSweep sweep(&reader, ChooseTensors(trial, query));
  for (const auto& [step, mode, mode_step] : sweep.Steps(query.mode)) {
    const int64_t number = query.mode == Mode::kGlobal ? step : mode_step;
    if (query.step && number != *query.step) continue;
    for (const trial::Found& found : sweep.MoveTo(step, Mode::kGlobal)) {
      if (query.worker && found.worker() != *query.worker) continue;
      if (!visit({{reader, found}, {step, mode, mode_step}, found.Saved()})) {
        return;
      }
    }
  }
}

void ForEachWholeEntry(Trial& trial, const ExportQuery& query,
                       const std::function<bool(const ExportEntry&)>& visit) {
  ForEachEntry(trial, query, [&](const ExportEntry& entry) {
    try {
      return visit(entry);
    } catch (const FormatError&) {
      return true;  // The trial has noted the damage.
    } catch (const TensorUnavailableForStep&) {
      return true;  // The file is missing, which is noted likewise.
    }
  });
}

}  // namespace smdebug::query
