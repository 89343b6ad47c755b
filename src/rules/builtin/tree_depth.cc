#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

// XGBoost's own max_depth.
constexpr double kUsualDepth = 6;

// "<tree>-<node>" of each row, as the columns Yes and No write it; empty if
// that cannot be told.
std::vector<std::string> RowNames(StepView& view, const Value& nodes) {
  std::vector<std::string> names;
  const auto ids = view.At("trees/ID");
  if (ids && ids->dtype() == DType::kString && ids->size() == nodes.size()) {
    for (const std::string_view id : ids->strings()) names.emplace_back(id);
    return names;
  }
  const auto trees = view.At("trees/Tree");
  if (!trees || trees->dtype() == DType::kString ||
      trees->size() != nodes.size()) {
    return names;
  }
  const std::vector<double> tree = Numbers(*trees);
  const std::vector<double> node = Numbers(nodes);
  for (size_t i = 0; i < node.size(); ++i) {
    names.push_back(fmt::format("{:.0f}-{:.0f}", tree[i], node[i]));
  }
  return names;
}

// The longest way from a root to a leaf; unset where the columns are missing.
std::optional<int64_t> TrueDepth(StepView& view, const Value& nodes) {
  const auto yes = view.At("trees/Yes");
  const auto no = view.At("trees/No");
  const auto is_column = [&](const std::optional<Value>& column) {
    return column && column->dtype() == DType::kString &&
           column->size() == nodes.size();
  };
  if (!is_column(yes) || !is_column(no)) return std::nullopt;
  const std::vector<std::string> names = RowNames(view, nodes);
  if (names.empty()) return std::nullopt;
  std::unordered_map<std::string_view, size_t> rows;
  for (size_t i = 0; i < names.size(); ++i) rows.emplace(names[i], i);

  // Rows one level below; each row once, so damaged columns end, too.
  const auto children = [&](size_t row, const auto& visit) {
    for (const Value* column : {&*yes, &*no}) {
      const auto child = rows.find(column->strings()[row]);
      if (child != rows.end()) visit(child->second);
    }
  };
  std::vector<bool> is_child(names.size());
  for (size_t row = 0; row < names.size(); ++row) {
    children(row, [&](size_t child) { is_child[child] = true; });
  }
  std::vector<size_t> level;
  for (size_t row = 0; row < names.size(); ++row) {
    if (!is_child[row]) level.push_back(row);
  }
  std::vector<bool> is_seen(names.size());
  int64_t depth = -1;
  while (!level.empty()) {
    ++depth;
    std::vector<size_t> next;
    for (const size_t row : level) {
      children(row, [&](size_t child) {
        if (is_seen[child]) return;
        is_seen[child] = true;
        next.push_back(child);
      });
    }
    level = std::move(next);
  }
  if (depth < 0) return std::nullopt;
  return depth;
}

// What a tree with that largest node has at least.
std::optional<int64_t> DepthByNumber(const Value& nodes) {
  double largest = -1;
  ForEach(nodes, [&](double x) { largest = std::fmax(largest, x); });
  if (largest < 0) return std::nullopt;
  if (largest < 1) return 0;
  return static_cast<int64_t>(std::floor(std::log2(largest)));
}

// When robust, three trees in a row have to be deeper, and a depth that was not
// given is XGBoost's own.
class TreeDepth final : public Rule {
 public:
  explicit TreeDepth(const RuleParameters& parameters)
      : robust_(parameters.Bool("robust")),
        depth_(robust_ && !parameters.IsGiven("depth")
                   ? kUsualDepth
                   : parameters.Number("depth")) {}

  std::vector<Finding> Check(StepView& view) override {
    if (view.Select({.regexes = {"^trees/Node$"}}).empty()) return {};
    const auto nodes = view.At("trees/Node");
    if (!nodes || nodes->dtype() == DType::kString) return {};
    auto depth = TrueDepth(view, *nodes);
    if (!depth) depth = DepthByNumber(*nodes);
    if (!depth) return {};
    has_judged_ = true;
    const auto value = static_cast<double>(*depth);
    const int64_t streak = deep_.Note("", value > depth_);
    if (streak < (robust_ ? kRobustStreak : 1)) return {};
    return {{.tensor = "trees/Node",
             .value = value,
             .threshold = depth_,
             .message = fmt::format("the tree is {} levels deep, more than "
                                    "{:.4g}",
                                    *depth, depth_)}};
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs the nodes of trees, trees/Node, which this run "
                         "does not save";
  }

 private:
  const bool robust_;
  const double depth_;
  Streaks deep_;
  bool has_judged_ = false;
};

}  // namespace

RuleType TreeDepthType() {
  return {.name = "TreeDepth",
          .summary = "A tree is deeper than it should be.",
          .parameters = {{.name = "depth",
                          .kind = RuleParameter::Kind::kNumber,
                          .fallback = "4",
                          .meaning = "How deep trees may be.",
                          .least = 0},
                         Robust()},
          .needs = {{"trees", {{"include_regex", "^trees/"}}}},
          .meaning =
              "XGBoost only. It fires at a step where the longest way from the "
              "root of the saved tree to a leaf has more steps than depth. "
              "Without the columns `trees/Yes` and `trees/No` the depth is "
              "floor(log2) of the largest number in `trees/Node`, which is a "
              "lower bound.\n\n"
              "Robust: three trees in a row, and deeper than 6, XGBoost's own "
              "limit, unless depth is given.",
          .make = Make<TreeDepth>};
}

}  // namespace smdebug::rules
