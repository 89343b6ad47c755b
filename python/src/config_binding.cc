#include "python/src/config_binding.h"

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/internal/class_patterns.h"
#include "smdebug/internal/did_you_mean.h"
#include "smdebug/internal/unusable_collections.h"
#include "smdebug/reduction.h"
#include "smdebug/storage.h"
#include "smdebug/tensor.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace)

namespace smdebug::python {
namespace {

using OptionalText = std::optional<std::string>;

template <typename T>
constexpr std::string_view AllowedFor() {
  if constexpr (std::is_same_v<T, bool>) return "True or False";
  if constexpr (std::is_same_v<T, Framework>) return "a Framework";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return "a list of strings";
  }
  return "a string";
}

// Raises a TypeError that names the key for a value of another type.
template <typename T>
T Get(const nb::dict& settings, const char* key) {
  const nb::object value = settings[key];
  T taken{};
  if (nb::try_cast(value, taken)) return taken;
  const nb::str shown = nb::repr(value);
  const std::string message = std::string(key) + ": " + shown.c_str() +
                              " is not allowed; expected " +
                              std::string(AllowedFor<T>());
  throw nb::type_error(message.c_str());
}

// The keys of this dict are the members of HookConfig; what is a configuration
// of its own is JSON.
nb::dict DictFrom(const HookConfig& config) {
  const auto json = [](const auto& optional) {
    return optional ? OptionalText(ToJson(*optional)) : std::nullopt;
  };
  std::vector<std::string> collections;
  for (const Collection& collection : config.collections) {
    collections.push_back(ToJson(collection));
  }
  nb::dict settings;
  settings["out_dir"] = config.out_dir;
  settings["export_tensorboard"] = config.export_tensorboard;
  settings["tensorboard_dir"] = config.tensorboard_dir;
  settings["dry_run"] = config.dry_run;
  settings["reduction_config"] = json(config.reduction_config);
  settings["save_config"] = json(config.save_config);
  settings["include_regex"] = config.include_regex;
  settings["include_collections"] = config.include_collections;
  settings["save_all"] = config.save_all;
  settings["include_workers"] =
      config.include_workers == IncludeWorkers::kAll ? "all" : "one";
  settings["collections"] = collections;
  return settings;
}

std::vector<std::string> BuiltIn(Framework framework) {
  std::vector<std::string> collections;
  for (const auto& [name, collection] : BuiltInCollections(framework)) {
    collections.push_back(ToJson(collection));
  }
  return collections;
}

nb::tuple ReductionsFrom(const std::string& json) {
  const ReductionConfig config = ReductionConfigFromJson(json);
  std::vector<std::tuple<std::string_view, bool, bool>> reductions;
  for (const Reduction& reduction : config.reductions) {
    const ReductionType& type = TypeOf(reduction.op);
    reductions.emplace_back(type.name, type.kind == ReductionKind::kNorm,
                            reduction.abs);
  }
  return nb::make_tuple(reductions, config.save_raw_tensor, config.save_shape);
}

std::string ReductionsToJson(const std::vector<std::string>& names,
                             bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor,
                         .save_shape = save_shape};
  for (const std::string& name : names) {
    config.reductions.push_back(RequireReduction("reductions", name));
  }
  return ToJson(config);
}

// Lets patterns mean the classes of the model's modules, too.
void TakeClasses(const nb::dict& settings, HookConfig& config) {
  using NameAndClass = std::pair<std::string, std::string>;
  std::vector<config::NamedModule> modules;
  for (auto& [name, class_name] :
       Get<std::vector<NameAndClass>>(settings, "modules")) {
    modules.push_back({std::move(name), std::move(class_name)});
  }
  config::TakeClasses(modules, Get<std::vector<std::string>>(settings, "names"),
                      config);
}

}  // namespace

HookConfig ConfigFrom(const nb::dict& settings) {
  HookConfig config;
  config.framework = Get<Framework>(settings, "framework");
  config.out_dir = Get<std::string>(settings, "out_dir");
  config.export_tensorboard = Get<bool>(settings, "export_tensorboard");
  config.tensorboard_dir = Get<std::string>(settings, "tensorboard_dir");
  config.dry_run = Get<bool>(settings, "dry_run");
  if (const auto json = Get<OptionalText>(settings, "reduction_config")) {
    config.reduction_config = ReductionConfigFromJson(*json);
  }
  if (const auto json = Get<OptionalText>(settings, "save_config")) {
    config.save_config = SaveConfigFromJson(*json);
  }
  config.include_regex =
      Get<std::vector<std::string>>(settings, "include_regex");
  config.include_collections =
      Get<std::vector<std::string>>(settings, "include_collections");
  config.save_all = Get<bool>(settings, "save_all");
  config.include_workers =
      Get<std::string>(settings, "include_workers") == "all"
          ? IncludeWorkers::kAll
          : IncludeWorkers::kOne;
  for (const auto& json :
       Get<std::vector<std::string>>(settings, "collections")) {
    config.collections.push_back(CollectionFromJson(json));
  }
  if (settings.contains("complete")) {
    config::LeaveOutUnusable(!Get<bool>(settings, "complete"), config);
  }
  if (settings.contains("modules")) TakeClasses(settings, config);
  return config;
}

void InitConfig(nb::module_& m) {
  nb::enum_<Framework>(m, "Framework",
                       "Whose conventions a hook follows: names, defaults and "
                       "built-in collections.")
      .value("NATIVE", Framework::kNative)
      .value("PYTORCH", Framework::kPyTorch)
      .value("TENSORFLOW", Framework::kTensorFlow)
      .value("MXNET", Framework::kMxnet)
      .value("XGBOOST", Framework::kXgboost);
  m.def(
      "load_hook_config",
      [](const OptionalText& path, Framework framework) {
        return DictFrom(
            LoadHookConfig(HookConfigPath(path.value_or("")), framework));
      },
      "path"_a.none(), "framework"_a,
      "The settings in a hook's JSON file, as Hook() takes them.");
  m.def(
      "parse_hook_config",
      [](const std::string& json, Framework framework) {
        return DictFrom(ParseHookConfig(json, framework));
      },
      "json"_a, "framework"_a, "The same from the text of such a file.");
  m.def(
      "hook_config_path",
      [](const OptionalText& path) {
        return HookConfigPath(path.value_or(""));
      },
      "path"_a.none(), "Where a hook's JSON file is.");
  m.def(
      "check_hook_config",
      [](const nb::dict& settings) {
        const HookConfig config = ConfigFrom(settings);
        Validate(config);
        RuntimeOptions::FromEnvironment();
      },
      "settings"_a, "Raises for settings that Hook() would refuse.");
  m.def(
      "unusable_collections",
      [](const nb::dict& settings) {
        std::vector<std::tuple<std::string, std::string, bool>> found;
        for (auto& [name, reason, matters] :
             config::UnusableCollections(ConfigFrom(settings))) {
          found.emplace_back(name, reason, matters);
        }
        return found;
      },
      "settings"_a,
      "(name, reason, whether users should know) of each collection for which\n"
      "nothing could ever be saved.");
  m.def(
      "check_patterns",
      [](const std::string& collection,
         const std::vector<std::string>& patterns) {
        Collection checked;
        checked.name = collection;
        checked.include_regex = patterns;
        Validate(checked);
      },
      "collection"_a, "patterns"_a,
      "Raises for a pattern that is no regular expression.");
  m.def(
      "module_pattern",
      [](const std::string& module, bool inputs, bool outputs) {
        return config::ModulePattern(std::array{module}, inputs, outputs);
      },
      "module"_a, "inputs"_a, "outputs"_a,
      "The regex of a module's inputs, outputs or both, and of nothing else.");
  m.def(
      "did_you_mean",
      [](const std::string& name, const std::vector<std::string>& names) {
        const std::string meant = config::DidYouMean(name, names);
        return meant.empty() ? meant : "; " + meant;
      },
      "name"_a, "names"_a,
      "Ends a message about an unknown name; empty if none is near.");
  m.def(
      "did_patterns_mean",
      [](const std::vector<std::string>& patterns,
         const std::vector<std::string>& names) {
        const std::string meant = config::DidPatternsMean(patterns, names);
        return meant.empty() ? meant : "; " + meant;
      },
      "patterns"_a, "names"_a, "The same for patterns that match no name.");
  m.def(
      "tensorboard_dir",
      [](const std::string& out_dir, bool export_tensorboard,
         const OptionalText& tensorboard_dir) {
        const std::string dir =
            TensorboardDir({.out_dir = out_dir,
                            .export_tensorboard = export_tensorboard,
                            .tensorboard_dir = tensorboard_dir.value_or("")});
        return dir.empty() ? OptionalText() : OptionalText(dir);
      },
      "out_dir"_a, "export_tensorboard"_a, "tensorboard_dir"_a.none(),
      "Where TensorBoard files go; None if they are not asked for.");
  m.def(
      "is_strict", [] { return RuntimeOptions::FromEnvironment().strict; },
      "Whether SMDEBUG_STRICT asks for exceptions.");
  m.def("whole_number", &RequireWholeNumber, "key"_a, "text"_a,
        "least"_a.none(),
        "The number that a string spells; raises for what is none, or less.");
  m.def("steps_from_json", &StepsFromJson, "key"_a, "json"_a,
        "Steps as a configuration may spell them.");
  m.def(
      "should_save_step",
      [](int64_t interval, int64_t start, std::optional<int64_t> end,
         std::vector<int64_t> steps, int64_t step) {
        return SaveConfigMode{.save_interval = interval,
                              .start_step = start,
                              .end_step = end,
                              .save_steps = std::move(steps)}
            .ShouldSave(step);
      },
      "save_interval"_a, "start_step"_a, "end_step"_a.none(), "save_steps"_a,
      "step"_a, "Whether a schedule saves the step.");
  m.def("read_reduction_config", &ReductionsFrom, "json"_a,
        "Name, whether it is a norm, and whether it is of absolute values, of\n"
        "all reductions; whether the value and the shape are saved.");
  m.def("write_reduction_config", &ReductionsToJson, "names"_a,
        "save_raw_tensor"_a, "save_shape"_a,
        "The JSON of what read_reduction_config() reads.");
  m.def(
      "reduction_types",
      [] {
        std::vector<std::tuple<std::string_view, bool, bool>> types;
        for (const ReductionType& type : kReductionTypes) {
          types.emplace_back(type.name, type.kind == ReductionKind::kNorm,
                             type.is_new);
        }
        return types;
      },
      "Name, whether it is a norm, and whether smdebug 1.0 lacks it.");
  m.def(
      "element_types",
      [] {
        std::vector<std::pair<std::string_view, bool>> types;
        for (const ElementType& type : kElementTypes) {
          types.emplace_back(type.name, type.in_numpy);
        }
        return types;
      },
      "Name, and whether NumPy has it, of all element types, \"str\" "
      "included.");
  m.def("built_in_collections", &BuiltIn, "framework"_a,
        "The collections that a hook starts with, as JSON.");
}

}  // namespace smdebug::python
