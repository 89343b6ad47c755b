#include "src/config/save_config.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/json_writer.h"

namespace smdebug {

bool SaveConfigMode::ShouldSave(int64_t mode_step) const noexcept {
  if (std::ranges::find(save_steps, mode_step) != save_steps.end()) return true;
  if (mode_step < start_step) return false;
  if (end_step && mode_step >= *end_step) return false;
  return save_interval > 0 && mode_step % save_interval == 0;
}

SaveConfig SaveConfig::Every(const SaveConfigMode& schedule) {
  SaveConfig config;
  config.modes.fill(schedule);
  return config;
}

std::string ToJson(const SaveConfigMode& schedule) {
  base::JsonWriter json;
  json.BeginObject();
  json.Key("save_interval").Int(schedule.save_interval);
  json.Key("save_steps").BeginArray();
  for (const int64_t step : schedule.save_steps) json.Int(step);
  json.EndArray();
  json.Key("start_step").Int(schedule.start_step);
  json.Key("end_step");
  if (schedule.end_step) {
    json.Int(*schedule.end_step);
  } else {
    json.Null();
  }
  return json.EndObject().Take();
}

std::string ToJson(const SaveConfig& config) {
  base::JsonWriter json;
  json.BeginObject();
  for (const Mode mode : kModes) {
    json.Key(ModeName(mode));
    if (config[mode]) {
      json.Raw(ToJson(*config[mode]));
    } else {
      json.Null();
    }
  }
  return json.EndObject().Take();
}

SaveConfig SaveConfigFromJson(std::string_view json) {
  return config::ReadSaveConfig(config::ParseJsonValue(json, "save_config"),
                                "save_config");
}

namespace config {
namespace {

constexpr std::array kScheduleKeys = {"save_interval", "save_steps",
                                      "start_step", "end_step"};

// Stored numbers are read as they are: a run of smdebug 1.0 may hold any.
int64_t StoredInt(const Json& value, const std::string& key) {
  return ReadInt(value, key, std::numeric_limits<int64_t>::min());
}

SaveConfigMode ReadSchedule(const Json& value, const std::string& place) {
  if (!value.is_object()) {
    throw ConfigError(place, ShowJson(value), "an object or null");
  }
  SaveConfigMode schedule;
  for (const auto& [name, field] : value.items()) {
    const std::string key = fmt::format("{}.{}", place, name);
    if (field.is_null()) continue;
    if (name == "save_interval") {
      schedule.save_interval = StoredInt(field, key);
    } else if (name == "start_step") {
      schedule.start_step = StoredInt(field, key);
    } else if (name == "end_step") {
      schedule.end_step = StoredInt(field, key);
    } else if (name == "save_steps") {
      if (!field.is_array()) {
        throw ConfigError(key, ShowJson(field), "an array of steps");
      }
      for (const Json& step : field) {
        schedule.save_steps.push_back(StoredInt(step, key));
      }
    }
  }
  return schedule;
}

// Whether `value` is one schedule for all modes, as old runs have it.
bool IsFlat(const Json& value) {
  for (const auto& [name, field] : value.items()) {
    if (ParseMode(name)) return false;
  }
  return std::ranges::any_of(
      kScheduleKeys, [&value](const char* key) { return value.contains(key); });
}

}  // namespace

std::string_view ModePrefix(Mode mode) noexcept {
  constexpr std::array<std::string_view, 4> kPrefixes = {"train.", "eval.",
                                                         "predict.", "global."};
  return kPrefixes[ModeIndex(mode)];
}

bool StartsAfterEnd(const SaveConfigMode& schedule) noexcept {
  return schedule.end_step && *schedule.end_step != 0 &&
         schedule.start_step > *schedule.end_step;
}

void CheckSaveConfig(const SaveConfig& config, std::string_view place) {
  for (const Mode mode : kModes) {
    if (!config[mode]) continue;
    const SaveConfigMode& schedule = *config[mode];
    const auto check = [&](std::string_view field, int64_t value,
                           int64_t least) {
      if (value >= least) return;
      throw ConfigError(fmt::format("{}{}{}", place, ModePrefix(mode), field),
                        fmt::to_string(value),
                        fmt::format("a whole number of at least {}", least));
    };
    check("save_interval", schedule.save_interval, 1);
    check("start_step", schedule.start_step, 0);
    check("end_step", schedule.end_step.value_or(0), 0);
    for (const int64_t step : schedule.save_steps) check("save_steps", step, 0);
    if (StartsAfterEnd(schedule)) {
      throw ConfigError(
          fmt::format("{}{}start_step", place, ModePrefix(mode)),
          fmt::to_string(schedule.start_step),
          fmt::format("at most end_step, which is {}", *schedule.end_step));
    }
  }
}

SaveConfig ReadSaveConfig(const Json& value, const std::string& place) {
  if (!value.is_object()) {
    throw ConfigError(place, ShowJson(value), "an object or null");
  }
  if (IsFlat(value)) return SaveConfig::Every(ReadSchedule(value, place));
  SaveConfig config;
  for (const auto& [name, schedule] : value.items()) {
    const auto mode = ParseMode(name);
    if (!mode) {
      throw ConfigError(place, name,
                        OneOf(name, {"TRAIN", "EVAL", "PREDICT", "GLOBAL"}));
    }
    if (schedule.is_null()) continue;
    config[*mode] = ReadSchedule(schedule, fmt::format("{}.{}", place, name));
  }
  return config;
}

}  // namespace config
}  // namespace smdebug
