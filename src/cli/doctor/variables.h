#pragma once

#include <string>
#include <vector>

namespace smdebug::cli {

// An environment variable that is set here.
struct SetVariable {
  std::string name;
  std::string value;  // Empty if it is private.
  bool is_private = false;
  // Set: it begins with SMDEBUG_ and nobody reads it, or its value is refused
  // or ignored by who does.
  std::string problem = {};
};

// Those of `environment`, "NAME=value" each, that smdebug reads or that look as
// if it did, by name.
std::vector<SetVariable> VariablesOf(
    const std::vector<std::string>& environment);

}  // namespace smdebug::cli
