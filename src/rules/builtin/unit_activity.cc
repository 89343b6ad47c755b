#include "src/rules/builtin/unit_activity.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/text.h"

namespace smdebug::rules {
namespace {

constexpr int64_t kLeastSamples = 8;
constexpr int64_t kRobustSamples = 32;
constexpr int64_t kRobustSteps = 3;

}  // namespace

UnitActivity::UnitActivity(const RuleParameters& parameters)
    : inactivity_(parameters.Number("threshold_inactivity")),
      layer_(parameters.Number("threshold_layer")),
      least_samples_(parameters.Bool("robust") ? kRobustSamples
                                               : kLeastSamples),
      least_steps_(parameters.Bool("robust") ? kRobustSteps : 1) {}

UnitActivity::Counts& UnitActivity::Begin(
    const std::pair<Mode, std::string>& layer, const BatchShape& batch) {
  Counts& counts = counts_[layer];
  const auto units = static_cast<size_t>(batch.units);
  // A batch that is enough by itself is judged by itself.
  const bool alone = least_steps_ == 1 && batch.samples >= least_samples_;
  if (alone || counts.active.size() != units) {
    counts = {.active = std::vector<int64_t>(units)};
  }
  return counts;
}

std::optional<Finding> UnitActivity::End(Counts& counts,
                                         const BatchShape& batch,
                                         const std::string& layer,
                                         std::string_view word) const {
  counts.samples += batch.samples;
  ++counts.steps;
  if (counts.samples < least_samples_ || counts.steps < least_steps_) {
    return std::nullopt;
  }
  const auto samples = static_cast<double>(counts.samples);
  const int64_t inactive =
      std::ranges::count_if(counts.active, [&](int64_t active) {
        return 100.0 * static_cast<double>(active) / samples < inactivity_;
      });
  const auto units = static_cast<int64_t>(counts.active.size());
  const double percent =
      100.0 * static_cast<double>(inactive) / static_cast<double>(units);
  counts = {};
  if (!(percent > layer_)) return std::nullopt;
  return Finding{
      .tensor = layer,
      .value = percent,
      .threshold = layer_,
      .message = fmt::format("{} of {} {} {}: {:.4g} %, above {:.4g} %",
                             inactive, base::Counted(units, "unit"),
                             base::IsOrAre(inactive), word, percent, layer_)};
}

std::vector<RuleParameter> UnitActivity::Parameters() {
  using Kind = RuleParameter::Kind;
  return {{.name = "threshold_inactivity",
           .kind = Kind::kNumber,
           .fallback = "1.0",
           .meaning = "Percent of samples; a unit that is active in fewer "
                      "counts.",
           .least = 0,
           .most = 100},
          {.name = "threshold_layer",
           .kind = Kind::kNumber,
           .fallback = "50.0",
           .meaning = "Percent of a layer's units; more of them are too many.",
           .least = 0,
           .most = 100},
          Robust()};
}

bool IsGradientName(std::string_view name) {
  return name.find("gradient") != std::string_view::npos;
}

}  // namespace smdebug::rules
