#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/config.h"
#include "src/config/framework.h"

namespace smdebug {
namespace {

// A collection every hook of a framework has; an empty regex means that only
// the framework's shim, or the user, puts tensors into it.
struct BuiltIn {
  std::string_view name;
  std::string_view regex;
  // Needs no regex or tensor names of its own.
  bool filled_by_framework = true;
};

constexpr std::string_view kWeights = "^(?!gradient).*weight";
constexpr std::string_view kBiases = "^(?!gradient).*bias";
constexpr std::string_view kGradients = "^gradient";

// Every pattern is also valid in Python, whose readers compile it again.
//
// A native program names its tensors freely, so a loss is any name with "loss"
// in it that is neither a gradient, a reduction nor an input of a loss.
constexpr std::array kNative = {
    BuiltIn{"all", ""},
    BuiltIn{"default", ""},
    BuiltIn{"weights", kWeights},
    BuiltIn{"biases", kBiases},
    BuiltIn{"gradients", kGradients},
    BuiltIn{"losses", R"((?i)^(?!gradient|smdebug/reductions/))"
                      R"((?!.*_inputs?(?:_\d+)?$).*loss)"},
};

constexpr std::array kPyTorch = {
    BuiltIn{"all", ""},
    BuiltIn{"default", ""},
    BuiltIn{"weights", kWeights},
    BuiltIn{"biases", kBiases},
    BuiltIn{"gradients", kGradients},
    BuiltIn{"losses", "[Ll]oss_(?!input).*output"},
};

constexpr std::array kTensorFlow = {
    BuiltIn{"all", ""},        BuiltIn{"default", ""},
    BuiltIn{"weights", ""},    BuiltIn{"biases", kBiases},
    BuiltIn{"gradients", ""},  BuiltIn{"losses", ""},
    BuiltIn{"metrics", ""},    BuiltIn{"inputs", ""},
    BuiltIn{"outputs", ""},    BuiltIn{"layers", ""},
    BuiltIn{"sm_metrics", ""}, BuiltIn{"optimizer_variables", ""},
};

// smdebug 1.0 allows one character between "loss" and "_"; Gluon numbers its
// blocks, so several digits are as good.
constexpr std::array kMxnet = {
    BuiltIn{"all", ""},
    BuiltIn{"default", ""},
    BuiltIn{"weights", kWeights},
    BuiltIn{"biases", kBiases},
    BuiltIn{"gradients", kGradients},
    BuiltIn{"losses", R"(.*loss(?:.|\d+)_(?!input).*output)"},
};

// A metric is "<evaluation set>-<metric>", such as "validation_0-rmse" or
// "train-ndcg@5-". A loss is a metric that is better when lower, which leaves
// out the ranking scores and accuracies. Other tensors have a slash.
constexpr std::array kXgboost = {
    BuiltIn{"all", ""},
    BuiltIn{"default", ""},
    BuiltIn{"hyperparameters", "^hyperparameters/.*$"},
    BuiltIn{"metrics", "^[^/]+-[^/]+$", false},
    BuiltIn{"losses",
            "^(?![^/]*(?:auc|map|accuracy)$)"
            "(?![^/]*-(?:auc|aucpr|pre|map|ndcg)(?:@[^/]*|-)?$)"
            "[^/]+-[^/]+$",
            false},
    BuiltIn{"predictions", "^predictions$"},
    BuiltIn{"labels", "^labels$"},
    BuiltIn{"feature_importance", "^feature_importance/.*"},
    BuiltIn{"average_shap", "^average_shap/(?!bias$).+"},
    BuiltIn{"average_shap_signed", "^average_shap_signed/(?!bias$).+"},
    BuiltIn{"full_shap", "^full_shap/(?!bias$).+"},
    BuiltIn{"trees", "^trees/.*"},
};

std::span<const BuiltIn> BuiltInsOf(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return kPyTorch;
    case Framework::kTensorFlow:
      return kTensorFlow;
    case Framework::kMxnet:
      return kMxnet;
    case Framework::kXgboost:
      return kXgboost;
    case Framework::kNative:
      break;
  }
  return kNative;
}

}  // namespace

std::map<std::string, Collection, std::less<>> BuiltInCollections(
    Framework framework) {
  std::map<std::string, Collection, std::less<>> collections;
  for (const BuiltIn& built_in : BuiltInsOf(framework)) {
    Collection collection;
    collection.name = built_in.name;
    if (!built_in.regex.empty()) {
      collection.include_regex.emplace_back(built_in.regex);
    }
    collections.emplace(built_in.name, std::move(collection));
  }
  return collections;
}

Collection& EditCollection(HookConfig& config, std::string_view name) {
  const auto found =
      std::ranges::find(config.collections, name, &Collection::name);
  if (found != config.collections.end()) return *found;
  const auto built_ins = BuiltInCollections(config.framework);
  const auto built_in = built_ins.find(name);
  Collection collection;
  if (built_in != built_ins.end()) {
    collection = built_in->second;
  } else {
    collection.name = name;
  }
  return config.collections.emplace_back(std::move(collection));
}

namespace config {

bool IsFilledByFramework(Framework framework, std::string_view name) {
  const auto built_ins = BuiltInsOf(framework);
  const auto found = std::ranges::find(built_ins, name, &BuiltIn::name);
  return found != built_ins.end() && found->filled_by_framework;
}

std::vector<Framework> FrameworksWith(std::string_view name) {
  std::vector<Framework> frameworks;
  for (const Framework framework :
       {Framework::kNative, Framework::kPyTorch, Framework::kTensorFlow,
        Framework::kMxnet, Framework::kXgboost}) {
    const auto built_ins = BuiltInsOf(framework);
    if (std::ranges::find(built_ins, name, &BuiltIn::name) != built_ins.end()) {
      frameworks.push_back(framework);
    }
  }
  return frameworks;
}

bool IsOfOtherFrameworks(Framework framework, std::string_view name) {
  const std::vector<Framework> with = FrameworksWith(name);
  return !with.empty() && std::ranges::find(with, framework) == with.end();
}

std::string OtherFrameworks(Framework framework, std::string_view name) {
  if (!IsOfOtherFrameworks(framework, name)) return {};
  std::vector<std::string_view> names;
  for (const Framework other : FrameworksWith(name)) {
    if (other != Framework::kNative) names.push_back(FrameworkName(other));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::span<const std::string_view> DefaultIncluded(Framework framework) {
  static constexpr std::array<std::string_view, 1> kLosses = {"losses"};
  static constexpr std::array<std::string_view, 3> kTensorFlowDefaults = {
      "metrics", "losses", "sm_metrics"};
  static constexpr std::array<std::string_view, 1> kMetrics = {"metrics"};
  switch (framework) {
    case Framework::kTensorFlow:
      return kTensorFlowDefaults;
    case Framework::kXgboost:
      return kMetrics;
    case Framework::kNative:
    case Framework::kPyTorch:
    case Framework::kMxnet:
      break;
  }
  return kLosses;
}

}  // namespace config
}  // namespace smdebug
