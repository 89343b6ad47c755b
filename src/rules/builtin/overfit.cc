#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/losses.h"
#include "src/rules/builtin/running_mean.h"
#include "src/rules/builtin/training_steps.h"

namespace smdebug::rules {
namespace {

// When robust, the gap is at least this part of the largest training loss
// before, so losses near zero are silent; it is larger than its own error; and
// so three times in a row, at which the validation loss has no new low.
constexpr double kLeastGap = 0.2;
constexpr double kSureOfOverfit = 3;
constexpr int64_t kLeastRobustPatience = 3;

// How much a loss jumps up and down, lately. A block of few losses says little
// about its own spread, so the blocks before have a say. Of two differences in
// a row the smaller counts: a fall that lasts is no noise.
class Noise {
 public:
  void Add(double loss) {
    if (last_) {
      const double square = (loss - *last_) * (loss - *last_);
      if (last_square_) {
        constexpr int64_t kMemory = 30;
        // Of normal noise the smaller is 2 (1 - sqrt(3) / pi) variances.
        constexpr double kToVariance = 1.114;
        count_ = std::min(count_ + 1, kMemory);
        variance_ +=
            (kToVariance * std::min(square, *last_square_) - variance_) /
            static_cast<double>(count_);
      }
      last_square_ = square;
    }
    last_ = loss;
  }

  // Of the mean of so many losses.
  double standard_error(int64_t count) const {
    return std::sqrt(variance_ / static_cast<double>(count));
  }

 private:
  std::optional<double> last_;
  std::optional<double> last_square_;  // Of the last difference.
  int64_t count_ = 0;
  double variance_ = 0;
};

class Overfit final : public Rule {
 public:
  explicit Overfit(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        start_step_(parameters.Whole("start_step")),
        ratio_(parameters.Number("ratio_threshold")),
        robust_(parameters.Bool("robust")),
        patience_(robust_ ? std::max(kLeastRobustPatience,
                                     parameters.Whole("patience"))
                          : parameters.Whole("patience")) {
    if (selection_.empty()) selection_.collections = {"losses"};
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    const std::vector<std::string> names = view.Select(selection_);
    if (view.mode() == Mode::kGlobal) CheckPairs(view, names, findings);
    for (const std::string& name : names) {
      const auto loss = LossOf(view, name);
      if (!loss) continue;
      Blocks& blocks = blocks_[name];
      if (view.mode() == Mode::kEval) {
        blocks.validation.Add(*loss);
        blocks.last_validation = view.step();
      } else if (IsTrainingStep(view.mode())) {
        if (blocks.validation.count() > 0) EndBlock(name, blocks, findings);
        blocks.training.Add(*loss);
        if (std::isfinite(*loss)) blocks.judged.noise.Add(*loss);
      }
    }
    return findings;
  }

  std::vector<Finding> Finish(StepView& /*last*/) override {
    std::vector<Finding> findings;
    for (auto& [name, blocks] : blocks_) {
      if (blocks.validation.count() > 0) EndBlock(name, blocks, findings);
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_
               ? ""
               : "needs losses of training and of validation, of which this "
                 "run does not save both";
  }

 private:
  struct Judged {
    int64_t streak = 0;  // Blocks in a row that exceed.
    double largest = 0;  // Mean training loss so far.
    double lowest = std::numeric_limits<double>::infinity();  // Of validation.
    Noise noise;  // Of the training loss.
  };

  struct Blocks {
    RunningMean training;  // Since the last block of validation.
    RunningMean validation;
    int64_t last_validation = 0;
    Judged judged;
  };

  // XGBoost: both losses at each step, without modes.
  void CheckPairs(StepView& view, const std::vector<std::string>& names,
                  std::vector<Finding>& findings) {
    if (view.step() < start_step_) return;
    for (const LossPair& pair : PairLosses(names)) {
      const auto training = LossOf(view, pair.training);
      const auto validation = LossOf(view, pair.validation);
      if (!training || !validation) continue;
      RunningMean training_mean;
      RunningMean validation_mean;
      training_mean.Add(*training);
      validation_mean.Add(*validation);
      Judge(pair.validation, training_mean, validation_mean,
            pairs_[pair.validation], findings);
    }
  }

  void EndBlock(const std::string& name, Blocks& blocks,
                std::vector<Finding>& findings) {
    if (blocks.training.count() > 0 && blocks.last_validation >= start_step_) {
      Judge(name, blocks.training, blocks.validation, blocks.judged, findings);
    }
    blocks.training = {};
    blocks.validation = {};
  }

  void Judge(const std::string& name, const RunningMean& training,
             const RunningMean& validation, Judged& judged,
             std::vector<Finding>& findings) {
    has_judged_ = true;
    const double scale = std::abs(training.mean());
    if (scale == 0) return;
    const double gap = validation.mean() - training.mean();
    const double ratio = gap / scale;
    judged.largest = std::fmax(judged.largest, scale);
    bool exceeds = ratio > ratio_;
    if (robust_) {
      const double error =
          std::hypot(std::max(training.standard_error(),
                              judged.noise.standard_error(training.count())),
                     validation.standard_error());
      const bool is_lowest = validation.mean() < judged.lowest;
      judged.lowest = std::fmin(judged.lowest, validation.mean());
      exceeds = exceeds && gap > kLeastGap * judged.largest &&
                gap > kSureOfOverfit * error && !is_lowest;
    }
    judged.streak = exceeds ? judged.streak + 1 : 0;
    if (judged.streak == 0 || judged.streak < patience_) return;
    findings.push_back(
        {.tensor = name,
         .value = ratio,
         .threshold = ratio_,
         .message =
             fmt::format("the validation loss {:.6g} is above the "
                         "training loss {:.6g} by {:.4g} of it, more "
                         "than {:.4g}",
                         validation.mean(), training.mean(), ratio, ratio_)});
  }

  TensorSelection selection_;
  const int64_t start_step_;
  const double ratio_;
  const bool robust_;
  const int64_t patience_;
  std::map<std::string, Blocks> blocks_;
  std::map<std::string, Judged> pairs_;
  bool has_judged_ = false;
};

}  // namespace

RuleType OverfitType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "Overfit",
      .summary = "The validation loss is well above the training loss.",
      .parameters = {TensorRegex(),
                     {.name = "start_step",
                      .kind = Kind::kWhole,
                      .fallback = "0",
                      .meaning = "Validation that ends before this step is "
                                 "left out.",
                      .least = 0},
                     {.name = "patience",
                      .kind = Kind::kWhole,
                      .fallback = "1",
                      .meaning = "How often in a row it has to be so.",
                      .least = 1},
                     {.name = "ratio_threshold",
                      .kind = Kind::kNumber,
                      .fallback = "0.1",
                      .meaning = "Part of the training loss by which the "
                                 "validation loss may exceed it.",
                      .least = 0},
                     Robust()},
      .needs = {{"losses", {}}},
      .meaning =
          "After each block of EVAL steps it compares the mean loss of the "
          "block with that of the TRAIN steps since the block before, each "
          "loss for itself, and fires at the first TRAIN step after the block "
          "(at the end of the run: at the last step) if the difference is "
          "more than ratio_threshold of the training loss, `patience` times "
          "in a row. The saved mean of a loss is enough.\n\n"
          "Robust: the difference also has to exceed a fifth of the largest "
          "training loss so far and three times its standard error, and the "
          "validation loss must not fall to a new low, at least three times "
          "in a row. How much the training loss jumps is taken from the "
          "blocks before, too, so it does not fire for a few lucky batches, "
          "for losses near zero, or for runs that are still learning.\n\n"
          "PyTorch, Keras, MXNet: the collection `losses`, with modes set. "
          "XGBoost: at every step `validation-<metric>`, `eval-<metric>` or "
          "`test-<metric>` is compared with `train-<metric>`.",
      .make = Make<Overfit>};
}

}  // namespace smdebug::rules
