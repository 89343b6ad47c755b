#include "src/cli/output/diff_text.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "src/cli/output/table.h"
#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

using query::Comparison;
using query::RunComparison;
using query::RunDifference;

constexpr size_t kMostNamed = 5;

// "12 (a, b, c, ...)".
template <typename T>
std::string CountAndFirst(const std::vector<T>& list) {
  const size_t shown = std::min(list.size(), kMostNamed);
  return fmt::format("{} ({}{})", list.size(),
                     fmt::join(std::span(list).first(shown), ", "),
                     shown < list.size() ? ", ..." : "");
}

std::string Describe(const Comparison& comparison) {
  if (!comparison.mismatch.empty()) return comparison.mismatch;
  if (comparison.count == 1) {
    return fmt::format("{} against {}", comparison.a, comparison.b);
  }
  return fmt::format("{} of {} values, most at [{}]: {} against {}",
                     comparison.differing, comparison.count, comparison.where,
                     comparison.a, comparison.b);
}

std::string LargestText(const std::vector<RunDifference>& largest,
                        const Terminal& terminal) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"tensor"},
               {"step", kRight},
               {"worker"},
               {"of"},
               {"largest", kRight},
               {"what"}});
  for (const RunDifference& difference : largest) {
    const Comparison& comparison = difference.comparison;
    table.AddRow(
        {difference.tensor, fmt::format("{}", difference.step),
         difference.worker, difference.what,
         comparison.mismatch.empty() ? ShortNumber(comparison.largest) : "",
         Describe(comparison)});
  }
  return table.Layout(terminal);
}

}  // namespace

std::string DiffText(const RunComparison& result, const Terminal& terminal) {
  std::string text;
  const auto line = [&](std::string_view label, std::string_view value) {
    text += FitLines(fmt::format("{:<16} {}\n", label, Printable(value)),
                     terminal, /*indent=*/17);
  };
  if (result.first) {
    const RunDifference& first = *result.first;
    line("first difference",
         fmt::format("step {}, '{}' of {}, {}: {}", first.step, first.tensor,
                     first.worker, first.what, Describe(first.comparison)));
  }
  line("compared", Counted(result.compared, "tensor") + " at their steps");
  const std::string different =
      result.different == 0
          ? "none"
          : fmt::format("{} ({} by name)", result.different,
                        Counted(result.tensors_different, "tensor"));
  text += fmt::format("{:<16} {}\n", "different",
                      result.different == 0
                          ? different
                          : Paint(terminal, Colour::kRed, different));
  if (result.damaged > 0) {
    line("not compared",
         Counted(result.damaged, "tensor") + " at a step, damaged");
  }
  if (!result.steps_only_a.empty()) {
    line("steps only in A", CountAndFirst(result.steps_only_a));
  }
  if (!result.steps_only_b.empty()) {
    line("steps only in B", CountAndFirst(result.steps_only_b));
  }
  if (!result.tensors_only_a.empty()) {
    line("names only in A", CountAndFirst(result.tensors_only_a));
  }
  if (!result.tensors_only_b.empty()) {
    line("names only in B", CountAndFirst(result.tensors_only_b));
  }
  if (result.entries_only_a > 0) {
    line("saved only in A", Counted(result.entries_only_a, "tensor") +
                                " at steps and of workers that B has too");
  }
  if (result.entries_only_b > 0) {
    line("saved only in B", Counted(result.entries_only_b, "tensor") +
                                " at steps and of workers that A has too");
  }
  if (!result.largest.empty()) {
    text += "\n" + LargestText(result.largest, terminal);
  }
  return text;
}

}  // namespace smdebug::cli
