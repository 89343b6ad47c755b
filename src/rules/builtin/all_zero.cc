#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/streaks.h"
#include "src/rules/builtin/trainable.h"

namespace smdebug::rules {
namespace {

// When robust, a tensor has to be zero three times in a row, as a bias is not
// that starts at zero. Weights frozen on purpose are left alone, and so is what
// all became zero together, as the gradients of a run that has converged.
class AllZero final : public Rule {
 public:
  explicit AllZero(const RuleParameters& parameters)
      : selection_(parameters.RequiredSelection()),
        threshold_(parameters.Number("threshold")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Zeros> tensors;
    for (std::string& name : view.Select(selection_)) {
      const auto percent = PercentOfZeros(view, name);
      if (percent) tensors.push_back({std::move(name), *percent});
    }
    has_judged_ |= !tensors.empty();
    if (robust_) KeepLasting(view, tensors);
    std::vector<Finding> findings;
    for (Zeros& zeros : tensors) {
      if (zeros.percent < threshold_) continue;
      findings.push_back(
          {.tensor = std::move(zeros.name),
           .value = zeros.percent,
           .threshold = threshold_,
           .message = fmt::format("{:.4g} % of the values are zero, at least "
                                  "{:.4g} %",
                                  zeros.percent, threshold_)});
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs numbers in the tensors that it looks at, which "
                         "this run does not save";
  }

 private:
  struct Zeros {
    std::string name;
    double percent;
  };

  void KeepLasting(StepView& view, std::vector<Zeros>& tensors) {
    trainable_.Look(view);
    const std::vector<std::string> parameters =
        view.Select({.collections = {"weights", "biases"}});
    bool any_alive = false;
    for (const Zeros& zeros : tensors) {
      if (zeros.percent >= threshold_) continue;
      any_alive = true;
      was_alive_.insert(zeros.name);
    }
    std::erase_if(tensors, [&](const Zeros& zeros) {
      const bool frozen = std::ranges::binary_search(parameters, zeros.name) &&
                          trainable_.IsFrozen(zeros.name);
      const bool faded = !any_alive && was_alive_.contains(zeros.name);
      const bool zero = zeros.percent >= threshold_ && !frozen && !faded;
      return zero_.Note(zeros.name, zero) < kRobustStreak;
    });
  }

  static std::optional<double> PercentOfZeros(StepView& view,
                                              const std::string& name) {
    if (const auto counts = view.CountsAt(name, view.step())) {
      if (counts->count == 0) return std::nullopt;
      return 100.0 * static_cast<double>(counts->zero) /
             static_cast<double>(counts->count);
    }
    if (const auto value = view.At(name)) {
      if (value->dtype() == DType::kString || value->size() == 0) {
        return std::nullopt;
      }
      int64_t zeros = 0;
      ForEach(*value, [&](double x) { zeros += x == 0 ? 1 : 0; });
      return 100.0 * static_cast<double>(zeros) /
             static_cast<double>(value->size());
    }
    // Everything is zero exactly if the largest magnitude is.
    for (const ReductionOp op :
         {ReductionOp::kMax, ReductionOp::kMean, ReductionOp::kSum}) {
      if (const auto all = view.Reduce(name, {op, /*abs=*/true})) {
        return *all == 0 ? 100.0 : 0.0;
      }
    }
    return std::nullopt;
  }

  const TensorSelection selection_;
  const double threshold_;
  const bool robust_;
  Trainable trainable_;
  std::set<std::string, std::less<>> was_alive_;
  Streaks zero_;
  bool has_judged_ = false;
};

}  // namespace

RuleType AllZeroType() {
  return {.name = "AllZero",
          .summary = "All or too many values of a tensor are zero.",
          .parameters = {CollectionNames(),
                         TensorRegex(),
                         {.name = "threshold",
                          .kind = RuleParameter::Kind::kNumber,
                          .fallback = "100",
                          .meaning = "Percent of values that are zero.",
                          .least = 0,
                          .most = 100},
                         Robust()},
          .meaning =
              "It fires at a step where at least `threshold` percent of a "
              "tensor's values are exactly zero. Counts of zeros are enough; "
              "without them, abs_max, abs_mean or abs_sum show whether all "
              "values are zero.\n\n"
              "Robust: three times in a row. Frozen weights (the run saves "
              "gradients, but none for them) are left out, and so are tensors "
              "that were not zero before and now are all of them.",
          .make = Make<AllZero>};
}

}  // namespace smdebug::rules
