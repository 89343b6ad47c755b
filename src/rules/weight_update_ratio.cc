#include <cmath>

#include <fmt/format.h>

#include "src/rules/elements.h"
#include "src/rules/parameters.h"
#include "src/rules/registry.h"
#include "src/rules/training_steps.h"

namespace smdebug::rules {
namespace {

// When robust, the ratio has to stay outside for this many steps.
constexpr int64_t kRobustSteps = 3;

double Norm(const Value& value) { return value.Reduce({ReductionOp::kL2}); }

// The length of b - a; NaN if they are not of one shape.
double Distance(const Value& a, const Value& b) {
  if (a.size() != b.size()) return std::nan("");
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double difference = b.Get(i) - a.Get(i);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

class WeightUpdateRatio final : public Rule {
 public:
  explicit WeightUpdateRatio(const RuleParameters& parameters)
      : num_steps_(parameters.Has("num_steps")
                       ? std::optional(parameters.Whole("num_steps"))
                       : std::nullopt),
        large_(parameters.Number("large_threshold")),
        small_(parameters.Number("small_threshold")),
        epsilon_(parameters.Number("epsilon")),
        steps_needed_(parameters.Bool("robust") ? kRobustSteps : 1) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    if (!IsTrainingStep(view.mode())) return findings;
    for (std::string& name : view.Select({.collections = {"weights"}})) {
      const auto ratio = Ratio(view, name);
      if (!ratio) continue;
      const bool large = *ratio > large_;
      const bool small = *ratio < small_;
      int64_t& outside = outside_[name];
      outside = large || small ? outside + 1 : 0;
      if (outside < steps_needed_) continue;
      const double limit = large ? large_ : small_;
      findings.push_back(
          {.tensor = std::move(name),
           .value = *ratio,
           .threshold = limit,
           .message = fmt::format("the update is {:.3g} of the weight, {} "
                                  "{:.3g}",
                                  *ratio, large ? "above" : "below", limit)});
    }
    return findings;
  }

 private:
  std::optional<double> Ratio(StepView& view, const std::string& name) const {
    const auto before = Earlier(view, name);
    if (!before) return std::nullopt;
    const auto now = view.At(name);
    const auto past = view.ValueAt(name, before->step);
    if (!now || !past) return std::nullopt;
    const double norm = Norm(*past);
    if (norm == 0) return std::nullopt;  // The ratio has no meaning.
    return Distance(*past, *now) / (norm + epsilon_);
  }

  // The step to compare with: the one before, or the oldest within num_steps.
  std::optional<StepPlace> Earlier(StepView& view,
                                   const std::string& name) const {
    std::optional<StepPlace> found;
    for (const StepPlace& place : TrainingSteps(view, name)) {
      if (place.step >= view.step() || place.mode != view.mode()) continue;
      if (!num_steps_) {
        found = place;
      } else if (place.mode_step >= view.place().mode_step - *num_steps_) {
        return place;
      }
    }
    return found;
  }

  const std::optional<int64_t> num_steps_;
  const double large_;
  const double small_;
  const double epsilon_;
  const int64_t steps_needed_;
  std::map<std::string, int64_t, std::less<>> outside_;  // In a row.
};

}  // namespace

RuleType WeightUpdateRatioType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "WeightUpdateRatio",
      .summary = "Weights change too much or too little.",
      .parameters = {{.name = "num_steps",
                      .kind = Kind::kWhole,
                      .meaning = "Compare with the oldest step saved within "
                                 "so many; the step before if unset.",
                      .least = 1},
                     {.name = "large_threshold",
                      .kind = Kind::kNumber,
                      .fallback = "10",
                      .meaning = "Ratio above which it is too much.",
                      .least = 0},
                     {.name = "small_threshold",
                      .kind = Kind::kNumber,
                      .fallback = "0.00000001",
                      .meaning = "Ratio below which it is too little.",
                      .least = 0},
                     {.name = "epsilon",
                      .kind = Kind::kNumber,
                      .fallback = "0.000000001",
                      .meaning = "Added to the weight's norm.",
                      .least = 0},
                     Robust()},
      .needs = {{"weights", {{"save_interval", "500"}}}},
      .make = Make<WeightUpdateRatio>};
}

}  // namespace smdebug::rules
