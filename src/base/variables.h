#pragma once

#include <span>
#include <string>
#include <string_view>

namespace smdebug::base {

// An environment variable that smdebug reads.
struct Variable {
  // Says what is allowed in place of a trimmed value; empty if the value is.
  using Check = std::string (*)(std::string_view value);

  std::string_view name;
  Check check = nullptr;  // None: any value is allowed, or another part of
                          // smdebug that needs it checks it.
  // Its value may hold an address, a login or a password, and is not shown.
  bool is_private = false;
};

// Those that docs/reference/environment.md lists, by name, but for the ones
// that every program reads.
std::span<const Variable> Variables();

// What this process has for `name`, which is one of Variables(), trimmed; empty
// if it is not set. Throws ConfigError if the value is not allowed.
std::string ReadVariable(std::string_view name);

// The number of seconds, 0 or more, that `text` is; -1 if it is none.
double ParseSeconds(std::string_view text);

}  // namespace smdebug::base
