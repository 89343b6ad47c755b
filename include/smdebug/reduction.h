#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {

// What a tensor can be reduced to. Definitions: docs/concepts.md. A new one is
// a line here, a row in kReductionTypes, and how it is computed
// (src/reduce/reduce.cc).
enum class ReductionOp : uint8_t {
  kMin,
  kMax,
  kMean,
  kMedian,
  kStd,
  kVariance,
  kSum,
  kProd,
  kL1,
  kL2,
};

// Spreads have two definitions (see Spread), and norms others in smdebug 1.0.
// Configurations write norms with "_norm" behind their names.
enum class ReductionKind : uint8_t { kPlain, kSpread, kNorm };

struct ReductionType {
  ReductionOp op;
  std::string_view name;  // Without any "abs_".
  ReductionKind kind = ReductionKind::kPlain;
  bool is_new = false;  // Not known to smdebug 1.0.
};

// In the order of ReductionOp.
inline constexpr auto kReductionTypes = [] {
  using enum ReductionOp;
  using enum ReductionKind;
  return std::to_array<ReductionType>({
      {kMin, "min"},
      {kMax, "max"},
      {kMean, "mean"},
      {kMedian, "median", kPlain, true},
      {kStd, "std", kSpread},
      {kVariance, "variance", kSpread},
      {kSum, "sum"},
      {kProd, "prod"},
      {kL1, "l1", kNorm},
      {kL2, "l2", kNorm},
  });
}();

inline constexpr auto kReductionOps = [] {
  std::array<ReductionOp, kReductionTypes.size()> ops{};
  for (size_t i = 0; i < ops.size(); ++i) ops[i] = kReductionTypes[i].op;
  return ops;
}();

// What the name of a saved reduction begins with; a ReductionName(), a slash
// and the name of the tensor follow.
inline constexpr std::string_view kReductionPrefix = "smdebug/reductions/";

// A reduction of the values, or of their absolute values.
struct Reduction {
  ReductionOp op = ReductionOp::kMean;
  bool abs = false;

  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// Whether std and variance divide by n or by n - 1 (NaN for one element).
enum class Spread : uint8_t { kPopulation, kSample };

constexpr const ReductionType& TypeOf(ReductionOp op) noexcept {
  return kReductionTypes[static_cast<size_t>(op)];
}

// "min", "l1", ... without any "abs_".
constexpr std::string_view OpName(ReductionOp op) noexcept {
  return TypeOf(op).name;
}

// For messages: "min, max, ... or l2, each also with abs_ before it".
std::string ReductionNames();

// "min", "abs_mean", "abs_l2", ...: the spelling inside a saved tensor's name.
std::string ReductionName(Reduction reduction);

// Accepts every documented spelling: "mean", "abs_mean", "l1", "l1_norm",
// "abs_l1", "abs_l1_norm". nullopt for any other text.
std::optional<Reduction> ParseReduction(std::string_view name);

}  // namespace smdebug
