// own_rule <run>: judges a run with a rule of its own.
#include <iostream>
#include <memory>
#include <vector>

#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/rule_parameters.h"

namespace {

using smdebug::Finding;

// Fires where a weight is longer than `limit`.
class LongWeight final : public smdebug::Rule {
 public:
  explicit LongWeight(const smdebug::RuleParameters& parameters)
      : limit_(parameters.Number("limit")) {}

  std::vector<Finding> Check(smdebug::StepView& view) override {
    std::vector<Finding> findings;
    for (const auto& name : view.Select({.collections = {"weights"}})) {
      // The saved reduction, or that of the saved value.
      const auto length = view.Reduce(name, {smdebug::ReductionOp::kL2});
      if (!length || !(*length > limit_)) continue;
      findings.push_back({.tensor = name,
                          .value = *length,
                          .threshold = limit_,
                          .message = "the weight is too long"});
    }
    return findings;
  }

 private:
  const double limit_;
};

const smdebug::RuleType kLongWeight = {
    .name = "LongWeight",
    .summary = "A weight is longer than it should be.",
    .parameters = {{.name = "limit",
                    .kind = smdebug::RuleParameter::Kind::kNumber,
                    .fallback = "100",
                    .meaning = "Length that a weight may have.",
                    .least = 0}},
    .needs = {{"weights"}},
    .make = [](const smdebug::RuleParameters& parameters)
        -> std::unique_ptr<smdebug::Rule> {
      return std::make_unique<LongWeight>(parameters);
    }};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: own_rule <run>\n";
    return 2;
  }
  const auto trial = smdebug::Trial::Open(argv[1]);
  smdebug::Invoker invoker(trial.get(), {});
  invoker.Add({.name = "LongWeight", .spec = {.name = "LongWeight"}},
              kLongWeight);
  invoker.Add(smdebug::ToEvaluation(smdebug::ParseRuleSpec("ExplodingTensor")));
  invoker.Run();
  for (const smdebug::RuleReport& report : invoker.reports()) {
    std::cout << smdebug::ToJson(report) << '\n';
  }
}
