// The input is a file of rule configurations, and one rule as a user writes it
// on a command line.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "tests/fuzz/property.h"

namespace smdebug::fuzz {
namespace {

void CheckEvaluations(std::vector<RuleEvaluation> evaluations) {
  for (const RuleEvaluation& evaluation : evaluations) {
    Require(evaluation.start_step.value_or(0) >= 0 &&
                evaluation.end_step.value_or(0) >= 0,
            "no step is negative");
    Require(!evaluation.spec.file.empty() ||
                FindRule(evaluation.spec.name) != nullptr,
            "a rule is built in, or of a file");
    try {
      MakeRule(evaluation.spec);
    } catch (const ConfigError&) {
    } catch (const InsufficientInformation&) {
    }
  }
  MakeNamesUnique(evaluations);
  std::set<std::string> names;
  for (const RuleEvaluation& evaluation : evaluations) {
    Require(names.insert(evaluation.name).second, "each has its own name");
  }
}

void CheckConfigurations(std::string_view text) {
  try {
    CheckEvaluations(ParseRuleConfigurations(text, "file"));
  } catch (const ConfigError&) {
  } catch (const ConfigFileError&) {
  }
}

bool Same(const RuleSpec& a, const RuleSpec& b) {
  return a.name == b.name && a.parameters == b.parameters && a.file == b.file &&
         (a.commas_separate == b.commas_separate || a.parameters.empty());
}

std::optional<RuleSpec> ParseSpec(std::string_view text) {
  try {
    return ParseRuleSpec(text);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

void CheckSpec(std::string_view text) {
  const auto spec = ParseSpec(text);
  if (!spec) return;
  const auto again = ParseSpec(Describe(*spec));
  Require(again && Same(*spec, *again),
          "a rule that was described is the same");
  try {
    const RuleEvaluation evaluation = ToEvaluation(*spec);
    CheckEvaluations({evaluation, evaluation});
  } catch (const ConfigError&) {
  }
}

}  // namespace
}  // namespace smdebug::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  smdebug::fuzz::CheckConfigurations(text);
  smdebug::fuzz::CheckSpec(text);
  return 0;
}
