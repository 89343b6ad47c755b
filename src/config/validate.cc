#include <set>
#include <string>

#include "smdebug/config.h"
#include "smdebug/error.h"
#include "src/base/regex.h"
#include "src/config/framework.h"
#include "src/config/inclusion.h"
#include "src/config/nearest.h"
#include "src/config/save_config.h"

namespace smdebug {
namespace {

// A name that no collection has could never save anything.
void CheckIncluded(const HookConfig& config) {
  std::set<std::string, std::less<>> known;
  for (const auto& [name, collection] : BuiltInCollections(config.framework)) {
    known.insert(name);
  }
  for (const Collection& collection : config.collections) {
    known.insert(collection.name);
  }
  for (const std::string& name : config.include_collections) {
    if (known.contains(name)) continue;
    throw ConfigError("include_collections", name,
                      config::OneOf(name, {known.begin(), known.end()}));
  }
}

}  // namespace

void Validate(const Collection& collection) {
  if (collection.name.empty()) {
    throw ConfigError("collection: name", "", "a name");
  }
  const std::string place = "collection " + collection.name + ": ";
  for (const std::string& pattern : collection.include_regex) {
    const base::Regex compiles(pattern, place + "include_regex");
  }
  if (collection.save_config) {
    config::CheckSaveConfig(*collection.save_config, place);
  }
}

void Validate(const HookConfig& config) {
  for (const std::string& pattern : config.include_regex) {
    const base::Regex compiles(pattern, "include_regex");
  }
  if (config.save_config) config::CheckSaveConfig(*config.save_config, "");
  const config::Inclusion inclusion(config);
  std::set<std::string_view> names;
  for (const Collection& collection : config.collections) {
    Validate(collection);
    if (!names.insert(collection.name).second) {
      throw ConfigError("collections", collection.name,
                        "each collection only once");
    }
    const bool empty =
        collection.include_regex.empty() && collection.tensor_names.empty();
    if (empty && inclusion.Includes(collection.name) &&
        !config::IsFilledByFramework(config.framework, collection.name)) {
      throw InvalidCollectionConfiguration(collection.name);
    }
  }
  CheckIncluded(config);
}

}  // namespace smdebug
