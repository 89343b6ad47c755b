#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/mode.h"
#include "smdebug/reduction.h"

namespace smdebug {

// When the steps of one mode are saved.
//
// A step is saved if it is listed in `save_steps`, or if start_step <= step,
// step < end_step (where set) and step is a multiple of `save_interval`.
struct SaveConfigMode {
  static constexpr int64_t kDefaultInterval = 500;

  int64_t save_interval = kDefaultInterval;
  int64_t start_step = 0;
  std::optional<int64_t> end_step = {};
  std::vector<int64_t> save_steps = {};

  bool ShouldSave(int64_t mode_step) const noexcept;

  friend bool operator==(const SaveConfigMode&,
                         const SaveConfigMode&) = default;
};

// A schedule per mode. A mode left unset takes the hook's schedule, and the
// default one where the hook has none either.
struct SaveConfig {
  std::array<std::optional<SaveConfigMode>, 4> modes;  // By ModeIndex().

  // The same schedule in every mode.
  static SaveConfig Every(const SaveConfigMode& schedule);

  std::optional<SaveConfigMode>& operator[](Mode mode) {
    return modes[ModeIndex(mode)];
  }
  const std::optional<SaveConfigMode>& operator[](Mode mode) const {
    return modes[ModeIndex(mode)];
  }

  friend bool operator==(const SaveConfig&, const SaveConfig&) = default;
};

// What of a tensor is saved. Without any configuration: the raw tensor.
struct ReductionConfig {
  std::vector<Reduction> reductions = {};
  bool save_raw_tensor = false;
  bool save_shape = false;

  friend bool operator==(const ReductionConfig&,
                         const ReductionConfig&) = default;
};

// A named group of tensors, with when and how to save them. What is unset
// comes from the hook.
struct Collection {
  std::string name = {};
  std::vector<std::string> include_regex = {};  // Python dialect, re.search.
  std::set<std::string, std::less<>> tensor_names = {};
  std::optional<ReductionConfig> reduction_config = {};
  std::optional<SaveConfig> save_config = {};
  bool save_histogram = true;

  friend bool operator==(const Collection&, const Collection&) = default;
};

// Which framework's conventions a hook follows: built-in collections and their
// regexes, default interval, spread of std and variance, names of reductions.
// kNative is for a C++ program of its own.
enum class Framework : uint8_t {
  kNative,
  kPyTorch,
  kTensorFlow,
  kMxnet,
  kXgboost,
};

enum class IncludeWorkers : uint8_t { kOne, kAll };

// Everything a hook is configured with, as arguments or from JSON.
struct HookConfig {
  std::string out_dir = {};
  bool export_tensorboard = false;
  std::string tensorboard_dir = {};  // Not empty: TensorBoard files go there.
  bool dry_run = false;
  std::optional<ReductionConfig> reduction_config = {};
  std::optional<SaveConfig> save_config = {};
  std::vector<std::string> include_regex = {};
  std::vector<std::string> include_collections = {};
  bool save_all = false;
  IncludeWorkers include_workers = IncludeWorkers::kOne;
  Framework framework = Framework::kNative;

  // Collections that are new, or that replace a built-in of the same name.
  // Use EditCollection() to change a built-in.
  std::vector<Collection> collections = {};

  friend bool operator==(const HookConfig&, const HookConfig&) = default;
};

// The collections that a hook of `framework` starts with, by name.
std::map<std::string, Collection, std::less<>> BuiltInCollections(
    Framework framework);

// The collection `name` of `config`, to be changed in place: the one in
// config.collections, else a copy of the built-in put there, else a new empty
// one put there. Valid until config.collections changes.
Collection& EditCollection(HookConfig& config, std::string_view name);

// Reads the hook's JSON configuration (docs/reference/config.md) and the
// environment variables that belong to it. Throws ConfigFileError if `path`
// cannot be read or is not JSON, ConfigError for anything that is not allowed.
HookConfig LoadHookConfig(const std::string& path, Framework framework);

// The same from a text; `source` names it in errors.
HookConfig ParseHookConfig(std::string_view json, Framework framework,
                           std::string_view source = "<text>");

// Where the hook configuration is: `path` if not empty, else the environment
// variable SMDEBUG_CONFIG_FILE_PATH, else SageMaker's own place.
std::string HookConfigPath(std::string_view path = {});

// Whether a hook of `config` saves the collection `name`: since it is included,
// by default or by save_all.
bool Includes(const HookConfig& config, std::string_view name);

// Where TensorBoard files go: config.tensorboard_dir, else
// <out_dir>/tensorboard if export_tensorboard, else empty (no export).
std::string TensorboardDir(const HookConfig& config);

// Refuses what is not allowed in a configuration made by hand: throws
// ConfigError or InvalidCollectionConfiguration. The Hook's constructor calls
// it.
void Validate(const HookConfig& config);
void Validate(const Collection& collection);

// JSON as smdebug 1.0 writes it, byte for byte, and back. From* throw
// ConfigError.
std::string ToJson(const SaveConfigMode& schedule);
std::string ToJson(const SaveConfig& config);
std::string ToJson(const ReductionConfig& config);
std::string ToJson(const Collection& collection);
SaveConfig SaveConfigFromJson(std::string_view json);
ReductionConfig ReductionConfigFromJson(std::string_view json);

// A whole number in decimal digits, of at least `least` where that is set.
// Throws ConfigError with `key`.
int64_t RequireWholeNumber(std::string_view key, std::string_view text,
                           std::optional<int64_t> least);

// Steps of at least 0, a number, an array or a string with commas between, as
// JSON. Throws ConfigError with `key`.
std::vector<int64_t> StepsFromJson(std::string_view key, std::string_view json);

// As ParseReduction(). Throws ConfigError with `key`, what is allowed and what
// may have been meant.
Reduction RequireReduction(std::string_view key, std::string_view name);
Collection CollectionFromJson(std::string_view json);

}  // namespace smdebug
