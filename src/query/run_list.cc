#include "src/query/run_list.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "smdebug/trial.h"
#include "src/base/text.h"
#include "src/query/export_query.h"
#include "src/query/name_match.h"
#include "src/query/open_run.h"
#include "src/query/rule_results.h"
#include "src/query/run_summary.h"
#include "src/run/survey.h"
#include "src/trial/place.h"

namespace smdebug::query {
namespace {

namespace fs = std::filesystem;

// As StatusName() has them.
constexpr std::string_view kIssuesFound = "IssuesFound";
constexpr std::string_view kError = "Error";

bool NamesALoss(std::string_view name) {
  return base::Lower(name).find("loss") != std::string::npos;
}

std::vector<std::string> LossNames(Trial& trial) {
  std::vector<std::string> names = trial.TensorNames({.collection = "losses"});
  if (!names.empty()) return names;
  names = trial.TensorNames();
  std::erase_if(names, [](const auto& name) { return !NamesALoss(name); });
  return names;
}

// What one number of `tensor` at `step` says; nullopt if none was saved.
std::optional<double> NumberAt(const Tensor& tensor, int64_t step) {
  constexpr Reduction kMean = {ReductionOp::kMean};
  const Tensor::Saved saved = tensor.SavedAt(step);
  if (saved.value) {
    const Value value = tensor.At(step);
    if (value.dtype() == DType::kString) return std::nullopt;
    return IsNumber(value) ? value.Get(0) : value.Reduce(kMean);
  }
  if (std::ranges::find(saved.reductions, kMean) == saved.reductions.end()) {
    return std::nullopt;
  }
  return tensor.ReductionValue(step, kMean);
}

std::optional<LastLoss> FindLastLoss(Trial& trial) {
  std::optional<LastLoss> newest;
  for (const std::string& name : LossNames(trial)) {
    const Tensor tensor = trial.tensor(name);
    const std::vector<int64_t> steps = tensor.Steps();
    if (steps.empty() || (newest && newest->step >= steps.back())) continue;
    try {
      const std::optional<double> value = NumberAt(tensor, steps.back());
      if (value) newest = {name, steps.back(), *value};
    } catch (const Error&) {
      // The trial has noted the damage.
    }
  }
  return newest;
}

void Read(const std::shared_ptr<Storage>& storage, ListedRun& listed) {
  const auto trial = OpenRun(storage);
  listed.info = trial->run_info();
  const std::vector<int64_t> steps =
      trial->Steps(Mode::kGlobal, /*include_incomplete=*/true);
  listed.steps = std::ssize(steps);
  if (!steps.empty()) listed.last_step = steps.back();
  listed.loss = FindLastLoss(*trial);
  const RuleResults rules = ReadRuleResults(*storage, trial->run_id());
  for (const RuleResult& rule : rules.rules) {
    if (rule.status == kIssuesFound) listed.fired.push_back(rule.name);
    // A call that was wrong says nothing about the run.
    if (rule.status == kError && !rule.refused) {
      listed.failed.push_back(rule.name);
    }
  }
  listed.damage = SummarizeRun(*storage).damage;
  for (const Damage& damage : trial->damage()) {
    const auto is_known = [&](const Damage& known) {
      return known.file == damage.file;
    };
    if (std::ranges::none_of(listed.damage, is_known)) {
      listed.damage.push_back(damage);
    }
  }
  std::ranges::copy(rules.damage, std::back_inserter(listed.damage));
}

// nullopt if the folder holds no run.
std::optional<ListedRun> Look(const std::string& path, std::string name) {
  ListedRun listed = {.name = std::move(name), .run = path};
  try {
    const auto storage = trial::OpenPlace(path);
    listed.run = storage->root();
    if (!run::HoldsRun(*storage)) return std::nullopt;
    Read(storage, listed);
  } catch (const Error& error) {
    listed.unread = error.what();
  }
  return listed;
}

Json RunJson(const ListedRun& run) {
  Json json = {{"name", run.name}, {"run", run.run}, {"error", nullptr}};
  if (!run.unread.empty()) {
    json["error"] = run.unread;
    return json;
  }
  json["state"] = RunStateName(run.info.state);
  json["reason"] = run.info.reason;
  json["steps"] = run.steps;
  json["last_step"] = run.last_step < 0 ? Json() : Json(run.last_step);
  json["loss"] = nullptr;
  if (run.loss) {
    json["loss"] = {{"tensor", run.loss->tensor},
                    {"step", run.loss->step},
                    {"value", JsonNumber(run.loss->value)}};
  }
  json["fired"] = run.fired;
  json["failed"] = run.failed;
  json["damage"] = Json::array();
  for (const Damage& damage : run.damage) {
    json["damage"].push_back(
        {{"file", damage.file}, {"reason", damage.reason}});
  }
  return json;
}

}  // namespace

RunList ListRuns(const std::string& folder, std::string_view pattern) {
  RunList list = {.folder = folder};
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code gone;  // Since it was listed.
    if (it->is_directory(gone)) paths.push_back(it->path());
  }
  if (code) {
    throw Error(
        fmt::format("{}: cannot be listed: {}", folder, code.message()));
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    std::string name = path.filename();
    if (!pattern.empty() && !MatchesPattern(name, pattern)) {
      ++list.unmatched;
      continue;
    }
    if (auto run = Look(path, std::move(name))) {
      list.runs.push_back(*std::move(run));
    } else {
      ++list.others;
    }
  }
  return list;
}

Json ToJson(const RunList& list) {
  Json runs = Json::array();
  for (const ListedRun& run : list.runs) runs.push_back(RunJson(run));
  return {{"folder", list.folder},
          {"runs", std::move(runs)},
          {"others", list.others}};
}

}  // namespace smdebug::query
