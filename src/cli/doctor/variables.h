#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::cli {

// An environment variable that smdebug reads.
struct Variable {
  std::string_view name;
  // Its value may hold an address, a login or a password, and is not shown.
  bool is_private = false;
};

// Those that docs/reference/environment.md lists, but for the ones that every
// program reads.
std::span<const Variable> KnownVariables();

// One that is set here.
struct SetVariable {
  std::string name;
  std::string value;  // Empty if it is private.
  bool is_private = false;
  std::string problem =
      {};  // Set: it begins with SMDEBUG_, and nobody reads it.
};

// Those of `environment`, "NAME=value" each, that smdebug reads or that look as
// if it did, by name.
std::vector<SetVariable> VariablesOf(
    const std::vector<std::string>& environment);

}  // namespace smdebug::cli
