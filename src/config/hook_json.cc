#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/base/environment.h"
#include "src/config/environment.h"
#include "src/config/json_text.h"
#include "src/config/nearest.h"
#include "src/config/parameters.h"
#include "src/config/plan.h"
#include "src/config/reduction_config.h"
#include "src/config/resolve.h"
#include "src/config/save_config.h"

namespace smdebug {
namespace {

using config::Json;
using config::Owner;
using config::Parameter;
using config::Parameters;
using config::ShowJson;

constexpr std::string_view kDefaultOutDir = "/opt/ml/output/tensors";

// One entry or more of CollectionConfigurations with the same name.
struct NamedParameters {
  std::string name;
  std::string place;  // Of its first entry.
  std::vector<Parameter> written;
  Parameters parameters;
};

// The member `name` of an object, or null.
const Json& Member(const Json& object, std::string_view name) {
  static const Json kNull;
  const auto found = object.find(std::string(name));
  return found == object.end() ? kNull : *found;
}

// Other keys belong to the platform and are left alone, unless they look like
// one of ours gone wrong: that would lose the whole section without a word.
void CheckTopKeys(const Json& document) {
  constexpr std::array<std::string_view, 3> kOurs = {
      "LocalPath", "HookParameters", "CollectionConfigurations"};
  constexpr std::array<std::string_view, 3> kOfPlatform = {
      "S3OutputPath", "S3Path", "DebugHookSpecification"};
  for (const auto& [key, value] : document.items()) {
    const auto is_key = [&key = key](std::string_view name) {
      return name == key;
    };
    if (std::ranges::any_of(kOurs, is_key)) continue;
    if (std::ranges::any_of(kOfPlatform, is_key)) continue;
    const std::string_view meant = config::Nearest(key, kOurs);
    if (!meant.empty()) {
      throw ConfigError(key, ShowJson(value),
                        fmt::format("the key spelt {}", meant));
    }
  }
}

// Adds one entry's parameter to those of earlier entries of the same name. The
// same thing said twice is fine; a contradiction is not.
void AddWritten(Parameter parameter, NamedParameters& collection) {
  if (!config::IsList(parameter.name)) {
    const auto earlier = std::ranges::find_if(
        collection.written, [&parameter](const Parameter& other) {
          return other.name == parameter.name && !other.value.is_null();
        });
    if (earlier != collection.written.end() && !parameter.value.is_null() &&
        !config::SayTheSame(*earlier, parameter, Owner::kCollection)) {
      throw ConfigError(parameter.key(), ShowJson(parameter.value),
                        fmt::format("'{}', the value in {}",
                                    ShowJson(earlier->value), earlier->place));
    }
  }
  collection.written.push_back(std::move(parameter));
}

// Reads one entry of CollectionConfigurations into `collections`.
void AddEntry(const Json& entry, size_t index,
              std::vector<NamedParameters>& collections) {
  const std::string place = fmt::format("CollectionConfigurations[{}]", index);
  constexpr std::string_view kAllowed =
      "an object with CollectionName and CollectionParameters";
  if (!entry.is_object()) throw ConfigError(place, ShowJson(entry), kAllowed);
  for (const auto& [key, value] : entry.items()) {
    if (key != "CollectionName" && key != "CollectionParameters") {
      throw ConfigError(fmt::format("{}: {}", place, key), ShowJson(value),
                        kAllowed);
    }
  }
  const Json& name = Member(entry, "CollectionName");
  NamedParameters added;
  added.name = config::ReadString(name, place + ": CollectionName", "a name");
  added.place = fmt::format("{} ({})", place, added.name);

  auto found =
      std::ranges::find(collections, added.name, &NamedParameters::name);
  std::vector<Parameter> written = config::ListParameters(
      Member(entry, "CollectionParameters"), added.place);
  if (found == collections.end()) {
    found = collections.insert(collections.end(), std::move(added));
  }
  for (Parameter& parameter : written) {
    config::Apply(parameter, Owner::kCollection, found->parameters);
    AddWritten(std::move(parameter), *found);
  }
}

std::vector<NamedParameters> ReadCollections(const Json& list) {
  if (list.is_null()) return {};
  if (!list.is_array()) {
    throw ConfigError("CollectionConfigurations", ShowJson(list),
                      "an array of collections");
  }
  std::vector<NamedParameters> collections;
  for (size_t i = 0; i < list.size(); ++i) AddEntry(list[i], i, collections);
  return collections;
}

// Refuses a schedule that starts after its end, naming the parameter of
// `parameters` that brings it about.
void CheckOrder(const SaveConfig& schedules, const Parameters& parameters,
                const std::string& place) {
  for (const Mode mode : kModes) {
    const SaveConfigMode& schedule = *schedules[mode];
    if (!config::StartsAfterEnd(schedule)) continue;
    const config::ScheduleKeys& own = parameters.of_mode[ModeIndex(mode)];
    const config::ScheduleKeys& all = parameters.every_mode;
    const bool sets_start = own.start_step || all.start_step;
    const bool of_mode =
        sets_start ? own.start_step.has_value() : own.end_step.has_value();
    const std::string key =
        fmt::format("{}: {}{}", place, of_mode ? config::ModePrefix(mode) : "",
                    sets_start ? "start_step" : "end_step");
    if (sets_start) {
      throw ConfigError(
          key, fmt::to_string(schedule.start_step),
          fmt::format("at most end_step, which is {}", *schedule.end_step));
    }
    throw ConfigError(key, fmt::to_string(*schedule.end_step),
                      fmt::format("at least start_step, which is {}, or 0 to "
                                  "save no step",
                                  schedule.start_step));
  }
}

// Refuses a form that leaves nothing to save. `histogram` tells whether one
// goes to TensorBoard.
void CheckForm(const ReductionConfig& form, bool histogram,
               const std::string& place) {
  if (config::SavesAnything(form) || histogram) return;
  throw ConfigError(place + ": save_raw_tensor", "false",
                    "true, or reductions, or save_shape: nothing would be "
                    "saved");
}

// Where SageMaker wants TensorBoard files: LocalPath in a file of its own. No
// file or no path: nowhere.
std::string SageMakerTensorboardDir() {
  const std::string path = config::TensorboardConfigPath();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const Json document = config::ParseJson(config::ReadConfigFile(path), path);
  if (!document.is_object()) {
    throw ConfigError(path, ShowJson(document), "an object with LocalPath");
  }
  const Json& dir = Member(document, "LocalPath");
  if (dir.is_null()) return {};
  return base::ExpandHome(
      config::ReadString(dir, path + ": LocalPath", "a path"));
}

void SetTensorboard(const Parameters& hook, HookConfig& config) {
  if (config::InSageMaker()) {
    config.tensorboard_dir = SageMakerTensorboardDir();
    config.export_tensorboard = !config.tensorboard_dir.empty();
    return;
  }
  config.export_tensorboard = hook.export_tensorboard.value_or(false);
  config.tensorboard_dir = hook.tensorboard_dir.value_or("");
}

void AddCollection(const NamedParameters& added, const Parameters& hook,
                   HookConfig& config) {
  const Parameters& own = added.parameters;
  Collection& collection = EditCollection(config, added.name);
  if (config::HasSchedule(own)) {
    collection.save_config =
        config::ResolveSchedule(config.framework, {&hook, &own});
    CheckOrder(*collection.save_config, own, added.place);
  }
  collection.save_histogram =
      own.save_histogram.value_or(collection.save_histogram);
  if (config::HasForm(own)) {
    collection.reduction_config = config::ResolveForm(
        config.reduction_config.value_or(config::RawOnly()), own);
    CheckForm(
        *collection.reduction_config,
        collection.save_histogram && !config::TensorboardDir(config).empty(),
        added.place);
  }
  for (const std::string& regex : own.include_regex) {
    if (std::ranges::find(collection.include_regex, regex) ==
        collection.include_regex.end()) {
      collection.include_regex.push_back(regex);
    }
  }
  collection.tensor_names.insert(own.tensor_names.begin(),
                                 own.tensor_names.end());
}

}  // namespace

HookConfig ParseHookConfig(std::string_view json, Framework framework,
                           std::string_view source) {
  const Json document = config::ParseJson(json, source);
  if (!document.is_object()) {
    throw ConfigError(source, ShowJson(document),
                      "an object with LocalPath, HookParameters and "
                      "CollectionConfigurations");
  }
  CheckTopKeys(document);

  const std::string place = "HookParameters";
  Parameters hook;
  for (const Parameter& parameter :
       config::ListParameters(Member(document, place), place)) {
    config::Apply(parameter, Owner::kHook, hook);
  }

  HookConfig config;
  config.framework = framework;
  const Json& local_path = Member(document, "LocalPath");
  config.out_dir = local_path.is_null()
                       ? std::string(kDefaultOutDir)
                       : base::ExpandHome(config::ReadString(
                             local_path, "LocalPath", "a path"));
  SetTensorboard(hook, config);
  config.dry_run = hook.dry_run.value_or(false);
  config.save_all = hook.save_all.value_or(false);
  config.include_workers = hook.include_workers.value_or(IncludeWorkers::kOne);
  config.include_regex = hook.include_regex;
  if (config::HasSchedule(hook)) {
    config.save_config = config::ResolveSchedule(framework, {&hook});
    CheckOrder(*config.save_config, hook, place);
  }
  if (config::HasForm(hook)) {
    config.reduction_config = config::ResolveForm(config::RawOnly(), hook);
    CheckForm(*config.reduction_config, !config::TensorboardDir(config).empty(),
              place);
  }

  for (const NamedParameters& added :
       ReadCollections(Member(document, "CollectionConfigurations"))) {
    AddCollection(added, hook, config);
    config.include_collections.push_back(added.name);
  }
  for (const std::string& name : hook.include_collections) {
    if (std::ranges::find(config.include_collections, name) ==
        config.include_collections.end()) {
      config.include_collections.push_back(name);
    }
  }
  return config;
}

HookConfig LoadHookConfig(const std::string& path, Framework framework) {
  return ParseHookConfig(config::ReadConfigFile(path), framework, path);
}

}  // namespace smdebug
