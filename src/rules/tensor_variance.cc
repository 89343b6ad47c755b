#include <fmt/format.h>

#include "src/rules/parameters.h"
#include "src/rules/registry.h"

namespace smdebug::rules {
namespace {

// When robust, the variance has to stay outside for this many steps.
constexpr int64_t kRobustSteps = 3;

class TensorVariance final : public Rule {
 public:
  explicit TensorVariance(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        most_(parameters.MaybeNumber("max_threshold")),
        least_(parameters.MaybeNumber("min_threshold")),
        steps_needed_(parameters.Bool("robust") ? kRobustSteps : 1) {
    if (selection_.empty()) {
      RefuseRule(parameters,
                 "one of collection_names and tensor_regex is needed");
    }
    if (!most_ && !least_) {
      RefuseRule(parameters,
                 "one of max_threshold and min_threshold is needed");
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (std::string& name : view.Select(selection_)) {
      const auto variance = view.Reduce(name, {ReductionOp::kVariance});
      if (!variance) continue;
      const bool high = most_ && *variance > *most_;
      const bool low = least_ && *variance < *least_;
      int64_t& outside = outside_[name];
      outside = high || low ? outside + 1 : 0;
      if (outside < steps_needed_) continue;
      const double limit = high ? *most_ : *least_;
      findings.push_back(
          {.tensor = std::move(name),
           .value = *variance,
           .threshold = limit,
           .message = fmt::format("the variance is {:.4g}, {} {:.4g}",
                                  *variance, high ? "above" : "below", limit)});
    }
    return findings;
  }

 private:
  const TensorSelection selection_;
  const std::optional<double> most_;
  const std::optional<double> least_;
  const int64_t steps_needed_;
  std::map<std::string, int64_t, std::less<>> outside_;  // In a row.
};

}  // namespace

RuleType TensorVarianceType() {
  using Kind = RuleParameter::Kind;
  return {.name = "TensorVariance",
          .summary = "The variance of a tensor is too high or too low.",
          .parameters = {CollectionNames(),
                         TensorRegex(),
                         {.name = "max_threshold",
                          .kind = Kind::kNumber,
                          .meaning = "Variance above which it is too high.",
                          .least = 0},
                         {.name = "min_threshold",
                          .kind = Kind::kNumber,
                          .meaning = "Variance below which it is too low.",
                          .least = 0},
                         Robust()},
          .make = Make<TensorVariance>};
}

}  // namespace smdebug::rules
