#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// Names that tell which features the data has.
constexpr const char* kFeatureTensors =
    "^(?:feature_importance/[^/]+|average_shap|full_shap)/";

// When robust, the first rounds, whose trees know few features, do not count.
constexpr int64_t kWarmUp = 10;

// What a tensor tells of: "feature_importance/gain" and "f0" of
// feature_importance/gain/f0.
struct Told {
  std::string kind;
  std::string feature;
};

// Nothing of the last column of SHAP values, which is what a prediction begins
// with, and no feature.
std::optional<Told> WhatIsTold(const std::string& name) {
  size_t place = name.find('/');
  if (name.starts_with("feature_importance/") && place != std::string::npos) {
    place = name.find('/', place + 1);
  }
  if (place == std::string::npos) return Told{.kind = "", .feature = name};
  Told told = {.kind = name.substr(0, place),
               .feature = name.substr(place + 1)};
  const bool is_shap = told.kind == "average_shap" || told.kind == "full_shap";
  if (is_shap && told.feature == "bias") return std::nullopt;
  return told;
}

// When robust, it has to be so three times in a row after a warm-up, and the
// share has to be closer to 1 than to what equal features would have.
class FeatureImportanceOverweight final : public Rule {
 public:
  explicit FeatureImportanceOverweight(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        threshold_(parameters.Number("threshold")),
        nfeatures_(static_cast<size_t>(parameters.Whole("nfeatures"))),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    const std::vector<std::string> names = view.Select(selection_);
    for (const std::string& name :
         view.Select({.regexes = {kFeatureTensors}})) {
      if (const auto told = WhatIsTold(name)) features_.insert(told->feature);
    }
    // Each kind has a measure of its own, so sums are apart.
    std::map<std::string, std::vector<double>> by_kind;
    for (const std::string& name : names) {
      const auto told = WhatIsTold(name);
      if (!told) continue;
      features_.insert(told->feature);
      const auto importance = view.Reduce(name, {ReductionOp::kMean});
      // SHAP values have a sign, which says in which direction.
      if (importance) by_kind[told->kind].push_back(std::abs(*importance));
    }
    has_judged_ |= !by_kind.empty();
    std::vector<Finding> findings;
    for (auto& [kind, importances] : by_kind) {
      const std::string words = by_kind.size() == 1 ? "the importance" : kind;
      auto finding = Judge(view, kind, importances, words);
      if (finding) findings.push_back(std::move(*finding));
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs the importance of features, which this run "
                         "does not save";
  }

 private:
  std::optional<Finding> Judge(const StepView& view, const std::string& kind,
                               std::vector<double>& importances,
                               const std::string& words) {
    const double all =
        std::accumulate(importances.begin(), importances.end(), 0.0);
    if (features_.size() <= nfeatures_ || importances.empty() || all == 0) {
      return std::nullopt;
    }
    std::ranges::sort(importances, std::greater());
    const auto count = std::min(nfeatures_, importances.size());
    const double share =
        std::accumulate(importances.begin(),
                        importances.begin() + static_cast<int64_t>(count),
                        0.0) /
        all;
    const double limit = Limit();
    const bool is_warm = view.step() >= kWarmUp;
    const bool lasting =
        overweight_.Note(kind, is_warm && share > limit) >= kRobustStreak;
    if (robust_ ? !lasting : !(share > limit)) return std::nullopt;
    return Finding{
        .tensor = {},
        .value = share,
        .threshold = limit,
        .message = fmt::format(
            "{} of {} {} {:.4g} of {}, more than {:.4g}", count,
            base::Counted(static_cast<int64_t>(features_.size()), "feature"),
            count == 1 ? "has" : "have", share, words, limit)};
  }

  double Limit() const {
    if (!robust_) return threshold_;
    const double equal =
        static_cast<double>(nfeatures_) / static_cast<double>(features_.size());
    return std::max(threshold_, (1 + equal) / 2);
  }

  const TensorSelection selection_;
  const double threshold_;
  const size_t nfeatures_;
  const bool robust_;
  std::set<std::string> features_;  // Seen up to now.
  Streaks overweight_;
  bool has_judged_ = false;
};

}  // namespace

RuleType FeatureImportanceOverweightType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "FeatureImportanceOverweight",
      .summary = "A few features have almost all of the importance.",
      .parameters = {{.name = "threshold",
                      .kind = Kind::kNumber,
                      .fallback = "0.8",
                      .meaning = "Part of all importance that the largest "
                                 "features may have.",
                      .least = 0,
                      .most = 1},
                     {.name = "nfeatures",
                      .kind = Kind::kWhole,
                      .fallback = "3",
                      .meaning = "How many are the largest features.",
                      .least = 1},
                     TensorRegex(".*feature_importance/weight"),
                     Robust()},
      .needs = {{"feature_importance",
                 {{"include_regex", "^feature_importance/"},
                  {"save_interval", "500"}}}},
      .meaning =
          "XGBoost only. It fires at a step where the nfeatures most "
          "important features together have more than threshold of the sum "
          "over all matched tensors. If these are of several kinds, such as "
          "feature_importance/weight and feature_importance/gain, each is "
          "judged by itself; of SHAP values the absolute value counts. Data "
          "that has no more features than that is not judged: features are "
          "those whose names were seen in feature_importance, average_shap or "
          "full_shap. The bias of SHAP values is no feature.\n\n"
          "Robust: three times in a row, from round 10 on, and the share has "
          "to be closer to 1 than to what it would be if all features were "
          "alike.",
      .make = Make<FeatureImportanceOverweight>};
}

}  // namespace smdebug::rules
