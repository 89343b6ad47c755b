#include <memory>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
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
  nb::class_<RuleGuard>(m, "RuleGuard")
      .def_prop_ro("fired_rules", &RuleGuard::fired_rules)
      .def("raise_if_fired", &RuleGuard::ThrowIfFired)
      .def("reports", &ReportsOf);
  m.def("guard", &MakeGuard, "hook"_a, "rules"_a, "stops_job"_a);
}

}  // namespace smdebug::python
