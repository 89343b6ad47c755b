#include <cmath>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/layer_names.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// The largest gradient of a step is so many times a vanished one, at least.
constexpr double kVanishedPart = 1e-3;

// When robust, a layer has vanished, not one of its tensors (a bias before a
// normalisation has no gradient), while others still learn: three steps in a
// row it is below the threshold, and a thousandth of the largest layer or never
// above. Values that are exactly zero do not count in the mean, as rows of an
// embedding that a batch does not use.
class VanishingGradient final : public Rule {
 public:
  explicit VanishingGradient(const RuleParameters& parameters)
      : threshold_(parameters.Number("threshold")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Gradient> gradients;
    for (std::string& name : view.Select({.collections = {"gradients"}})) {
      const auto mean = view.Reduce(name, {ReductionOp::kMean, /*abs=*/true});
      if (mean) gradients.push_back({.name = std::move(name), .mean = *mean});
    }
    has_judged_ |= !gradients.empty();
    if (robust_) KeepVanishedLayers(view, gradients);
    std::vector<Finding> findings;
    for (Gradient& gradient : gradients) {
      if (!(gradient.mean < threshold_)) continue;
      findings.push_back(
          {.tensor = std::move(gradient.name),
           .value = gradient.mean,
           .threshold = threshold_,
           .message = fmt::format(
               "the gradient has vanished: its mean magnitude is {:.3g}, below "
               "{:.3g}",
               gradient.mean, threshold_)});
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs gradients or their reductions, which this run "
                         "does not save";
  }

 private:
  struct Gradient {
    std::string name;
    double mean;
  };

  // The mean magnitude of what is not zero.
  static double NonzeroMean(StepView& view, const Gradient& gradient) {
    int64_t zeros = 0;
    int64_t count = 0;
    if (const auto value = view.At(gradient.name)) {
      count = value->size();
      ForEach(*value, [&](double x) { zeros += x == 0 ? 1 : 0; });
    } else if (const auto counts = view.CountsAt(gradient.name, view.step())) {
      count = counts->count;
      zeros = counts->zero;
    }
    if (zeros >= count) return gradient.mean;
    return gradient.mean * static_cast<double>(count) /
           static_cast<double>(count - zeros);
  }

  void KeepVanishedLayers(StepView& view, std::vector<Gradient>& gradients) {
    std::map<std::string, double> layers;
    double largest = 0;
    for (const Gradient& gradient : gradients) {
      const double mean = gradient.mean < threshold_
                              ? NonzeroMean(view, gradient)
                              : gradient.mean;
      double& layer = layers[LayerOf(gradient.name)];
      layer = std::fmax(layer, mean);
      largest = std::fmax(largest, mean);
    }
    for (const auto& [layer, mean] : layers) {
      double& peak = peaks_[layer];
      peak = std::fmax(peak, mean);
    }
    std::erase_if(gradients, [&](const Gradient& gradient) {
      const std::string layer = LayerOf(gradient.name);
      const double mean = layers[layer];
      const bool vanished =
          mean < threshold_ &&
          (mean < kVanishedPart * largest || peaks_[layer] < threshold_);
      return vanished_.Note(gradient.name, vanished) < kRobustStreak;
    });
  }

  const double threshold_;
  const bool robust_;
  std::map<std::string, double> peaks_;  // By layer.
  Streaks vanished_;
  bool has_judged_ = false;
};

}  // namespace

RuleType VanishingGradientType() {
  return {
      .name = "VanishingGradient",
      .summary = "A gradient has become too small to train with.",
      .parameters = {{.name = "threshold",
                      .kind = RuleParameter::Kind::kNumber,
                      .fallback = "0.0000001",
                      .meaning = "Mean magnitude below which a gradient has "
                                 "vanished.",
                      .least = 0},
                     Robust()},
      .needs = {{"gradients", {{"save_interval", "500"}}}},
      .meaning =
          "It fires at a step where the mean magnitude of a gradient is below "
          "the threshold. The saved reduction abs_mean is enough.\n\n"
          "Robust: the whole layer has to be below for three steps in a row, "
          "weights and biases, while the largest gradient of the step is a "
          "thousand times larger, or without ever having been above. So it "
          "does not fire for biases before a normalisation, zero-initialised "
          "heads, or runs that have converged.\n\n"
          "Gradients are the collection `gradients` in every framework.",
      .make = Make<VanishingGradient>};
}

}  // namespace smdebug::rules
