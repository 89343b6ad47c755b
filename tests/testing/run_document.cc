#include "tests/testing/run_document.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "tests/testing/run_answers.h"

namespace smdebug::testing {
namespace {

using nlohmann::json;

json NumberOf(double number) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

json CountsOf(const ValueCounts& counts) {
  return {{"dtype", DTypeName(counts.dtype)},
          {"count", counts.count},
          {"nan", counts.nan},
          {"pos_inf", counts.pos_inf},
          {"neg_inf", counts.neg_inf},
          {"zero", counts.zero}};
}

// Every reduction of smdebug 1.0, saved or computed.
json ComputedOf(const Tensor& tensor, int64_t step, Mode mode,
                const std::string& worker) {
  json computed = json::object();
  for (const ReductionOp op : kReductionOps) {
    if (op == ReductionOp::kMedian) continue;
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      computed[ReductionName(reduction)] = Answer([&] {
        return NumberOf(tensor.ReductionValue(step, reduction, mode, worker));
      });
    }
  }
  return computed;
}

json EntryOf(const Tensor& tensor, int64_t step, Mode mode,
             const std::string& worker, bool computed) {
  json entry;
  entry["value"] =
      Answer([&] { return ValueOf(tensor.At(step, mode, worker)); });
  entry["shape"] =
      Answer([&] { return json(tensor.Shape(step, mode, worker)); });
  entry["reductions"] = Answer([&] {
    json saved = json::object();
    for (const auto& [reduction, number] :
         tensor.ReductionValues(step, mode, worker)) {
      saved[ReductionName(reduction)] = NumberOf(number);
    }
    return saved;
  });
  if (computed && mode == Mode::kGlobal) {
    entry["computed"] = ComputedOf(tensor, step, mode, worker);
  }
  if (const auto counts = tensor.Counts(step, mode, worker)) {
    entry["counts"] = CountsOf(*counts);
  }
  return entry;
}

// Of a trial or of one of its tensors.
template <typename Owner>
json StepsOf(Owner& owner) {
  json steps;
  for (const Mode mode : kModes) {
    const std::vector<int64_t> all = owner.Steps(mode, true);
    if (all.empty() && mode != Mode::kGlobal) continue;
    steps[std::string(ModeName(mode))] = {{"complete", owner.Steps(mode)},
                                          {"all", all}};
  }
  return steps;
}

json TensorOf(const Tensor& tensor, bool computed) {
  json at = json::object();
  for (const Mode mode : kModes) {
    for (const int64_t step : tensor.Steps(mode, true)) {
      json& of_step = at[std::string(ModeName(mode))][std::to_string(step)];
      for (const std::string& worker : tensor.Workers(step, mode)) {
        of_step[worker] = EntryOf(tensor, step, mode, worker, computed);
      }
    }
  }
  return {{"original_name", OrNull(tensor.original_name())},
          {"steps", StepsOf(tensor)},
          {"at", at}};
}

json StampsOf(Trial& trial) {
  json stamps = json::array();
  for (const int64_t step : trial.Steps(Mode::kGlobal, true)) {
    stamps.push_back({step, ModeName(trial.ModeOf(step).value()),
                      trial.ModeStep(step).value()});
  }
  return stamps;
}

// Queries until no query changes anything any more: each can give up waiting
// for some steps of a worker that died.
void Settle(Trial& trial) {
  std::string token;
  do {
    token = trial.last_index_token();
    trial.Steps();
  } while (trial.last_index_token() != token);
}

}  // namespace

TrialOptions OptionsOf(const json& questions) {
  TrialOptions options;
  options.wait_for_run = questions.value("wait_for_run", false);
  options.end_delay = std::chrono::milliseconds(0);
  options.missing_file_retries = 0;
  options.incomplete_window =
      questions.value("window", options.incomplete_window);
  if (questions.contains("begin_step")) {
    options.begin_step = questions["begin_step"];
  }
  if (questions.contains("end_step")) options.end_step = questions["end_step"];
  return options;
}

json DocumentOf(Trial& trial, const json& questions) {
  Settle(trial);
  json document = {{"workers", trial.Workers()},
                   {"num_workers", trial.num_workers()},
                   {"loaded_all_steps", trial.loaded_all_steps()},
                   {"last_complete_step", trial.last_complete_step()},
                   {"last_index_token", trial.last_index_token()},
                   {"steps", StepsOf(trial)},
                   {"stamps", StampsOf(trial)},
                   {"modes", json::array()},
                   {"collections", json::object()},
                   {"tensors", json::object()},
                   {"damage", json::array()}};
  for (const Mode mode : trial.Modes()) {
    document["modes"].push_back(ModeName(mode));
  }
  for (const auto& [name, collection] : trial.Collections()) {
    document["collections"][name] = json::parse(ToJson(collection));
  }
  const bool computed = questions.value("computed", false);
  for (const std::string& name : trial.TensorNames()) {
    document["tensors"][name] = TensorOf(trial.tensor(name), computed);
  }
  document["answers"] = AnswersOf(trial, questions);
  for (const Damage& damage : trial.damage()) {
    document["damage"].push_back({damage.file, damage.reason, damage.tensor});
  }
  return document;
}

json ReadRun(const std::string& path, const json& questions) {
  return Answer([&] {
    const auto trial = Trial::Open(path, OptionsOf(questions));
    return DocumentOf(*trial, questions);
  });
}

}  // namespace smdebug::testing
