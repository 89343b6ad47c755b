#include "src/config/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "src/base/text.h"

namespace smdebug::config {

size_t EditDistance(std::string_view a, std::string_view b) {
  const auto same = [&](size_t i, size_t j) {
    return base::Lower(a[i]) == base::Lower(b[j]);
  };
  // Distances of the beginning of `a` from each beginning of `b`: with one
  // letter more, with as many, and with one less.
  std::vector<size_t> next(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::vector<size_t> before(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min(
          {row[j] + (same(i, j) ? 0 : 1), row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j)) {
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
      }
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> names) {
  constexpr size_t kMaxLength = 64;  // No parameter is longer.
  if (name.size() > kMaxLength) return {};
  std::string_view nearest;
  // A third of the letters may be wrong, three at most.
  size_t limit = std::min<size_t>(3, name.size() / 3) + 1;
  for (const std::string_view candidate : names) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < limit) {
      limit = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::vector<std::string> NearNames(std::string_view name,
                                   std::span<const std::string> names,
                                   size_t limit) {
  constexpr size_t kMaxLength = 256;
  if (name.empty() || name.size() > kMaxLength) return {};
  const std::string wanted = base::Lower(name);
  // A third of the letters may be wrong.
  const size_t most_edits = std::max<size_t>(1, name.size() / 3);
  std::vector<std::tuple<size_t, std::string>> ranked;
  for (const std::string& candidate : names) {
    const std::string lower = base::Lower(candidate);
    size_t rank = EditDistance(wanted, lower);
    if (rank > most_edits) {
      // Behind all misspellings, the shortest first.
      if (lower.find(wanted) == std::string::npos) continue;
      rank = most_edits + lower.size() - wanted.size();
    }
    ranked.emplace_back(rank, candidate);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> near;
  for (auto& [rank, candidate] : ranked) {
    if (near.size() == limit) break;
    near.push_back(std::move(candidate));
  }
  return near;
}

std::string DidYouMean(std::string_view name,
                       std::span<const std::string> names) {
  const std::vector<std::string> near = NearNames(name, names);
  if (near.empty()) return {};
  return fmt::format("did you mean '{}'?", fmt::join(near, "' or '"));
}

std::string OneOf(std::string_view name,
                  const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  const std::string meant = DidYouMean(name, names);
  return fmt::format("one of {}{}{}", fmt::join(names, ", "),
                     meant.empty() ? "" : "; ", meant);
}

}  // namespace smdebug::config
