#pragma once

#include <span>
#include <string_view>

namespace smdebug::config {

// The one of `names` that `name` is most likely a misspelling of: equal but
// for letter case, or a few edits away. Empty if none is near. The result
// lives as long as `names`.
std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> names);

}  // namespace smdebug::config
