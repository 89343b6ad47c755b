#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/layer_names.h"
#include "src/rules/builtin/losses.h"
#include "src/rules/builtin/running_mean.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// MXNet's dense0_relu_input_0; PyTorch's relu_input_0 and net.relu1_input_0;
// Keras's re_lu/inputs.
constexpr const char* kWeightNames =
    ".*relu_input|(?i:re_?lu_?[0-9]*(?:_input|/inputs))";

// Gradients with fewer elements have no distribution.
constexpr size_t kLeastElements = 8;

// When robust: part of distribution_range, loss that has converged, rise of the
// first loss.
constexpr double kRobustRange = 1e-3;
constexpr double kSettled = 0.05;
constexpr double kRise = 1.5;

// numpy.percentile(sorted, percent).
double Percentile(const std::vector<double>& sorted, double percent) {
  const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

// When robust, each sign has to be there three times in a row, and is larger:
// the variance differs by the threshold from layer to layer, gradients of a
// whole layer, zeros left out, have a thousandth of the range while the loss is
// not near zero, or the loss is half again as large as at first.
class PoorWeightInitialization final : public Rule {
 public:
  explicit PoorWeightInitialization(const RuleParameters& parameters)
      : inputs_{.regexes = parameters.List("activation_inputs_regex")},
        threshold_(parameters.Number("threshold")),
        range_(parameters.Number("distribution_range")),
        patience_(parameters.Whole("patience")),
        steps_(parameters.Whole("steps")),
        robust_(parameters.Bool("robust")) {
    if (!parameters.IsGiven("activation_inputs_regex")) {
      inputs_.collections = {"relu_input"};
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    if (steps_seen_ >= steps_) return findings;
    // Each looks, so all of them decide whether the step counts.
    const bool loss = CheckLoss(view, findings);
    const bool variance = CheckVariance(view, findings);
    const bool gradients = CheckGradients(view, findings);
    if (loss || variance || gradients) ++steps_seen_;
    return findings;
  }

  std::string Lack() const override {
    return has_judged_
               ? ""
               : "needs losses, gradients or inputs of two layers, which "
                 "this run does not save";
  }

 private:
  bool CheckVariance(StepView& view, std::vector<Finding>& findings) {
    std::vector<std::pair<double, std::string>> variances;
    const auto names = view.Select(inputs_);
    for (const std::string& name : names) {
      const auto variance = view.Reduce(name, {ReductionOp::kVariance});
      if (variance && !std::isnan(*variance)) {
        variances.emplace_back(*variance, name);
      }
    }
    if (variances.size() < 2) return !names.empty();
    has_judged_ = true;
    const auto [least, most] = std::ranges::minmax(variances);
    const double ratio = least.first > 0 ? most.first / least.first
                                         : (most.first > 0 ? kInfinity : 1.0);
    const double limit =
        robust_
            ? std::pow(threshold_, static_cast<double>(variances.size() - 1))
            : threshold_;
    if (IsLasting("variance", ratio > limit)) {
      findings.push_back(
          {.tensor = most.second,
           .value = ratio,
           .threshold = limit,
           .message = fmt::format(
               "the inputs of layers differ: the variance of {} is {:.4g} and "
               "that of {} {:.4g}, a ratio above {:.4g}",
               most.second, most.first, least.second, least.first, limit)});
    }
    return true;
  }

  bool CheckGradients(StepView& view, std::vector<Finding>& findings) {
    std::map<std::string, std::pair<double, std::string>> layers;
    const auto names = view.Select({.collections = {"gradients"}});
    for (const std::string& name : names) {
      const auto value = view.At(name);
      const auto range = value ? RangeOf(*value) : std::nullopt;
      if (!range) continue;
      const std::string layer = robust_ ? LayerOf(name) : name;
      auto& widest = layers.try_emplace(layer, *range, name).first->second;
      if (*range > widest.first) widest = {*range, name};
    }
    has_judged_ |= !layers.empty();
    const double limit = robust_ ? kRobustRange * range_ : range_;
    const bool is_converged = robust_ && last_loss_ < kSettled;
    for (const auto& [layer, widest] : layers) {
      const auto& [range, name] = widest;
      if (!IsLasting(layer, range < limit && !is_converged)) continue;
      findings.push_back(
          {.tensor = name,
           .value = range,
           .threshold = limit,
           .message = fmt::format("gradients are too much alike: 90 % of them "
                                  "lie within {:.3g}, less than {:.3g}",
                                  range, limit)});
    }
    return !names.empty();
  }

  // The width of the middle 90 %; unset for too few or NaN.
  std::optional<double> RangeOf(const Value& value) const {
    std::vector<double> numbers = Numbers(value);
    if (numbers.size() < kLeastElements ||
        std::ranges::any_of(numbers, [](double x) { return std::isnan(x); })) {
      return std::nullopt;
    }
    if (robust_) {
      std::erase(numbers, 0.0);
      if (numbers.empty()) return 0;
    }
    std::ranges::sort(numbers);
    return Percentile(numbers, 95) - Percentile(numbers, 5);
  }

  bool CheckLoss(StepView& view, std::vector<Finding>& findings) {
    RunningMean mean;
    for (const std::string& name : view.Select({.collections = {"losses"}})) {
      if (const auto loss = LossOf(view, name)) mean.Add(*loss);
    }
    if (mean.count() == 0) return false;
    has_judged_ = true;
    last_loss_ = mean.mean();
    if (std::isnan(first_loss_)) first_loss_ = last_loss_;
    const bool is_lower = last_loss_ < best_loss_;
    const bool is_better =
        robust_ ? last_loss_ <= kRise * std::abs(first_loss_) : is_lower;
    since_better_ = is_better ? 0 : since_better_ + 1;
    if (is_lower) best_loss_ = last_loss_;
    if (since_better_ >= patience_) {
      findings.push_back(
          {.value = static_cast<double>(since_better_),
           .threshold = static_cast<double>(patience_),
           .message =
               fmt::format("the loss {:.6g} has not gone below {:.6g} "
                           "for {}, at least {}",
                           last_loss_, best_loss_,
                           base::Counted(since_better_, "step"), patience_)});
    }
    return true;
  }

  bool IsLasting(const std::string& sign, bool is_there) {
    return signs_.Note(sign, is_there) >= (robust_ ? kRobustStreak : 1);
  }

  TensorSelection inputs_;
  const double threshold_;
  const double range_;
  const int64_t patience_;
  const int64_t steps_;
  const bool robust_;
  int64_t steps_seen_ = 0;
  double first_loss_ = std::nan("");
  double last_loss_ = std::nan("");
  double best_loss_ = kInfinity;
  int64_t since_better_ = 0;
  Streaks signs_;
  bool has_judged_ = false;
};

}  // namespace

RuleType PoorWeightInitializationType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "PoorWeightInitialization",
      .summary = "The first steps look as if weights were initialised badly.",
      .parameters = {{.name = "activation_inputs_regex",
                      .kind = Kind::kList,
                      .fallback = kWeightNames,
                      .meaning = "Names of the inputs of activations."},
                     {.name = "threshold",
                      .kind = Kind::kNumber,
                      .fallback = "10.0",
                      .meaning =
                          "Ratio of the largest to the smallest variance of "
                          "those inputs.",
                      .least = 0},
                     {.name = "distribution_range",
                      .kind = Kind::kNumber,
                      .fallback = "0.001",
                      .meaning =
                          "Width of the middle 90 % of a gradient, at least.",
                      .least = 0},
                     {.name = "patience",
                      .kind = Kind::kWhole,
                      .fallback = "5",
                      .meaning = "Steps in a row without a lower loss.",
                      .least = 1},
                     {.name = "steps",
                      .kind = Kind::kWhole,
                      .fallback = "10",
                      .meaning = "How many steps are looked at.",
                      .least = 1},
                     Robust()},
      .needs = {{"relu_input",
                 {{"include_regex", ".*relu_input"}, {"save_interval", "500"}},
                 "activation_inputs_regex"}},
      .meaning =
          "It looks at the first `steps` steps with inputs of activations, "
          "gradients or losses, and fires if the variances of two inputs "
          "differ by more than the threshold, if the 5th and the 95th "
          "percentile of a gradient of at least 8 elements are closer than "
          "distribution_range, or if the mean loss has not gone below its "
          "best for `patience` steps. The saved variance of inputs and the "
          "mean of losses are enough; gradients need values.\n\n"
          "Robust: variances differ by the threshold for each layer between, "
          "the gradients of a whole layer, zeros left out, are closer than a "
          "thousandth of the range while the loss is above 0.05, both three "
          "times in a row; or the loss is half again as large as the first "
          "one for `patience` steps.\n\n"
          "PyTorch: inputs of modules whose name ends in relu and a number, "
          "such as `relu1_input_0`, and of a collection `relu_input`. Keras: "
          "`re_lu/inputs`. MXNet: `.*relu_input`.",
      .make = Make<PoorWeightInitialization>};
}

}  // namespace smdebug::rules
