#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {

// The nodes of trees as columns, one row per node: what XGBoost's
// Booster.trees_to_dataframe() has. What a node does not have is NaN, or the
// text "nan". A leaf has the feature "Leaf", and its value as gain.
struct XgboostTrees {
  std::vector<int64_t> tree;
  std::vector<int64_t> node;
  std::vector<std::string> id;  // "<tree>-<node>", as in yes, no and missing.
  std::vector<std::string> feature;
  std::vector<double> split;
  std::vector<std::string> yes;
  std::vector<std::string> no;
  std::vector<std::string> missing;
  std::vector<double> gain;
  std::vector<double> cover;
  std::vector<std::string> category;  // Separated by commas.
};

// The name of a feature that XGBoost calls "f<n>": names[n]. Any other, and one
// beyond the names, is its own.
std::string XgboostFeature(std::string_view called,
                           std::span<const std::string> names);

// Reads XGBoost's text dumps of trees, the first of which has the number
// `first_tree`; rows are in the order of trees, then of nodes. Features are
// named by XgboostFeature(). Lines that are no node are passed over.
XgboostTrees ParseXgboostTrees(std::span<const std::string_view> dumps,
                               int64_t first_tree,
                               std::span<const std::string> names = {});

// The metrics of one round, "<data set>-<metric>" and value, from what
// XGBoosterEvalOneIter() returns: "[7]\ttrain-rmse:0.5\ttest-rmse:0.6".
std::vector<std::pair<std::string, double>> ParseXgboostMetrics(
    std::string_view line);

}  // namespace smdebug
