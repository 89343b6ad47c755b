#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// When robust, tensors as wholes differ: the length of their difference is this
// part of the longer one, three times in a row, so rounding is no difference.
constexpr double kRobustPart = 1e-3;

class SimilarAcrossRuns final : public Rule {
 public:
  explicit SimilarAcrossRuns(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (const std::string& name : view.Select(selection_)) {
      const auto value = view.At(name);
      for (size_t i = 0; value && view.Other(i) != nullptr; ++i) {
        const auto other = view.Other(i)->ValueAt(name, view.step());
        if (!other) continue;
        has_judged_ = true;
        const Difference difference = Compare(*value, *other);
        const int64_t streak =
            different_.Note(fmt::format("{}/{}", i, name), difference.is_one);
        if (streak < (robust_ ? kRobustStreak : 1)) continue;
        findings.push_back(
            {.tensor = name,
             .value = difference.part,
             .threshold = robust_ ? kRobustPart : kCloseness.rtol,
             .message = Describe(*value, *other, difference)});
      }
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs the values of a tensor that both runs save at "
                         "the same step";
  }

 private:
  static constexpr Closeness kCloseness{.equal_nan = true};

  struct Difference {
    bool is_one = false;
    double part = 0;  // Of the longer one.
  };

  Difference Compare(const Value& a, const Value& b) const {
    if (AllClose(a, b, kCloseness)) return {};
    const bool comparable = std::ranges::equal(a.shape(), b.shape()) &&
                            a.dtype() != DType::kString &&
                            b.dtype() != DType::kString;
    if (!comparable) return {.is_one = true, .part = 1};
    const double longer =
        std::fmax(a.Reduce({ReductionOp::kL2}), b.Reduce({ReductionOp::kL2}));
    const double part = Distance(a, b) / longer;
    // NaN in one of them only is a difference, too.
    return {.is_one = !robust_ || !(part <= kRobustPart), .part = part};
  }

  static std::string Describe(const Value& a, const Value& b,
                              const Difference& difference) {
    if (!std::ranges::equal(a.shape(), b.shape())) {
      return fmt::format("its shape is ({}) here and ({}) in the other run",
                         fmt::join(a.shape(), ", "),
                         fmt::join(b.shape(), ", "));
    }
    return fmt::format(
        "it differs from the other run's by {:.3g} of its "
        "length",
        difference.part);
  }

  const TensorSelection selection_;
  const bool robust_;
  Streaks different_;  // By run and tensor.
  bool has_judged_ = false;
};

}  // namespace

RuleType SimilarAcrossRunsType() {
  return {
      .name = "SimilarAcrossRuns",
      .summary = "A tensor differs from that of another run.",
      .parameters = {{.name = "other_trials",
                      .kind = RuleParameter::Kind::kList,
                      .meaning = "Runs to compare with."},
                     CollectionNames(),
                     TensorRegex(),
                     Robust()},
      .needs_other_trial = true,
      .meaning =
          "It fires at a step where a tensor that both runs have there is of "
          "another shape, or not close by the measure of numpy.allclose (NaN "
          "equals NaN). Without a selector all tensors are looked at. It "
          "needs values.\n\n"
          "Robust: three times in a row the length of the difference is more "
          "than a thousandth of the tensor's, so other rounding is no "
          "difference.",
      .make = Make<SimilarAcrossRuns>};
}

}  // namespace smdebug::rules
