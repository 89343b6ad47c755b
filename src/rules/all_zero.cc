#include <fmt/format.h>

#include "src/rules/elements.h"
#include "src/rules/parameters.h"
#include "src/rules/registry.h"

namespace smdebug::rules {
namespace {

// When robust: a tensor that is zero at the beginning only, such as a bias, is
// no trouble.
constexpr int64_t kRobustSteps = 3;

class AllZero final : public Rule {
 public:
  explicit AllZero(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        threshold_(parameters.Number("threshold")),
        steps_needed_(parameters.Bool("robust") ? kRobustSteps : 1) {
    if (selection_.empty()) {
      RefuseRule(parameters,
                 "one of collection_names and tensor_regex is needed");
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (std::string& name : view.Select(selection_)) {
      const auto percent = PercentOfZeros(view, name);
      if (!percent) continue;
      int64_t& zero = zero_[name];
      zero = *percent >= threshold_ ? zero + 1 : 0;
      if (zero < steps_needed_) continue;
      findings.push_back(
          {.tensor = std::move(name),
           .value = *percent,
           .threshold = threshold_,
           .message = fmt::format("{:.4g} % of the values are zero, at least "
                                  "{:.4g} %",
                                  *percent, threshold_)});
    }
    return findings;
  }

 private:
  static std::optional<double> PercentOfZeros(StepView& view,
                                              const std::string& name) {
    if (const auto counts = view.CountsAt(name, view.step())) {
      if (counts->count == 0) return std::nullopt;
      return 100.0 * static_cast<double>(counts->zero) /
             static_cast<double>(counts->count);
    }
    const auto value = view.At(name);
    if (value && value->dtype() != DType::kString && value->size() > 0) {
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
  const int64_t steps_needed_;
  std::map<std::string, int64_t, std::less<>> zero_;  // In a row, by tensor.
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
          .make = Make<AllZero>};
}

}  // namespace smdebug::rules
