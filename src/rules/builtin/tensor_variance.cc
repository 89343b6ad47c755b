#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// When robust, the variance has to be outside three times in a row.
class TensorVariance final : public Rule {
 public:
  explicit TensorVariance(const RuleParameters& parameters)
      : selection_(parameters.RequiredSelection()),
        most_(parameters.MaybeNumber("max_threshold")),
        least_(parameters.MaybeNumber("min_threshold")),
        steps_needed_(parameters.Bool("robust") ? kRobustStreak : 1) {
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
      has_judged_ = true;
      const bool high = most_ && *variance > *most_;
      const bool low = least_ && *variance < *least_;
      const int64_t outside = outside_.Note(name, high || low);
      if (outside == 0 || outside < steps_needed_) continue;
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

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs numbers in the tensors that it looks at, which "
                         "this run does not save";
  }

 private:
  const TensorSelection selection_;
  const std::optional<double> most_;
  const std::optional<double> least_;
  const int64_t steps_needed_;
  Streaks outside_;
  bool has_judged_ = false;
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
          .meaning =
              "It fires at a step where the variance of a tensor is above or "
              "below a threshold that was given. A saved variance is used as "
              "it is; that of a value is the population's.\n\n"
              "Robust: three times in a row.",
          .make = Make<TensorVariance>};
}

}  // namespace smdebug::rules
