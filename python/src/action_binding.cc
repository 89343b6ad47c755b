#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/core_call.h"
#include "smdebug/action.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using Seconds = std::optional<double>;
using Spec = std::tuple<std::string, std::string, std::string>;
using Outcome = std::tuple<std::string, std::string, std::string, std::string>;

void SetTime(Seconds seconds, std::chrono::milliseconds& time) {
  if (!seconds) return;
  time = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(*seconds));
}

void Init(ActionSet* set, std::optional<bool> dry_run, Seconds interval,
          Seconds grace, Seconds timeout, Seconds exec_timeout,
          std::optional<int> attempts, Seconds backoff) {
  ActionOptions options = ActionOptions::FromEnvironment();
  options.dry_run = dry_run.value_or(options.dry_run);
  options.attempts = attempts.value_or(options.attempts);
  SetTime(interval, options.interval);
  SetTime(grace, options.grace);
  SetTime(timeout, options.timeout);
  SetTime(exec_timeout, options.exec_timeout);
  SetTime(backoff, options.backoff);
  new (set) ActionSet(options);
}

std::vector<Spec> AddJson(ActionSet& set, const std::string& json,
                          const std::string& rule) {
  std::vector<Spec> added;
  for (const ActionSpec& spec :
       CallCore([&] { return set.AddJson(json, rule); })) {
    added.emplace_back(spec.kind, spec.target, spec.job_prefix);
  }
  return added;
}

std::vector<Outcome> Fire(ActionSet& set, const std::string& rule,
                          const std::string& run, std::optional<int64_t> step,
                          const std::string& message,
                          std::optional<std::string> run_id) {
  const Firing firing{.rule = rule,
                      .run = run,
                      .run_id = std::move(run_id),
                      .step = step,
                      .message = message};
  std::vector<Outcome> outcomes;
  for (const ActionOutcome& outcome :
       CallCore([&] { return set.Fire(firing); })) {
    outcomes.emplace_back(outcome.kind, outcome.target,
                          ResultName(outcome.result), outcome.detail);
  }
  return outcomes;
}

}  // namespace

void InitAction(nb::module_& m) {
  nb::class_<ActionSet>(m, "ActionSet", "What is done when rules fire.")
      .def("__init__", &Init, nb::kw_only(), "dry_run"_a = nb::none(),
           "interval"_a = nb::none(), "grace"_a = nb::none(),
           "timeout"_a = nb::none(), "exec_timeout"_a = nb::none(),
           "attempts"_a = nb::none(), "backoff"_a = nb::none(),
           "Times are in seconds; what is None is as the environment says.")
      .def(
          "add",
          [](ActionSet& set, const std::string& text) {
            CallCore([&] { set.Add(ParseAction(text)); });
          },
          "text"_a, "Adds one, such as stop:123 or email:name@domain.com.")
      .def("add_json", &AddJson, "json"_a, "rule"_a,
           "Adds those of an action_json, and logs what is wrong with it. "
           "Returns (kind, target, prefix of the job) of each that was added.")
      .def("fire", &Fire, "rule"_a, "run"_a, "step"_a.none(), "message"_a,
           "run_id"_a = nb::none(),
           "Does them; (kind, target, result, detail) of each. `run_id` is the "
           "identity of the run; None: of the one that is there.")
      .def(
          "counts",
          [](const ActionSet& set) {
            const ActionCounts counts = set.counts();
            return std::tuple(counts.done, counts.failed, counts.dry_runs,
                              counts.suppressed);
          },
          "How many were done, failed, dry runs and suppressed.");
}

}  // namespace smdebug::python
