#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::base {

// The environment variable `name`; nullopt if it is not set. The only place
// where the library reads the environment.
std::optional<std::string> GetEnv(const char* name);

// The same of another process, as its environment was when it started; nullopt
// if this one may not look, as well.
std::optional<std::string> GetEnvOf(int64_t pid, std::string_view name);

// `path` with a leading "~" or "~user" replaced by that home folder, as a shell
// does; as it is where there is no such user.
std::string ExpandHome(std::string_view path);

}  // namespace smdebug::base
