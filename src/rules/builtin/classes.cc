#include "src/rules/builtin/classes.h"

#include <algorithm>
#include <cmath>

#include "src/rules/builtin/elements.h"

namespace smdebug::rules {
namespace {

int64_t CutToWhole(double x) {
  constexpr double kMost = 9e15;  // What a double holds exactly.
  return std::abs(x) < kMost ? static_cast<int64_t>(x) : kNoClass;
}

std::vector<int64_t> Map(const Value& value, int64_t (*to_class)(double)) {
  std::vector<int64_t> classes;
  classes.reserve(static_cast<size_t>(value.size()));
  ForEach(value, [&](double x) { classes.push_back(to_class(x)); });
  return classes;
}

}  // namespace

bool HasClassAxis(const Value& value) {
  return value.shape().size() > 1 && value.shape().back() > 1;
}

std::vector<int64_t> LabelClasses(const Value& labels) {
  if (HasClassAxis(labels)) return LargestOfLastAxis(labels);
  return Map(labels, CutToWhole);
}

std::vector<int64_t> LargestOfLastAxis(const Value& scores) {
  std::vector<int64_t> classes;
  if (scores.shape().empty() || scores.shape().back() == 0) return classes;
  const std::vector<double> numbers = Numbers(scores);
  const int64_t columns = scores.shape().back();
  for (auto row = numbers.begin(); row != numbers.end(); row += columns) {
    const auto largest =
        std::max_element(row, row + columns, [](double a, double b) {
          return a < b || (std::isnan(b) && !std::isnan(a));
        });
    classes.push_back(largest - row);
  }
  return classes;
}

std::vector<int64_t> NearestClasses(const Value& values) {
  return Map(values, [](double x) { return CutToWhole(std::floor(x + 0.5)); });
}

std::vector<int64_t> ThresholdedClasses(const Value& scores) {
  bool inside = IsFloating(scores.dtype());
  ForEach(scores, [&](double x) { inside = inside && x >= 0 && x <= 1; });
  return inside ? NearestClasses(scores) : Map(scores, CutToWhole);
}

std::optional<std::string> FirstMatch(StepView& view, std::string_view regex) {
  auto names = view.Select({.regexes = {std::string(regex)}});
  if (names.empty()) return std::nullopt;
  return std::move(names.front());
}

}  // namespace smdebug::rules
