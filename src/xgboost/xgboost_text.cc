#include "smdebug/internal/xgboost_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "src/base/text.h"

namespace smdebug {
namespace {

constexpr char kNone[] = "nan";

double NumberOf(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? number : std::nan("");
}

// The text behind "<key>=" up to the next comma; nullopt if it is not there.
std::optional<std::string_view> Field(std::string_view line,
                                      std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos;
       at = line.find(key, at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ',' || line[at - 1] == ' ';
    const size_t end = at + key.size();
    if (!begins || end >= line.size() || line[end] != '=') continue;
    const std::string_view rest = line.substr(end + 1);
    return rest.substr(0, rest.find(','));
  }
  return std::nullopt;
}

struct Node {
  int64_t number = 0;
  std::string feature = "Leaf";
  std::string category = kNone;
  double split = std::nan("");
  double gain = std::nan("");
  double cover = std::nan("");
  std::optional<int64_t> yes = {};
  std::optional<int64_t> no = {};
  std::optional<int64_t> missing = {};
};

// Feature, value and categories of a split: "f1<0.5", "f1:{0,2}", or the name
// alone of a feature that is there or not.
void ReadCondition(std::string_view text, std::span<const std::string> names,
                   Node& node) {
  std::string_view feature = text;
  if (const size_t at = text.rfind('<'); at != std::string_view::npos) {
    feature = text.substr(0, at);
    node.split = NumberOf(text.substr(at + 1));
  } else if (const size_t open = text.rfind(":{");
             open != std::string_view::npos && text.ends_with('}')) {
    feature = text.substr(0, open);
    node.category = text.substr(open + 2, text.size() - open - 3);
  }
  node.feature = XgboostFeature(feature, names);
}

std::optional<Node> ReadNode(std::string_view line,
                             std::span<const std::string> names) {
  line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = base::ParseInt(line.substr(0, colon));
  if (!number) return std::nullopt;
  Node node{.number = *number};
  std::string_view rest = line.substr(colon + 1);
  if (rest.starts_with('[')) {
    // Names of features may hold brackets; what follows the condition does not.
    const size_t end = rest.rfind("] yes=");
    if (end == std::string_view::npos) return std::nullopt;
    ReadCondition(rest.substr(1, end - 1), names, node);
    rest = rest.substr(end + 2);
    const auto target = [&](std::string_view key) -> std::optional<int64_t> {
      const auto text = Field(rest, key);
      return text ? base::ParseInt(*text) : std::nullopt;
    };
    node.yes = target("yes");
    node.no = target("no");
    node.missing = target("missing");
    node.gain = NumberOf(Field(rest, "gain").value_or(""));
  } else if (const auto leaf = Field(rest, "leaf")) {
    // That of a tree with several outputs, "[0.1,0.2]", has no one value.
    node.gain = NumberOf(*leaf);
  } else {
    return std::nullopt;
  }
  node.cover = NumberOf(Field(rest, "cover").value_or(""));
  return node;
}

std::string Id(int64_t tree, std::optional<int64_t> node) {
  return node ? fmt::format("{}-{}", tree, *node) : kNone;
}

void Append(int64_t tree, Node node, XgboostTrees& trees) {
  trees.tree.push_back(tree);
  trees.node.push_back(node.number);
  trees.id.push_back(Id(tree, node.number));
  trees.feature.push_back(std::move(node.feature));
  trees.split.push_back(node.split);
  trees.yes.push_back(Id(tree, node.yes));
  trees.no.push_back(Id(tree, node.no));
  trees.missing.push_back(Id(tree, node.missing));
  trees.gain.push_back(node.gain);
  trees.cover.push_back(node.cover);
  trees.category.push_back(std::move(node.category));
}

}  // namespace

std::string XgboostFeature(std::string_view called,
                           std::span<const std::string> names) {
  const auto number =
      called.starts_with('f') ? base::ParseInt(called.substr(1)) : std::nullopt;
  const bool is_named =
      number && *number >= 0 && *number < static_cast<int64_t>(names.size());
  return is_named ? names[static_cast<size_t>(*number)] : std::string(called);
}

XgboostTrees ParseXgboostTrees(std::span<const std::string_view> dumps,
                               int64_t first_tree,
                               std::span<const std::string> names) {
  XgboostTrees trees;
  int64_t tree = first_tree;
  for (std::string_view dump : dumps) {
    std::vector<Node> nodes;
    while (!dump.empty()) {
      const size_t end = std::min(dump.find('\n'), dump.size());
      if (auto node = ReadNode(dump.substr(0, end), names)) {
        nodes.push_back(*std::move(node));
      }
      dump.remove_prefix(std::min(end + 1, dump.size()));
    }
    std::ranges::sort(nodes, {}, &Node::number);
    for (Node& node : nodes) Append(tree, std::move(node), trees);
    ++tree;
  }
  return trees;
}

std::vector<std::pair<std::string, double>> ParseXgboostMetrics(
    std::string_view line) {
  std::vector<std::pair<std::string, double>> metrics;
  while (!line.empty()) {
    const size_t end = std::min(line.find('\t'), line.size());
    const std::string_view part = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    const size_t colon = part.rfind(':');
    if (colon == std::string_view::npos) continue;
    metrics.emplace_back(part.substr(0, colon),
                         NumberOf(part.substr(colon + 1)));
  }
  return metrics;
}

}  // namespace smdebug
