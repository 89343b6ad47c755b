#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/classes.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// When robust: how many standard errors make a difference sure, and how many
// windows in a row a class has to be mispredicted.
constexpr double kSureOfImbalance = 2;
constexpr int64_t kRobustWindows = 8;

struct Predicted {
  int64_t count = 0;
  int64_t wrong = 0;

  double Rate() const {
    return static_cast<double>(wrong) / static_cast<double>(count);
  }
};

// When robust, the smallest class is taken two standard errors larger than it
// is. Mispredictions are counted in windows of `samples`, without the first: a
// class counts if the rate is surely above in eight windows in a row while the
// rate of all classes together is not, so an untrained network is silent.
class ClassImbalance final : public Rule {
 public:
  explicit ClassImbalance(const RuleParameters& parameters)
      : imbalance_(parameters.Number("threshold_imbalance")),
        misprediction_(parameters.Number("threshold_misprediction")),
        samples_(parameters.Whole("samples")),
        argmax_(parameters.Bool("argmax")),
        robust_(parameters.Bool("robust")),
        labels_{parameters.Text("labels_regex")},
        predictions_{parameters.Text("predictions_regex")} {
    if (!parameters.IsGiven("labels_regex")) labels_.emplace_back(kTorchLabels);
    if (!parameters.IsGiven("predictions_regex")) {
      predictions_.emplace_back(kTorchScores);
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    const auto name = Pick(view, labels_);
    const auto labels = name ? view.At(*name) : std::nullopt;
    if (!labels || labels->dtype() == DType::kString) return findings;
    Counts& counts = counts_[view.mode()];
    const std::vector<int64_t> truth = LabelClasses(*labels);
    counts.seen += static_cast<int64_t>(truth.size());
    for (const int64_t label : truth) {
      if (label != kNoClass) ++counts.labels[label];
    }
    const auto predictions_name = Pick(view, predictions_);
    const bool new_pairs =
        predictions_name && Compare(view, *predictions_name, truth, counts);
    if (counts.seen < samples_) return findings;
    CheckImbalance(*name, counts, findings);
    if (!robust_) {
      const std::string& tensor = predictions_name.value_or(*name);
      CheckMisprediction(tensor, counts.predicted, findings);
    } else if (new_pairs) {
      CloseWindow(*predictions_name, counts, findings);
    }
    return findings;
  }

  std::string Lack() const override {
    return !counts_.empty() ? "" : "needs labels, which this run does not save";
  }

 private:
  using ByClass = std::map<int64_t, Predicted>;

  struct Counts {
    std::map<int64_t, int64_t> labels;
    ByClass predicted;  // Since the beginning or, if robust, of a window.
    int64_t seen = 0;
    int64_t windows = 0;
    Streaks mispredicted;
  };

  static std::optional<std::string> Pick(
      StepView& view, const std::vector<std::string>& regexes) {
    for (const std::string& regex : regexes) {
      if (auto name = FirstMatch(view, regex)) return name;
    }
    return std::nullopt;
  }

  // Counts predictions that belong to `truth`; tells whether there are any.
  bool Compare(StepView& view, const std::string& name,
               const std::vector<int64_t>& truth, Counts& counts) const {
    const auto scores = view.At(name);
    if (!scores || scores->dtype() == DType::kString) return false;
    const bool is_fallback =
        predictions_.size() > 1 && FirstMatch(view, predictions_[0]) != name;
    const std::vector<int64_t> classes = argmax_ || is_fallback
                                             ? LargestOfLastAxis(*scores)
                                             : ThresholdedClasses(*scores);
    if (classes.size() != truth.size()) return false;
    for (size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] == kNoClass) continue;
      Predicted& predicted = counts.predicted[truth[i]];
      ++predicted.count;
      predicted.wrong += classes[i] != truth[i] ? 1 : 0;
    }
    return !truth.empty();
  }

  void CheckImbalance(const std::string& tensor, const Counts& counts,
                      std::vector<Finding>& findings) const {
    if (counts.labels.empty()) return;
    const auto by_count = [](const auto& a, const auto& b) {
      return a.second < b.second;
    };
    const auto [least, most] =
        std::ranges::minmax_element(counts.labels, by_count);
    const auto largest = static_cast<double>(most->second);
    auto smallest = static_cast<double>(least->second);
    const double ratio = largest / smallest;
    if (robust_) smallest += kSureOfImbalance * std::sqrt(smallest);
    if (!(largest / smallest > imbalance_)) return;
    findings.push_back(
        {.tensor = tensor,
         .value = ratio,
         .threshold = imbalance_,
         .message = fmt::format(
             "class {} has {} and class {} has {}: {:.4g} times as many, "
             "above {:.4g}",
             most->first, base::Counted(most->second, "label"), least->first,
             least->second, ratio, imbalance_)});
  }

  void CheckMisprediction(const std::string& tensor, const ByClass& classes,
                          std::vector<Finding>& findings) const {
    if (classes.empty()) return;
    const auto worst = std::ranges::max_element(
        classes, {}, [](const auto& entry) { return entry.second.Rate(); });
    Report(tensor, *worst, findings);
  }

  void Report(const std::string& tensor,
              const std::pair<const int64_t, Predicted>& entry,
              std::vector<Finding>& findings) const {
    const auto& [label, predicted] = entry;
    if (!(predicted.Rate() > misprediction_)) return;
    findings.push_back(
        {.tensor = tensor,
         .value = predicted.Rate(),
         .threshold = misprediction_,
         .message = fmt::format(
             "{} of {} of class {} {} mispredicted: {:.4g}, above {:.4g}",
             predicted.wrong, base::Counted(predicted.count, "sample"), label,
             base::IsOrAre(predicted.wrong), predicted.Rate(),
             misprediction_)});
  }

  void CloseWindow(const std::string& tensor, Counts& counts,
                   std::vector<Finding>& findings) const {
    Predicted all;
    for (const auto& [label, predicted] : counts.predicted) {
      all.count += predicted.count;
      all.wrong += predicted.wrong;
    }
    if (all.count < samples_) return;
    const ByClass classes = std::exchange(counts.predicted, {});
    if (++counts.windows == 1) return;
    for (const auto& entry : classes) {
      const auto count = static_cast<double>(entry.second.count);
      const double error =
          std::sqrt(misprediction_ * (1 - misprediction_) / count);
      const bool sure =
          all.Rate() <= misprediction_ &&
          entry.second.Rate() > misprediction_ + kSureOfImbalance * error;
      const int64_t streak =
          counts.mispredicted.Note(std::to_string(entry.first), sure);
      if (streak >= kRobustWindows) Report(tensor, entry, findings);
    }
  }

  const double imbalance_;
  const double misprediction_;
  const int64_t samples_;
  const bool argmax_;
  const bool robust_;
  std::vector<std::string> labels_;  // Regexes, the first that matches counts.
  std::vector<std::string> predictions_;
  std::map<Mode, Counts> counts_;
};

}  // namespace

RuleType ClassImbalanceType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "ClassImbalance",
      .summary = "Some classes are rare, or mispredicted most of the time.",
      .parameters =
          {{.name = "threshold_imbalance",
            .kind = Kind::kNumber,
            .fallback = "10",
            .meaning = "How many times as many labels the largest class may "
                       "have as the smallest.",
            .least = 1},
           {.name = "threshold_misprediction",
            .kind = Kind::kNumber,
            .fallback = "0.7",
            .meaning = "Part of a class that may be mispredicted.",
            .least = 0,
            .most = 1},
           {.name = "samples",
            .kind = Kind::kWhole,
            .fallback = "500",
            .meaning = "Labels to see before the first verdict.",
            .least = 1},
           {.name = "argmax",
            .kind = Kind::kBool,
            .fallback = "false",
            .meaning = "Predictions are scores; the largest along the last "
                       "axis is the class."},
           {.name = "labels_regex",
            .fallback = ".*labels",
            .meaning = "Name of the labels; the first that matches counts."},
           {.name = "predictions_regex",
            .fallback = ".*predictions",
            .meaning = "Name of the predictions; the first that matches "
                       "counts."},
           Robust()},
      .needs = {{.collection = "labels",
                 .parameters = {{"include_regex", ".*labels"}},
                 .selector = "labels_regex",
                 .also = std::string(kTorchLabels)},
                {.collection = "predictions",
                 .parameters = {{"include_regex", ".*predictions"}},
                 .selector = "predictions_regex",
                 .also = std::string(kTorchScores)}},
      .meaning =
          "It counts the labels of each class since the beginning, separately "
          "for each mode. Once `samples` labels were seen it fires where the "
          "largest class has more than threshold_imbalance times the labels "
          "of the smallest, or more than threshold_misprediction of a class's "
          "labels that came with predictions were mispredicted. One-hot "
          "labels are understood; predictions between 0 and 1 are rounded. It "
          "needs values; labels alone suffice for the first check.\n\n"
          "Robust: the smallest class is taken two standard errors larger. "
          "Mispredictions are counted in windows of `samples`, the first one "
          "left out, and a class counts that is surely above in eight windows "
          "in a row while all classes together are not.\n\n"
          "PyTorch: tensors saved as `labels` and `predictions`; without them "
          "the inputs of CrossEntropyLoss or NLLLoss, whose largest score is "
          "the class. Keras and XGBoost: `labels`, `predictions`.",
      .make = Make<ClassImbalance>};
}

}  // namespace smdebug::rules
