#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/rule.h"
#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/elements.h"

namespace smdebug::rules {

// How often the units of layers are active. Axis 0 of a layer's tensor counts
// samples, each position behind it is a unit; a tensor of rank 1 is one unit.
//
// A batch of fewer than 8 samples is taken together with the following steps of
// the same mode until 8 are seen. When robust, at least three steps and 32
// samples are, whatever the batch: a unit that a few samples do not excite is
// not dead. One thread at a time.
class UnitActivity {
 public:
  // From threshold_inactivity, threshold_layer and robust.
  explicit UnitActivity(const RuleParameters& parameters);

  // The finding about the layer at this step, if most of its units are hardly
  // active; `is_active` tells it of a number, `word` says what such a unit is.
  template <typename IsActive>
  std::optional<Finding> Judge(StepView& view, const std::string& layer,
                               const IsActive& is_active,
                               std::string_view word) {
    const auto value = view.At(layer);
    if (!value || value->dtype() == DType::kString || value->size() == 0) {
      return std::nullopt;
    }
    const BatchShape batch = BatchOf(*value);
    Counts& counts = Begin({view.mode(), layer}, batch);
    size_t unit = 0;
    ForEach(*value, [&](double x) {
      counts.active[unit] += is_active(x) ? 1 : 0;
      unit = unit + 1 == counts.active.size() ? 0 : unit + 1;
    });
    return End(counts, batch, layer, word);
  }

  // Whether any layer was looked at.
  bool has_judged() const noexcept { return !counts_.empty(); }

  static std::vector<RuleParameter> Parameters();

 private:
  struct Counts {
    std::vector<int64_t> active;  // By unit.
    int64_t samples = 0;
    int64_t steps = 0;
  };

  Counts& Begin(const std::pair<Mode, std::string>& layer,
                const BatchShape& batch);
  std::optional<Finding> End(Counts& counts, const BatchShape& batch,
                             const std::string& layer,
                             std::string_view word) const;

  const double inactivity_;
  const double layer_;
  const int64_t least_samples_;
  const int64_t least_steps_;
  std::map<std::pair<Mode, std::string>, Counts> counts_;
};

// Whether a name is that of a gradient.
bool IsGradientName(std::string_view name);

}  // namespace smdebug::rules
