#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/core_call.h"
#include "python/src/trial_binding.h"
#include "smdebug/internal/step_judge.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/storage.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

// Name, default and meaning of a parameter and whether it is a list, and name,
// summary and parameters of a rule.
using Parameter =
    std::tuple<std::string, std::optional<std::string>, std::string, bool>;
using Description =
    std::tuple<std::string, std::string, std::vector<Parameter>>;
// Step, mode, tensor, worker, value, threshold, message.
using Found = std::tuple<int64_t, int, std::string, std::string, double, double,
                         std::string>;

std::vector<Description> Descriptions() {
  std::vector<Description> all;
  for (const RuleType& type : BuiltInRules()) {
    std::vector<Parameter> parameters;
    for (const RuleParameter& parameter : type.parameters) {
      parameters.emplace_back(parameter.name, parameter.fallback,
                              parameter.meaning,
                              parameter.kind == RuleParameter::Kind::kList);
    }
    all.emplace_back(type.name, type.summary, std::move(parameters));
  }
  return all;
}

std::unique_ptr<StepJudge> MakeJudge(const OwnTrial& trial,
                                     const std::string& rule,
                                     std::vector<std::string> other_trials) {
  return CallCore([&] {
    return std::make_unique<StepJudge>(
        &*trial, ToEvaluation(ParseRuleSpec(rule)), std::move(other_trials));
  });
}

std::vector<Found> Check(StepJudge& judge, int64_t step) {
  std::vector<Found> all;
  for (const Finding& found : CallCore([&] { return judge.Check(step); })) {
    all.emplace_back(found.step, static_cast<int>(found.mode), found.tensor,
                     found.worker, found.value, found.threshold, found.message);
  }
  return all;
}

std::map<std::string, std::string> Files(StepJudge& judge) {
  std::map<std::string, std::string> files;
  for (RuleFile& file : CallCore([&] { return judge.Files(); })) {
    files[std::move(file.name)] = std::move(file.content);
  }
  return files;
}

std::vector<std::string> CheckRun(const OwnTrial& trial,
                                  const std::vector<std::string>& rules,
                                  InvokeOptions options, bool reports) {
  std::vector<RuleEvaluation> evaluations;
  for (const std::string& rule : rules) {
    evaluations.push_back(ToEvaluation(ParseRuleSpec(rule)));
  }
  MakeNamesUnique(evaluations);
  const RuleSet rule_set(std::move(evaluations), options);
  const std::shared_ptr<Storage> storage = trial->storage();
  options.reports = reports ? storage : nullptr;
  trial->Refresh();
  std::vector<std::string> texts;
  for (const RuleReport& report :
       rule_set.JudgeOnce(*trial, *storage, std::move(options))) {
    texts.push_back(ToJson(report));
  }
  return texts;
}

}  // namespace

void InitRule(nb::module_& m) {
  m.def("built_in_rules", &Descriptions,
        "(name, summary, parameters) of each; a parameter is (name, default, "
        "meaning, whether it is a list).");
  nb::class_<StepJudge>(m, "StepJudge", "A rule that is asked about steps.")
      .def("check", &Check, "step"_a,
           "(step, mode, tensor, worker, value, threshold, message) of each "
           "finding.")
      .def("files", &Files, "Name and content of each.");
  m.def("step_judge", &MakeJudge, "trial"_a, "rule"_a, "other_trials"_a,
        nb::keep_alive<0, 1>());
  m.def(
      "check_run",
      [](const OwnTrial& trial, const std::vector<std::string>& rules,
         int64_t start_step, std::optional<int64_t> end_step,
         std::optional<std::string> worker, bool all_workers,
         std::vector<std::string> other_trials, bool reports,
         std::string python) {
        return CallCore([&] {
          InvokeOptions options;
          options.python = std::move(python);
          options.start_step = start_step;
          options.end_step = end_step;
          options.worker = std::move(worker);
          options.all_workers = all_workers;
          options.other_trials = std::move(other_trials);
          return CheckRun(trial, rules, std::move(options), reports);
        });
      },
      "trial"_a, "rules"_a, "start_step"_a, "end_step"_a.none(),
      "worker"_a.none(), "all_workers"_a, "other_trials"_a, "reports"_a,
      "python"_a, "The report of each rule, as `smdebug check --json` has it.");
}

}  // namespace smdebug::python
