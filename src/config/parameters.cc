#include "src/config/parameters.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "src/base/environment.h"
#include "src/base/text.h"
#include "src/config/environment.h"
#include "src/config/framework.h"
#include "src/config/nearest.h"
#include "src/config/reduction_config.h"
#include "src/config/save_config.h"

namespace smdebug::config {
namespace {

using Reader = void (*)(const Json& value, const std::string& key,
                        Parameters& into);

struct KnownParameter {
  std::string_view name;
  Reader read;
};

IncludeWorkers ReadWorkers(const Json& value, const std::string& key) {
  if (value.is_string()) {
    const std::string text = base::Lower(value.get<std::string>());
    if (text == "one") return IncludeWorkers::kOne;
    if (text == "all") return IncludeWorkers::kAll;
  }
  throw ConfigError(key, ShowJson(value), "one or all");
}

void Append(std::vector<std::string> items, std::vector<std::string>& list) {
  for (std::string& item : items) {
    if (std::ranges::find(list, item) == list.end()) {
      list.push_back(std::move(item));
    }
  }
}

constexpr auto kReadIncludeRegex = [](const Json& value, const std::string& key,
                                      Parameters& into) {
  Append(ReadRegexes(value, key), into.include_regex);
};
constexpr auto kReadReductions = [](const Json& value, const std::string& key,
                                    Parameters& into) {
  into.reductions = ReadReductions(value, key);
};

// Reads a boolean into one member.
template <std::optional<bool> Parameters::*kMember>
void ReadFlag(const Json& value, const std::string& key, Parameters& into) {
  into.*kMember = ReadBool(value, key);
}

constexpr std::array kHookParameters = {
    KnownParameter{"dry_run", ReadFlag<&Parameters::dry_run>},
    KnownParameter{"export_tensorboard",
                   ReadFlag<&Parameters::export_tensorboard>},
    KnownParameter{
        "include_collections",
        [](const Json& value, const std::string& key, Parameters& into) {
          Append(ReadNames(value, key), into.include_collections);
        }},
    KnownParameter{"include_regex", kReadIncludeRegex},
    KnownParameter{
        "include_workers",
        [](const Json& value, const std::string& key, Parameters& into) {
          into.include_workers = ReadWorkers(value, key);
        }},
    KnownParameter{"reductions", kReadReductions},
    KnownParameter{"save_all", ReadFlag<&Parameters::save_all>},
    KnownParameter{"save_raw_tensor", ReadFlag<&Parameters::save_raw_tensor>},
    KnownParameter{"save_shape", ReadFlag<&Parameters::save_shape>},
    KnownParameter{
        "tensorboard_dir",
        [](const Json& value, const std::string& key, Parameters& into) {
          into.tensorboard_dir =
              base::ExpandHome(ReadString(value, key, "a path"));
        }},
};

constexpr std::array kCollectionParameters = {
    KnownParameter{"include_regex", kReadIncludeRegex},
    KnownParameter{"reductions", kReadReductions},
    KnownParameter{"save_histogram", ReadFlag<&Parameters::save_histogram>},
    KnownParameter{"save_raw_tensor", ReadFlag<&Parameters::save_raw_tensor>},
    KnownParameter{"save_shape", ReadFlag<&Parameters::save_shape>},
    KnownParameter{
        "tensor_names",
        [](const Json& value, const std::string& key, Parameters& into) {
          Append(ReadNames(value, key), into.tensor_names);
        }},
};

constexpr std::array<std::string_view, 4> kScheduleNames = {
    "save_interval", "save_steps", "start_step", "end_step"};

std::span<const KnownParameter> KnownTo(Owner owner) {
  if (owner == Owner::kHook) return kHookParameters;
  return kCollectionParameters;
}

// A schedule key taken apart: "train.save_steps" is save_steps of TRAIN.
struct ScheduleName {
  std::optional<Mode> mode;
  std::string_view field;
};

ScheduleName SplitScheduleName(std::string_view name) {
  for (const Mode mode : kModes) {
    const std::string_view prefix = ModePrefix(mode);
    if (name.starts_with(prefix)) return {mode, name.substr(prefix.size())};
  }
  return {std::nullopt, name};
}

bool IsScheduleName(std::string_view name) {
  const std::string_view field = SplitScheduleName(name).field;
  return std::ranges::find(kScheduleNames, field) != kScheduleNames.end();
}

void ReadSchedule(const Parameter& parameter, Parameters& into) {
  const auto [mode, field] = SplitScheduleName(parameter.name);
  ScheduleKeys& keys = mode ? into.of_mode[ModeIndex(*mode)] : into.every_mode;
  if (field == "save_interval") {
    keys.save_interval = ReadInt(parameter.value, parameter.key(), 1);
  } else if (field == "start_step") {
    keys.start_step = ReadInt(parameter.value, parameter.key(), 0);
  } else if (field == "end_step") {
    keys.end_step = ReadInt(parameter.value, parameter.key(), 0);
  } else {
    keys.save_steps = ReadSteps(parameter.value, parameter.key());
  }
}

[[noreturn]] void RefuseUnknown(const Parameter& parameter, Owner owner) {
  std::vector<std::string_view> names(kScheduleNames.begin(),
                                      kScheduleNames.end());
  std::string allowed = fmt::format(
      "one of the parameters {} (each also after train., eval., predict. or "
      "global.)",
      fmt::join(names, ", "));
  for (const KnownParameter& known : KnownTo(owner)) {
    allowed += fmt::format(", {}", known.name);
    names.push_back(known.name);
  }
  const auto [mode, field] = SplitScheduleName(parameter.name);
  if (mode) names.assign(kScheduleNames.begin(), kScheduleNames.end());
  const std::string_view nearest = Nearest(field, names);
  if (!nearest.empty()) {
    allowed += fmt::format("; did you mean '{}{}'?",
                           mode ? ModePrefix(*mode) : "", nearest);
  }
  throw ConfigError(parameter.key(), ShowJson(parameter.value), allowed);
}

}  // namespace

std::vector<Parameter> ListParameters(const Json& value,
                                      const std::string& place) {
  if (value.is_null()) return {};
  if (!value.is_object()) {
    throw ConfigError(place, ShowJson(value), "an object of parameters");
  }
  std::vector<Parameter> parameters;
  for (const auto& [name, field] : value.items()) {
    parameters.push_back({name, field, place});
  }
  return parameters;
}

void Apply(const Parameter& parameter, Owner owner, Parameters& parameters) {
  const auto known = KnownTo(owner);
  const auto found =
      std::ranges::find(known, parameter.name, &KnownParameter::name);
  const bool is_schedule = IsScheduleName(parameter.name);
  if (found == known.end() && !is_schedule) RefuseUnknown(parameter, owner);
  if (parameter.value.is_null()) return;  // As if it were not there.
  if (is_schedule) {
    ReadSchedule(parameter, parameters);
  } else {
    found->read(parameter.value, parameter.key(), parameters);
  }
}

bool SayTheSame(const Parameter& a, const Parameter& b, Owner owner) {
  Parameters first;
  Parameters second;
  Apply(a, owner, first);
  Apply(b, owner, second);
  return first == second;
}

bool IsList(std::string_view parameter) noexcept {
  return parameter == "include_regex" || parameter == "tensor_names" ||
         parameter == "include_collections";
}

}  // namespace smdebug::config
