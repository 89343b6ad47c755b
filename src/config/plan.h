#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "src/base/regex.h"

namespace smdebug::config {

// A collection with everything it takes from the hook filled in.
struct PlannedCollection {
  // save_config has all four modes and reduction_config is set.
  Collection collection;
  std::vector<base::Regex> regexes;
  // Whether its tensors are saved when due.
  bool saved = false;
  // Saved raw whatever is configured; in TensorBoard as scalars: losses,
  // metrics and their like.
  bool scalar_like = false;
  // Never due in EVAL and PREDICT: gradients, optimizer_variables.
  bool train_only = false;

  const SaveConfigMode& Schedule(Mode mode) const {
    return *(*collection.save_config)[mode];
  }
  const ReductionConfig& Form() const { return *collection.reduction_config; }

  // Whether `name` is listed or matched.
  bool Matches(std::string_view name) const;
};

// The effective configuration of a hook: every collection, by name.
using Plan = std::map<std::string, PlannedCollection, std::less<>>;

// Validates `config` and resolves it (docs/reference/config.md, "Merging").
// Throws ConfigError or InvalidCollectionConfiguration.
Plan MakePlan(const HookConfig& config);

// A collection made while training, by SaveTensor(): it takes everything from
// the hook and is saved.
PlannedCollection PlanNewCollection(const HookConfig& config,
                                    std::string_view name);

// What std and variance mean by default for `framework`.
Spread DefaultSpread(Framework framework) noexcept;

// "smdebug/reductions/<reduction>/<tensor>" in the framework's spelling.
std::string ReductionTensorName(Framework framework, Reduction reduction,
                                std::string_view tensor);

// Whether readers would take a tensor of that name for a reduction of another.
bool IsReservedName(std::string_view name) noexcept;

using smdebug::TensorboardDir;

}  // namespace smdebug::config
