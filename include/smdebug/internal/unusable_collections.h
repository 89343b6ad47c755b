#pragma once

#include <string>
#include <vector>

#include "smdebug/config.h"

namespace smdebug::config {

// A collection for which nothing could ever be saved.
struct UnusableCollection {
  std::string name;
  std::string reason;  // As Validate() says it.
  // Whether it is to be saved, or its name looks like a misspelling.
  bool matters = false;
};

// What Validate() refuses of collections, for a shim whose users may complete a
// collection until the first step: names in include_collections that no
// collection has, and collections, also those that are not saved, with a regex
// that does not compile, or with neither regex nor tensor names.
std::vector<UnusableCollection> UnusableCollections(const HookConfig& config);

// Leaves these names out of include_collections and, where collections can no
// longer be completed, these collections out of `config`.
void LeaveOutUnusable(bool can_be_completed, HookConfig& config);

}  // namespace smdebug::config
