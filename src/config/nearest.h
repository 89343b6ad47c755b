#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace smdebug::config {

// Letters to insert, remove or replace to turn one into the other, blind to
// letter case.
size_t EditDistance(std::string_view a, std::string_view b);

// The one of `names` that `name` is most likely a misspelling of: equal but
// for letter case, or a few edits away. Empty if none is near. The result
// lives as long as `names`.
std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> names);

}  // namespace smdebug::config
