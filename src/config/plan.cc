#include "src/config/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/base/environment.h"
#include "src/config/environment.h"
#include "src/config/framework.h"
#include "src/config/inclusion.h"
#include "src/config/reduction_config.h"

namespace smdebug::config {
namespace {

// Hold single numbers, or close to it.
constexpr std::array<std::string_view, 6> kScalarLike = {"losses",
                                                         "metrics",
                                                         "feature_importance",
                                                         "average_shap",
                                                         "average_shap_signed",
                                                         "sm_metrics"};
// Evaluation and prediction have none, or stale ones.
constexpr std::array<std::string_view, 2> kTrainOnly = {"gradients",
                                                        "optimizer_variables"};

template <size_t kCount>
bool Contains(const std::array<std::string_view, kCount>& names,
              std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// `collection` with everything that it leaves open taken from the hook.
PlannedCollection Fill(const HookConfig& config, Collection collection) {
  PlannedCollection planned;
  planned.scalar_like = Contains(kScalarLike, collection.name);
  planned.train_only = Contains(kTrainOnly, collection.name);
  if (planned.scalar_like) {
    collection.reduction_config = RawOnly();
    collection.save_histogram = false;
  } else if (!collection.reduction_config) {
    collection.reduction_config = config.reduction_config.value_or(RawOnly());
  }
  std::vector<Reduction>& reductions = collection.reduction_config->reductions;
  reductions = InWrittenOrder(reductions);
  if (!collection.save_config) collection.save_config.emplace();
  for (const Mode mode : kModes) {
    std::optional<SaveConfigMode>& schedule = (*collection.save_config)[mode];
    if (!schedule && config.save_config) schedule = (*config.save_config)[mode];
    if (!schedule) schedule = DefaultSchedule(config.framework);
  }
  for (const std::string& pattern : collection.include_regex) {
    planned.regexes.emplace_back(
        pattern, "collection " + collection.name + ": include_regex");
  }
  planned.collection = std::move(collection);
  return planned;
}

}  // namespace

bool PlannedCollection::Matches(std::string_view name) const {
  return collection.tensor_names.contains(name) ||
         std::ranges::any_of(regexes, [name](const base::Regex& regex) {
           return regex.Search(name);
         });
}

Plan MakePlan(const HookConfig& config) {
  Validate(config);
  auto collections = BuiltInCollections(config.framework);
  for (const Collection& collection : config.collections) {
    collections.insert_or_assign(collection.name, collection);
  }
  for (const std::string& name : config.include_collections) {
    collections[name].name = name;  // Those of other frameworks are missing.
  }
  const Inclusion inclusion(config);
  if (inclusion.Includes("all")) {
    collections["all"].include_regex.emplace_back(".*");
  }
  std::vector<std::string>& of_default = collections["default"].include_regex;
  of_default.insert(of_default.end(), config.include_regex.begin(),
                    config.include_regex.end());

  Plan plan;
  for (auto& [name, collection] : collections) {
    PlannedCollection planned = Fill(config, std::move(collection));
    planned.saved = inclusion.Includes(name);
    plan.emplace(name, std::move(planned));
  }
  return plan;
}

PlannedCollection PlanNewCollection(const HookConfig& config,
                                    std::string_view name) {
  Collection collection;
  collection.name = name;
  PlannedCollection planned = Fill(config, std::move(collection));
  planned.saved = true;
  return planned;
}

}  // namespace smdebug::config

namespace smdebug {

std::string TensorboardDir(const HookConfig& config) {
  if (!config.tensorboard_dir.empty()) {
    return base::ExpandHome(config.tensorboard_dir);
  }
  if (!config.export_tensorboard) return {};
  std::string dir = base::ExpandHome(config.out_dir);
  if (!dir.ends_with('/')) dir += '/';
  return dir += "tensorboard";
}

}  // namespace smdebug
