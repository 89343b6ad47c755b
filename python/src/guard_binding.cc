#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/config_binding.h"
#include "python/src/core_call.h"
#include "python/src/tensor_hook.h"
#include "smdebug/guard.h"
#include "smdebug/invoker.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

std::vector<RuleEvaluation> Evaluations(const std::vector<std::string>& rules) {
  std::vector<RuleEvaluation> evaluations;
  evaluations.reserve(rules.size());
  for (const std::string& rule : rules) {
    evaluations.push_back(ToEvaluation(ParseRuleSpec(rule)));
  }
  return evaluations;
}

void CheckRules(const std::vector<std::string>& rules) {
  CallCore([&] { RuleGuard::Validate(Evaluations(rules)); });
}

// The collections that a hook of `settings` is to save for `rules` as well, by
// name; None for one that `settings` has.
std::vector<std::pair<std::string, std::optional<std::string>>> RuleNeeds(
    const nb::dict& settings, const std::vector<std::string>& rules) {
  HookConfig config = ConfigFrom(settings);
  const std::vector<Collection> before = config.collections;
  std::vector<std::pair<std::string, std::optional<std::string>>> needs;
  for (const std::string& name : CallCore(
           [&] { return RuleGuard::AddNeeds(Evaluations(rules), config); })) {
    const bool is_there =
        std::ranges::find(before, name, &Collection::name) != before.end();
    needs.emplace_back(
        name, is_there ? std::nullopt
                       : std::optional(ToJson(EditCollection(config, name))));
  }
  return needs;
}

std::unique_ptr<RuleGuard> MakeGuard(TensorHook& hook,
                                     const std::vector<std::string>& rules,
                                     bool stops_job) {
  return CallCore([&] {
    using enum RuleGuard::WhenFired;
    return std::make_unique<RuleGuard>(hook.core(), Evaluations(rules),
                                       RuleGuard::OnFire(),
                                       stops_job ? kStop : kGoOn);
  });
}

std::vector<std::string> ReportsOf(const RuleGuard& guard) {
  std::vector<std::string> texts;
  for (const RuleReport& report : guard.reports()) {
    texts.push_back(ToJson(report));
  }
  return texts;
}

}  // namespace

void InitGuard(nb::module_& m) {
  m.def("check_rules", &CheckRules, "rules"_a);
  m.def(
      "rule_needs", &RuleNeeds, "settings"_a, "rules"_a,
      "The collections that such a hook is to save for the rules as well, by\n"
      "name, and as JSON unless the settings have them.");
  nb::class_<RuleGuard>(m, "RuleGuard")
      .def_prop_ro("fired_rules", &RuleGuard::fired_rules)
      .def("raise_if_fired", &RuleGuard::ThrowIfFired)
      .def("reports", &ReportsOf);
  m.def("guard", &MakeGuard, "hook"_a, "rules"_a, "stops_job"_a);
}

}  // namespace smdebug::python
