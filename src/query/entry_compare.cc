#include "src/query/entry_compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "src/query/tensor_list.h"
#include "src/query/text.h"

namespace smdebug::query {
namespace {

bool Holds(const std::vector<Reduction>& list, Reduction reduction) {
  return std::ranges::find(list, reduction) != list.end();
}

// Whether a value gives the reduction as it would have been saved. Nothing
// tells which definition of a spread or a norm was used.
bool IsUnambiguous(Reduction reduction) {
  return TypeOf(reduction.op).kind == ReductionKind::kPlain;
}

// The reductions that both sides have or can give.
std::vector<Reduction> CommonReductions(const Tensor::Saved& a,
                                        const Tensor::Saved& b) {
  std::vector<Reduction> common;
  const auto gives = [](const Tensor::Saved& saved, Reduction reduction) {
    return Holds(saved.reductions, reduction) ||
           (saved.value && IsUnambiguous(reduction));
  };
  for (const ReductionOp op : kReductionOps) {
    for (const bool abs : {false, true}) {
      const Reduction reduction = {op, abs};
      const bool saved =
          Holds(a.reductions, reduction) || Holds(b.reductions, reduction);
      if (saved && gives(a, reduction) && gives(b, reduction)) {
        common.push_back(reduction);
      }
    }
  }
  return common;
}

// Compares one entry. One thread at a time.
class EntryComparer {
 public:
  EntryComparer(const SavedEntry& a, const SavedEntry& b, Tolerance tolerance)
      : a_(a), b_(b), tolerance_(tolerance) {}

  std::optional<EntryDifference> Compare() const {
    const Tensor::Saved a = a_.found.Saved();
    const Tensor::Saved b = b_.found.Saved();
    if (a.value && b.value) return CompareValues();
    const std::vector<Reduction> reductions = CommonReductions(a, b);
    if (!reductions.empty()) return CompareReductions(reductions);
    if ((a.value || a.shape) && (b.value || b.shape)) return CompareShapes();
    EntryDifference difference = {.what = "form"};
    difference.comparison.mismatch =
        fmt::format("{} against {}", SavedText(a), SavedText(b));
    return difference;
  }

 private:
  std::optional<EntryDifference> CompareValues() const {
    const Value a = a_.ReadValue();
    const Value b = b_.ReadValue();
    Comparison comparison = CompareTensors(a.view(), b.view(), tolerance_);
    if (comparison.equal()) return std::nullopt;
    return EntryDifference{"value", std::move(comparison)};
  }

  // The one that differs most.
  std::optional<EntryDifference> CompareReductions(
      const std::vector<Reduction>& reductions) const {
    std::optional<EntryDifference> worst;
    for (const Reduction& reduction : reductions) {
      const double a = a_.ReadReduction(reduction);
      const double b = b_.ReadReduction(reduction);
      if (IsClose(a, b, tolerance_)) continue;
      const double apart = std::abs(a - b);
      const double largest =
          std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
      if (worst && largest <= worst->comparison.largest) continue;
      worst = {ReductionName(reduction),
               {.count = 1,
                .differing = 1,
                .largest = largest,
                .where = 0,
                .a = ShortNumber(a),
                .b = ShortNumber(b),
                .mismatch = {}}};
    }
    return worst;
  }

  std::optional<EntryDifference> CompareShapes() const {
    const auto a = a_.ReadShape();
    const auto b = b_.ReadShape();
    if (a == b) return std::nullopt;
    EntryDifference difference = {.what = "shape"};
    difference.comparison.mismatch =
        fmt::format("shape {} against {}", ShapeText(a), ShapeText(b));
    return difference;
  }

  const SavedEntry& a_;
  const SavedEntry& b_;
  const Tolerance tolerance_;
};

}  // namespace

std::optional<EntryDifference> CompareEntries(const SavedEntry& a,
                                              const SavedEntry& b,
                                              Tolerance tolerance) {
  return EntryComparer(a, b, tolerance).Compare();
}

}  // namespace smdebug::query
