#include "src/config/inclusion.h"

#include "src/config/framework.h"

namespace smdebug::config {

Inclusion::Inclusion(const HookConfig& config)
    : names_(config.include_collections.begin(),
             config.include_collections.end()) {
  for (const std::string_view name : DefaultIncluded(config.framework)) {
    names_.emplace(name);
  }
  if (!config.include_regex.empty()) names_.emplace("default");
  all_ = config.save_all || names_.contains("all");
}

bool Inclusion::Includes(std::string_view collection) const {
  return all_ || names_.contains(collection);
}

}  // namespace smdebug::config

namespace smdebug {

bool Includes(const HookConfig& config, std::string_view name) {
  return config::Inclusion(config).Includes(name);
}

}  // namespace smdebug
