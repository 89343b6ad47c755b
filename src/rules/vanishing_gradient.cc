#include <fmt/format.h>

#include "src/rules/parameters.h"
#include "src/rules/registry.h"

namespace smdebug::rules {
namespace {

using Kind = RuleParameter::Kind;

// How many gradients in a row have to be that small, when robust.
constexpr int64_t kRobustSteps = 3;

class VanishingGradient final : public Rule {
 public:
  explicit VanishingGradient(const RuleParameters& parameters)
      : threshold_(parameters.Number("threshold")),
        steps_needed_(parameters.Bool("robust") ? kRobustSteps : 1) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (std::string& name : view.Select({.collections = {"gradients"}})) {
      const auto mean = view.Reduce(name, {ReductionOp::kMean, /*abs=*/true});
      if (!mean) continue;
      int64_t& small = small_[name];
      small = *mean < threshold_ ? small + 1 : 0;
      if (small < steps_needed_) continue;
      findings.push_back(
          {.tensor = std::move(name),
           .value = *mean,
           .threshold = threshold_,
           .message = fmt::format(
               "the gradient has vanished: its mean magnitude is {:.3g}, below "
               "{:.3g}",
               *mean, threshold_)});
    }
    return findings;
  }

 private:
  const double threshold_;
  const int64_t steps_needed_;
  std::map<std::string, int64_t, std::less<>> small_;  // In a row, by tensor.
};

}  // namespace

RuleType VanishingGradientType() {
  return {.name = "VanishingGradient",
          .summary = "A gradient has become too small to train with.",
          .parameters = {{.name = "threshold",
                          .kind = Kind::kNumber,
                          .fallback = "0.0000001",
                          .meaning = "Mean magnitude below which a gradient "
                                     "has vanished.",
                          .least = 0},
                         Robust()},
          .needs = {{"gradients", {{"save_interval", "500"}}}},
          .make = Make<VanishingGradient>};
}

}  // namespace smdebug::rules
