#include <cmath>
#include <string>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// How many numbers of a tensor are not finite. Unset: it cannot be known.
struct NotFinite {
  int64_t nan = 0;
  int64_t infinite = 0;
  int64_t positive = 0;  // Of the infinite ones.
  bool counted = true;   // Else only seen through reductions.
};

// How often in a row infinities are seen before they count, when robust.
constexpr int64_t kRobustInfinite = 2;

// NaN is ordinary there.
bool IsTreeTable(std::string_view name) { return name.starts_with("trees/"); }

// "1 value is NaN", "2 values are infinite", "1 value is NaN and 2 are
// infinite".
std::string DescribeCounts(int64_t nan, int64_t infinite) {
  const auto values = [](int64_t count) {
    return fmt::format("{} {}", base::Counted(count, "value"),
                       base::IsOrAre(count));
  };
  if (infinite == 0) return values(nan) + " NaN";
  if (nan == 0) return values(infinite) + " infinite";
  return fmt::format("{} NaN and {} {} infinite", values(nan), infinite,
                     base::IsOrAre(infinite));
}

// When robust, infinities have to be there twice in a row, as those of a step
// that loss scaling skips are not (the view hides them where the run says so),
// and not all be negative, as those of a mask are. NaN fires at once.
class ExplodingTensor final : public Rule {
 public:
  explicit ExplodingTensor(const RuleParameters& parameters)
      : rule_(parameters.rule()),
        selection_(parameters.Selection()),
        only_nan_(parameters.Bool("only_nan")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (std::string& name : view.Select(selection_)) {
      if (selection_.empty() && IsTreeTable(name)) continue;
      const auto found = Look(view, name);
      if (!found) continue;
      has_judged_ = true;
      const int64_t bad = found->nan + (only_nan_ ? 0 : found->infinite);
      const int64_t infinite = infinite_.Note(name, found->positive > 0);
      if (bad == 0) continue;
      if (robust_ && found->nan == 0 && infinite < kRobustInfinite) continue;
      findings.push_back(
          {.tensor = std::move(name),
           .value = static_cast<double>(bad),
           .threshold = 0,
           .message = found->counted
                          ? DescribeCounts(found->nan, found->infinite)
                          : std::string("a reduction of it is not finite")});
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs numbers in the tensors that it looks at, which "
                         "this run does not save";
  }

 private:
  std::optional<NotFinite> Look(StepView& view, const std::string& name) {
    if (const auto counts = view.CountsAt(name, view.step())) {
      return NotFinite{.nan = counts->nan,
                       .infinite = counts->pos_inf + counts->neg_inf,
                       .positive = counts->pos_inf};
    }
    if (const auto value = view.At(name)) {
      NotFinite found;
      if (value->dtype() == DType::kString) return std::nullopt;
      if (!IsFloating(value->dtype())) return found;
      ForEach(*value, [&](double x) {
        found.nan += std::isnan(x) ? 1 : 0;
        found.infinite += std::isinf(x) ? 1 : 0;
        found.positive += std::isinf(x) && x > 0 ? 1 : 0;
      });
      return found;
    }
    return LookAtReductions(view, name);
  }

  std::optional<NotFinite> LookAtReductions(StepView& view,
                                            const std::string& name) {
    NotFinite found{.counted = false};
    bool any = false;
    for (const ReductionOp op : {ReductionOp::kMin, ReductionOp::kMax,
                                 ReductionOp::kMean, ReductionOp::kSum}) {
      const auto value = view.Reduce(name, {op});
      if (!value) continue;
      any = true;
      if (std::isnan(*value)) found.nan = 1;
      if (std::isinf(*value)) found.infinite = 1;
      if (std::isinf(*value) && *value > 0) found.positive = 1;
    }
    if (!any) return std::nullopt;
    if (only_nan_) {
      throw InsufficientInformation(
          rule_, fmt::format("only_nan needs the values of '{}' or counts of "
                             "NaN, and this run has only reductions of it",
                             name));
    }
    return found;
  }

  const std::string rule_;
  const TensorSelection selection_;
  const bool only_nan_;
  const bool robust_;
  Streaks infinite_;
  bool has_judged_ = false;
};

}  // namespace

RuleType ExplodingTensorType() {
  return {.name = "ExplodingTensor",
          .summary = "A tensor holds NaN or infinite values.",
          .parameters = {CollectionNames(),
                         TensorRegex(),
                         {.name = "only_nan",
                          .kind = RuleParameter::Kind::kBool,
                          .fallback = "false",
                          .meaning = "Leave infinite values alone."},
                         Robust()},
          .meaning =
              "It fires at a step where a tensor holds a NaN, or an infinite "
              "value unless only_nan is set. Without a selector it looks at "
              "every tensor but XGBoost's `trees/*`, where NaN is ordinary. "
              "Counts of NaN and infinities are enough; without them a min, "
              "max, mean or sum that is not finite is enough, but only_nan "
              "cannot be judged.\n\n"
              "Robust: infinities count if they are there twice in a row and "
              "not all negative, so it does not fire for masks, or where a run "
              "does not say which steps loss scaling has skipped. NaN counts "
              "at once.",
          .make = Make<ExplodingTensor>};
}

}  // namespace smdebug::rules
