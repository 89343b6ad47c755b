#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/classes.h"
#include "src/rules/builtin/confusion_matrix.h"

namespace smdebug::rules {
namespace {

// When robust: pairs in a window, windows before a verdict, samples of a class
// that say something, standard errors that make sure.
constexpr int64_t kWindowPairs = 100;
constexpr size_t kLeastWindows = 20;
constexpr size_t kLeastWindowsAtEnd = 4;
constexpr size_t kJudgedWindows = kLeastWindows / 3;
constexpr int64_t kLeastOfClass = 10;
constexpr double kSureOfConfusion = 2;
// When robust: part of the accuracy that is little for a class.
constexpr double kLittle = 2.0 / 3;

// The accuracies of windows in order. From kMost on neighbours are kept as
// their mean, so that a long job takes no more memory and time for each. One
// thread at a time.
class Accuracies {
 public:
  void Add(double accuracy) {
    sum_ += accuracy;
    if (++pending_ < together_) return;
    means_.push_back(sum_ / static_cast<double>(together_));
    sum_ = 0;
    pending_ = 0;
    if (means_.size() < kMost) return;
    for (size_t i = 0; i < kMost / 2; ++i) {
      means_[i] = (means_[2 * i] + means_[2 * i + 1]) / 2;
    }
    means_.resize(kMost / 2);
    together_ *= 2;
  }

  // Each of as many windows.
  const std::vector<double>& means() const noexcept { return means_; }

 private:
  static constexpr size_t kMost = 1024;

  std::vector<double> means_;
  int64_t together_ = 1;  // Windows of a mean.
  int64_t pending_ = 0;   // Those of the next one so far.
  double sum_ = 0;
};

// When robust, verdicts are about windows of at least 100 pairs, and come when
// the accuracy no longer grows: after 20 windows of which the last third is
// hardly better than the middle one, or at the end after 4 of which the later
// half is. The last windows of that part are judged together, at most 6, so
// that many classes have samples enough. Classes with 10 samples count, that
// are off by two standard errors and much worse than all together: where every
// class is uncertain, the task is.
class Confusion final : public Rule {
 public:
  explicit Confusion(const RuleParameters& parameters)
      : categories_(parameters.MaybeNumber("category_no")),
        labels_{parameters.Text("labels"), parameters.Text("labels_collection"),
                IsDefault(parameters, "labels") ? kTorchLabels : ""},
        predictions_{parameters.Text("predictions"),
                     parameters.Text("predictions_collection"),
                     IsDefault(parameters, "predictions") ? kTorchScores : ""},
        min_diag_(parameters.Number("min_diag")),
        max_off_diag_(parameters.Number("max_off_diag")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::string tensor;
    const auto labels = Classes(view, labels_, LabelClasses, nullptr);
    const auto predictions =
        Classes(view, predictions_, PredictionClasses, &tensor);
    std::vector<Finding> findings;
    if (labels.size() != predictions.size()) return findings;
    has_judged_ |= !labels.empty();
    ConfusionMatrix now;
    ConfusionMatrix& matrix = robust_ ? window_ : now;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (IsCategory(labels[i]) && IsCategory(predictions[i])) {
        matrix.Add(labels[i], predictions[i]);
      }
    }
    if (!robust_) {
      Judge(matrix, tensor, findings);
    } else if (matrix.pairs() >= kWindowPairs) {
      accuracies_.Add(matrix.Accuracy());
      pairs_ += matrix.pairs();
      last_.push_back(std::exchange(window_, {}));
      if (last_.size() > kJudgedWindows) last_.pop_front();
      tensor_ = tensor;
      if (HasSettled(kLeastWindows, 3)) Judge(Last(3), tensor, findings);
    }
    return findings;
  }

  std::vector<Finding> Finish(StepView& /*last*/) override {
    std::vector<Finding> findings;
    const bool is_new = accuracies_.means().size() < kLeastWindows;
    if (is_new && HasSettled(kLeastWindowsAtEnd, 2)) {
      Judge(Last(2), tensor_, findings);
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_
               ? ""
               : "needs labels and as many predictions at the same step, "
                 "which this run does not save";
  }

 private:
  // A tensor of that name, else the collection's, else what the regex matches.
  struct Source {
    std::string name;
    std::string collection;
    std::string_view regex;
  };

  static bool IsDefault(const RuleParameters& parameters,
                        const std::string& name) {
    return !parameters.IsGiven(name) &&
           !parameters.IsGiven(name + "_collection");
  }

  static std::vector<int64_t> PredictionClasses(const Value& value) {
    return HasClassAxis(value) ? LargestOfLastAxis(value)
                               : NearestClasses(value);
  }

  static std::vector<int64_t> Classes(
      StepView& view, const Source& source,
      std::vector<int64_t> (*classes_of)(const Value&), std::string* tensor) {
    std::vector<std::string> names;
    if (view.At(source.name)) {
      names = {source.name};
    } else {
      names = view.Select({.collections = {source.collection}});
    }
    if (names.empty() && !source.regex.empty()) {
      if (auto name = FirstMatch(view, source.regex)) names = {*name};
    }
    std::vector<int64_t> all;
    for (const std::string& name : names) {
      const auto value = view.At(name);
      if (!value || value->dtype() == DType::kString) continue;
      const std::vector<int64_t> classes = classes_of(*value);
      all.insert(all.end(), classes.begin(), classes.end());
    }
    if (tensor != nullptr && !names.empty()) *tensor = names.front();
    return all;
  }

  bool IsCategory(int64_t number) const {
    return number >= 0 &&
           (!categories_ || static_cast<double>(number) < *categories_);
  }

  // Whether the accuracy of the last of so many parts is not surely better than
  // that of the part before.
  bool HasSettled(size_t least_windows, size_t parts) const {
    const std::vector<double>& all = accuracies_.means();
    if (all.size() < least_windows) return false;
    const auto length = static_cast<int64_t>(all.size() / parts);
    const auto mean = [&](auto begin) {
      return std::accumulate(begin, begin + length, 0.0) /
             static_cast<double>(length);
    };
    const double early = mean(all.end() - 2 * length);
    const double late = mean(all.end() - length);
    const double pairs = static_cast<double>(pairs_) *
                         static_cast<double>(length) /
                         static_cast<double>(all.size());
    const double error =
        std::sqrt((early * (1 - early) + late * (1 - late)) / pairs);
    return late - early <= kSureOfConfusion * error;
  }

  // The last windows of the last of so many parts, taken together.
  ConfusionMatrix Last(size_t parts) const {
    const size_t count =
        std::min(accuracies_.means().size() / parts, last_.size());
    ConfusionMatrix together;
    for (size_t i = last_.size() - count; i < last_.size(); ++i) {
      together.Add(last_[i]);
    }
    return together;
  }

  // How far a ratio may be off by chance.
  double Margin(double limit, int64_t count) const {
    return robust_ ? kSureOfConfusion * std::sqrt(limit * (1 - limit) /
                                                  static_cast<double>(count))
                   : 0;
  }

  void Judge(const ConfusionMatrix& matrix, const std::string& tensor,
             std::vector<Finding>& findings) const {
    double least = min_diag_;
    double most = max_off_diag_;
    if (robust_) {
      const double guessed = 1 / static_cast<double>(matrix.Classes().size());
      const double little = std::max(kLittle * matrix.Accuracy(), guessed);
      least = std::min(least, little);
      most = std::max(most, 1 - little);
    }
    for (const int64_t number : matrix.Classes()) {
      const int64_t predicted = matrix.Predicted(number);
      const int64_t count =
          predicted == 0 ? matrix.Labelled(number) : predicted;
      if (robust_ && count < kLeastOfClass) continue;
      const double ratio = predicted == 0
                               ? 0
                               : static_cast<double>(matrix.Right(number)) /
                                     static_cast<double>(predicted);
      if (ratio + Margin(least, count) < least) {
        findings.push_back(
            {.tensor = tensor,
             .value = ratio,
             .threshold = least,
             .message = fmt::format(
                 "of {} of class {}, {:.4g} are right, below {:.4g}",
                 base::Counted(predicted, "prediction"), number, ratio,
                 least)});
      }
    }
    for (const auto& [cell, count] : matrix.cells()) {
      const auto& [label, prediction] = cell;
      if (label == prediction) continue;
      const int64_t predicted = matrix.Predicted(prediction);
      if (robust_ && predicted < kLeastOfClass) continue;
      const double ratio =
          static_cast<double>(count) / static_cast<double>(predicted);
      if (ratio - Margin(most, predicted) > most) {
        findings.push_back({.tensor = tensor,
                            .value = ratio,
                            .threshold = most,
                            .message = fmt::format(
                                "of {} of class {}, {:.4g} are of class {}, "
                                "above {:.4g}",
                                base::Counted(predicted, "prediction"),
                                prediction, ratio, label, most)});
      }
    }
  }

  const std::optional<double> categories_;
  const Source labels_;
  const Source predictions_;
  const double min_diag_;
  const double max_off_diag_;
  const bool robust_;
  ConfusionMatrix window_;
  std::deque<ConfusionMatrix> last_;  // Full windows, at most kJudgedWindows,
  std::string tensor_;                // and whose the last one was.
  Accuracies accuracies_;             // Of all full windows.
  int64_t pairs_ = 0;
  bool has_judged_ = false;
};

}  // namespace

RuleType ConfusionType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "Confusion",
      .summary = "Classes are taken for each other.",
      .parameters =
          {{.name = "category_no",
            .kind = Kind::kWhole,
            .meaning = "How many classes there are; as many as are seen if "
                       "unset.",
            .least = 2},
           {.name = "labels",
            .fallback = "labels",
            .meaning = "Name of the tensor of labels."},
           {.name = "predictions",
            .fallback = "predictions",
            .meaning = "Name of the tensor of predictions."},
           {.name = "labels_collection",
            .fallback = "labels",
            .meaning = "Collection of labels, if there is no such tensor."},
           {.name = "predictions_collection",
            .fallback = "predictions",
            .meaning = "Collection of predictions, if there is no such "
                       "tensor."},
           {.name = "min_diag",
            .kind = Kind::kNumber,
            .fallback = "0.9",
            .meaning = "Part of a class's predictions that is right, at "
                       "least.",
            .least = 0,
            .most = 1},
           {.name = "max_off_diag",
            .kind = Kind::kNumber,
            .fallback = "0.1",
            .meaning = "Part of a class's predictions that is of one other "
                       "class, at most.",
            .least = 0,
            .most = 1},
           Robust()},
      .needs = {{.collection = "labels",
                 .parameters = {{"include_regex", "labels"}},
                 .also = std::string(kTorchLabels)},
                {.collection = "predictions",
                 .parameters = {{"include_regex", "predictions"}},
                 .also = std::string(kTorchScores)}},
      .meaning =
          "It counts which label got which prediction at a step, and fires if "
          "less than min_diag of a class's predictions are right, or more "
          "than max_off_diag are of one other class. A class that is never "
          "predicted has 0 right if there are labels of it. Predictions of "
          "several columns are scores, others are rounded. It needs values.\n\n"
          "Robust: windows of at least 100 pairs, from the twentieth on (at "
          "the end of the run the last one, if there are four), once the "
          "accuracy no longer grows; up to six of them are judged together; a "
          "class needs 10 predictions and has to be off by two standard "
          "errors from a milder limit: two thirds of the accuracy of all "
          "classes, or what guessing gives, have to be right, and the rest "
          "may be of another class. So it does not fire for a network that is "
          "still learning, or for a task that is uncertain for every class.\n\n"
          "PyTorch: tensors saved as `labels` and `predictions`; without them "
          "the inputs of CrossEntropyLoss or NLLLoss. Keras and XGBoost: "
          "`labels`, `predictions`.",
      .make = Make<Confusion>};
}

}  // namespace smdebug::rules
