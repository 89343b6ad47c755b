#include "smdebug/reduction.h"

#include <algorithm>

namespace smdebug {

static_assert(
    [] {
      for (size_t i = 0; i < kReductionOps.size(); ++i) {
        if (static_cast<size_t>(kReductionOps[i]) != i) return false;
      }
      return true;
    }(),
    "a row for each ReductionOp, in their order");

std::string ReductionNames() {
  std::string names;
  for (const ReductionOp op : kReductionOps) {
    if (!names.empty()) names += op == kReductionOps.back() ? " or " : ", ";
    names += OpName(op);
  }
  return names + ", each also with abs_ before it";
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
  const auto type =
      std::ranges::find(kReductionTypes, name, &ReductionType::name);
  if (type == kReductionTypes.end()) return std::nullopt;
  if (norm && type->kind != ReductionKind::kNorm) return std::nullopt;
  reduction.op = type->op;
  return reduction;
}

}  // namespace smdebug
