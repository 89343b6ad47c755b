#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "src/config/json_text.h"

namespace smdebug::config {

// The keys of one schedule as far as they were given.
struct ScheduleKeys {
  std::optional<int64_t> save_interval;
  std::optional<int64_t> start_step;
  std::optional<int64_t> end_step;
  std::optional<std::vector<int64_t>> save_steps;

  friend bool operator==(const ScheduleKeys&, const ScheduleKeys&) = default;
};

// The parameters of a hook or of a collection as far as they were given.
struct Parameters {
  ScheduleKeys every_mode;
  std::array<ScheduleKeys, 4> of_mode;  // By ModeIndex().
  std::optional<std::vector<Reduction>> reductions;
  std::optional<bool> save_raw_tensor;
  std::optional<bool> save_shape;
  std::vector<std::string> include_regex;

  // Only of a hook.
  std::optional<bool> dry_run;
  std::optional<bool> save_all;
  std::optional<bool> export_tensorboard;
  std::optional<std::string> tensorboard_dir;
  std::optional<IncludeWorkers> include_workers;
  std::vector<std::string> include_collections;

  // Only of a collection.
  std::optional<bool> save_histogram;
  std::vector<std::string> tensor_names;

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

// Whose parameters are read: each allows some of its own.
enum class Owner : uint8_t { kHook, kCollection };

// One parameter as it was written.
struct Parameter {
  std::string name;
  Json value;
  std::string place;  // "HookParameters", "CollectionConfigurations[0] (x)".

  std::string key() const { return place + ": " + name; }
};

// The parameters of the object `value`, in the order of their names; none if it
// is null. Throws ConfigError if it is anything else.
std::vector<Parameter> ListParameters(const Json& value,
                                      const std::string& place);

// Reads `parameter` into `parameters`: lists grow, anything else is replaced,
// null changes nothing. Throws ConfigError for an unknown name and for a value
// that is not allowed.
void Apply(const Parameter& parameter, Owner owner, Parameters& parameters);

// Whether both say the same, in whatever spelling.
bool SayTheSame(const Parameter& a, const Parameter& b, Owner owner);

// Whether a second value adds to the first instead of contradicting it.
bool IsList(std::string_view parameter) noexcept;

}  // namespace smdebug::config
