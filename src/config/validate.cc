#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "smdebug/internal/unusable_collections.h"
#include "src/base/regex.h"
#include "src/config/framework.h"
#include "src/config/inclusion.h"
#include "src/config/nearest.h"
#include "src/config/save_config.h"

namespace smdebug {
namespace {

using Names = std::vector<std::string>;

// The collections that a hook with `config` has, in order.
Names KnownNames(const HookConfig& config) {
  std::set<std::string> known;
  for (const auto& [name, collection] : BuiltInCollections(config.framework)) {
    known.insert(name);
  }
  for (const Collection& collection : config.collections) {
    known.insert(collection.name);
  }
  return {known.begin(), known.end()};
}

// "did you mean 'weights'?" of a collection `name` that nothing is in.
std::string MeantInstead(const std::string& name, Names known) {
  std::erase(known, name);
  return config::DidYouMean(name, known);
}

// A name that no collection has could never save anything.
void CheckIncluded(const HookConfig& config, const std::string& name,
                   const Names& known) {
  if (std::ranges::binary_search(known, name) ||
      config::IsOfOtherFrameworks(config.framework, name)) {
    return;
  }
  throw ConfigError("include_collections", name, config::OneOf(name, known));
}

// Neither could a collection without regex and names, unless it is filled
// otherwise, or is another framework's.
void CheckFilled(const HookConfig& config, const Collection& collection,
                 const Names& known) {
  const std::string& name = collection.name;
  if (!collection.include_regex.empty() || !collection.tensor_names.empty() ||
      config::IsFilledByFramework(config.framework, name) ||
      config::IsOfOtherFrameworks(config.framework, name)) {
    return;
  }
  throw InvalidCollectionConfiguration(name, MeantInstead(name, known));
}

void CheckRegexes(const Collection& collection) {
  for (const std::string& pattern : collection.include_regex) {
    const base::Regex compiles(
        pattern, fmt::format("collection {}: include_regex", collection.name));
  }
}

}  // namespace

void Validate(const Collection& collection) {
  if (collection.name.empty()) {
    throw ConfigError("collection: name", "", "a name");
  }
  CheckRegexes(collection);
  if (collection.save_config) {
    config::CheckSaveConfig(*collection.save_config,
                            fmt::format("collection {}: ", collection.name));
  }
}

void Validate(const HookConfig& config) {
  for (const std::string& pattern : config.include_regex) {
    const base::Regex compiles(pattern, "include_regex");
  }
  if (config.save_config) config::CheckSaveConfig(*config.save_config, "");
  const config::Inclusion inclusion(config);
  const Names known = KnownNames(config);
  std::set<std::string_view> names;
  for (const Collection& collection : config.collections) {
    Validate(collection);
    if (!names.insert(collection.name).second) {
      throw ConfigError("collections", collection.name,
                        "each collection only once");
    }
    if (inclusion.Includes(collection.name)) {
      CheckFilled(config, collection, known);
    }
  }
  for (const std::string& name : config.include_collections) {
    CheckIncluded(config, name, known);
  }
}

namespace config {

std::vector<UnusableCollection> UnusableCollections(const HookConfig& config) {
  const Inclusion inclusion(config);
  const Names known = KnownNames(config);
  const std::vector<std::string_view> views(known.begin(), known.end());
  std::vector<UnusableCollection> unusable;
  for (const Collection& collection : config.collections) {
    try {
      CheckRegexes(collection);
      CheckFilled(config, collection, known);
    } catch (const Error& error) {
      std::vector<std::string_view> others = views;
      std::erase(others, collection.name);
      unusable.push_back({collection.name, error.what(),
                          inclusion.Includes(collection.name) ||
                              !Nearest(collection.name, others).empty()});
    }
  }
  for (const std::string& name : config.include_collections) {
    try {
      CheckIncluded(config, name, known);
    } catch (const Error& error) {
      unusable.push_back({name, error.what(), /*matters=*/true});
    }
  }
  return unusable;
}

void LeaveOutUnusable(bool can_be_completed, HookConfig& config) {
  std::set<std::string> unusable;
  for (UnusableCollection& one : UnusableCollections(config)) {
    unusable.insert(std::move(one.name));
  }
  std::set<std::string> kept;  // Though nothing is in it yet.
  if (can_be_completed) {
    for (const auto& [name, built_in] : BuiltInCollections(config.framework)) {
      kept.insert(name);
    }
    for (const Collection& one : config.collections) kept.insert(one.name);
  } else {
    std::erase_if(config.collections, [&](const Collection& one) {
      return unusable.contains(one.name);
    });
  }
  std::erase_if(config.include_collections, [&](const std::string& name) {
    return unusable.contains(name) && !kept.contains(name);
  });
}

}  // namespace config
}  // namespace smdebug
