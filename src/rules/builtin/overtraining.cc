#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/losses.h"
#include "src/rules/builtin/running_mean.h"

namespace smdebug::rules {
namespace {

constexpr double kNoLossYet = std::numeric_limits<double>::infinity();

// When robust: a rise of the loss by so much of its best window, and by so many
// standard errors, is none by chance.
constexpr double kLeastRelativeRise = 0.05;
constexpr double kSureOfRise = 4;
constexpr int64_t kLeastWindow = 10;

// The mean of some losses, and how far it may be off. A straight trend is no
// error: what lies off the line through the losses is.
struct Window {
  double mean = 0;
  double standard_error = 0;
};

Window WindowOf(const std::vector<double>& losses) {
  const auto count = static_cast<double>(losses.size());
  RunningMean mean;
  double slope = 0;
  double steps = 0;  // Squared, from the middle.
  for (size_t i = 0; i < losses.size(); ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    mean.Add(losses[i]);
    slope += x * losses[i];
    steps += x * x;
  }
  const double off =
      std::fmax(0, count * mean.variance() - slope * slope / steps);
  return {.mean = mean.mean(),
          .standard_error = std::sqrt(off / (count - 2) / count)};
}

// When robust, a plateau is no trouble. Losses are averaged over windows of as
// many as the patience, at least 10; the loss of validation (of training, where
// there is none) has to be surely above its best window.
class Overtraining final : public Rule {
 public:
  explicit Overtraining(const RuleParameters& parameters)
      : training_{.patience = parameters.Whole("patience_train")},
        validation_{.patience = parameters.Whole("patience_validation")},
        delta_(parameters.Number("delta")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    const PhaseLosses now =
        MeanLosses(view, view.Select({.collections = {"losses"}}));
    if (!now.training && !now.validation) return {};
    if (now.training) Note(training_, *now.training);
    if (now.validation) Note(validation_, *now.validation);
    const bool has_validation = validation_.seen > 0;
    if (training_.since_best < training_.patience) return {};
    if (has_validation && validation_.since_best < validation_.patience) {
      return {};
    }
    const Phase& judged = has_validation ? validation_ : training_;
    if (robust_ && !judged.rises) return {};
    const std::string_view what = has_validation ? "validation" : "training";
    return {{.value = static_cast<double>(judged.since_best),
             .threshold = static_cast<double>(judged.patience),
             .message = fmt::format("the {} loss has not fallen by more than "
                                    "{:.4g} below {:.6g} for {} observations, "
                                    "at least {}",
                                    what, delta_, judged.best,
                                    judged.since_best, judged.patience)}};
  }

  std::string Lack() const override {
    return training_.seen > 0 || validation_.seen > 0
               ? ""
               : "needs losses of training or of validation, which this run "
                 "does not save";
  }

 private:
  struct Phase {
    int64_t patience;
    double best = kNoLossYet;
    int64_t since_best = 0;  // Observations.
    int64_t seen = 0;
    std::vector<double> window = {};         // For robust.
    std::optional<Window> best_window = {};  // With the lowest mean.
    bool rises = false;  // The last full window, and no better loss since.
  };

  void Note(Phase& phase, double loss) const {
    ++phase.seen;
    const bool is_better = phase.best - loss > delta_;
    phase.since_best = is_better ? 0 : phase.since_best + 1;
    if (is_better) {
      phase.best = loss;
      phase.rises = false;
    }
    if (!robust_ || !std::isfinite(loss)) return;
    phase.window.push_back(loss);
    if (std::ssize(phase.window) < std::max(phase.patience, kLeastWindow)) {
      return;
    }
    const Window window = WindowOf(std::exchange(phase.window, {}));
    if (!phase.best_window || window.mean < phase.best_window->mean) {
      phase.best_window = window;
      phase.rises = false;
      return;
    }
    const Window& best = *phase.best_window;
    const double rise = window.mean - best.mean;
    phase.rises = rise > delta_ &&
                  rise > kLeastRelativeRise * std::abs(best.mean) &&
                  rise > kSureOfRise * std::hypot(window.standard_error,
                                                  best.standard_error);
  }

  Phase training_;
  Phase validation_;
  const double delta_;
  const bool robust_;
};

}  // namespace

RuleType OvertrainingType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "Overtraining",
      .summary = "Training goes on although the losses no longer fall.",
      .parameters = {{.name = "patience_train",
                      .kind = Kind::kWhole,
                      .fallback = "5",
                      .meaning = "Training losses without a better one.",
                      .least = 1},
                     {.name = "patience_validation",
                      .kind = Kind::kWhole,
                      .fallback = "10",
                      .meaning = "Validation losses without a better one.",
                      .least = 1},
                     {.name = "delta",
                      .kind = Kind::kNumber,
                      .fallback = "0.01",
                      .meaning = "By how much a better loss is lower.",
                      .least = 0},
                     Robust()},
      .needs = {{"losses", {}}},
      .meaning =
          "It keeps the best training and the best validation loss (the mean "
          "over all losses of a step), and fires where neither has improved "
          "by more than delta for as many saved losses as its patience says; "
          "or the training loss alone, if there is no validation so far. The "
          "saved mean of a loss is enough.\n\n"
          "Robust: in addition the validation loss, or the training loss if "
          "there is no validation, has to rise: the mean over a window as "
          "long as the patience, at least 10, is above the best window by "
          "delta, by 5 % and by four standard errors of what lies off a "
          "straight line through the window. It does not fire on a plateau.\n\n"
          "PyTorch, Keras, MXNet: the collection `losses`; steps of EVAL are "
          "validation, steps of TRAIN or without a mode training. XGBoost: "
          "`validation-<metric>`, `eval-<metric>` and `test-<metric>` are "
          "validation.",
      .make = Make<Overtraining>};
}

}  // namespace smdebug::rules
