#pragma once

#include <optional>
#include <string_view>

#include "smdebug/reduction.h"

namespace smdebug::trial {

// A reduction, and the tensor that it is of.
struct ReductionOf {
  Reduction reduction;
  std::string_view tensor;

  friend bool operator==(const ReductionOf&, const ReductionOf&) = default;
};

// "smdebug/reductions/abs_mean/fc.weight" taken apart; nullopt for the name of
// anything but a reduction. The result borrows from `name`.
inline std::optional<ReductionOf> SplitReductionName(std::string_view name) {
  const size_t prefix = name.find(kReductionPrefix);
  if (prefix == std::string_view::npos) return std::nullopt;
  name.remove_prefix(prefix + kReductionPrefix.size());
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto reduction = ParseReduction(name.substr(0, slash));
  if (!reduction) return std::nullopt;
  return ReductionOf{*reduction, name.substr(slash + 1)};
}

}  // namespace smdebug::trial
