#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {

// What a tensor can be reduced to. Definitions: docs/concepts.md.
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

inline constexpr std::array<ReductionOp, 10> kReductionOps = {
    ReductionOp::kMin,    ReductionOp::kMax,  ReductionOp::kMean,
    ReductionOp::kMedian, ReductionOp::kStd,  ReductionOp::kVariance,
    ReductionOp::kSum,    ReductionOp::kProd, ReductionOp::kL1,
    ReductionOp::kL2};

// A reduction of the values, or of their absolute values.
struct Reduction {
  ReductionOp op = ReductionOp::kMean;
  bool abs = false;

  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// Whether std and variance divide by n or by n - 1 (NaN for one element).
enum class Spread : uint8_t { kPopulation, kSample };

// "min", "l1", ... without any "abs_".
std::string_view OpName(ReductionOp op) noexcept;

// "min", "abs_mean", "abs_l2", ...: the spelling inside a saved tensor's name.
std::string ReductionName(Reduction reduction);

// Accepts every documented spelling: "mean", "abs_mean", "l1", "l1_norm",
// "abs_l1", "abs_l1_norm". nullopt for any other text.
std::optional<Reduction> ParseReduction(std::string_view name);

}  // namespace smdebug
