#pragma once

#include <string>
#include <string_view>

namespace smdebug::storage {

// `path` with a leading "~" or "~user" replaced by that home folder, as a shell
// does; as it is where there is no such user.
std::string ExpandHome(std::string_view path);

}  // namespace smdebug::storage
