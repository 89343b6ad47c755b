#include "smdebug/reduction.h"

#include <algorithm>

namespace smdebug {

std::string_view OpName(ReductionOp op) noexcept {
  constexpr std::array<std::string_view, 10> kNames = {
      "min",      "max", "mean", "median", "std",
      "variance", "sum", "prod", "l1",     "l2"};
  return kNames[static_cast<size_t>(op)];
}

std::string ReductionName(Reduction reduction) {
  std::string name(reduction.abs ? "abs_" : "");
  return name += OpName(reduction.op);
}

std::optional<Reduction> ParseReduction(std::string_view name) {
  constexpr std::string_view kAbs = "abs_";
  constexpr std::string_view kNorm = "_norm";
  Reduction reduction;
  if (name.starts_with(kAbs)) {
    reduction.abs = true;
    name.remove_prefix(kAbs.size());
  }
  const bool norm = name.ends_with(kNorm);
  if (norm) name.remove_suffix(kNorm.size());
  const auto op = std::ranges::find(kReductionOps, name, OpName);
  if (op == kReductionOps.end()) return std::nullopt;
  reduction.op = *op;
  const bool is_norm =
      reduction.op == ReductionOp::kL1 || reduction.op == ReductionOp::kL2;
  if (norm && !is_norm) return std::nullopt;
  return reduction;
}

}  // namespace smdebug
