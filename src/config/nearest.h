#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/internal/did_you_mean.h"

namespace smdebug::config {

// Letters to insert, remove or replace, and neighbours to swap, to turn one
// into the other, blind to letter case.
size_t EditDistance(std::string_view a, std::string_view b);

// The one of `names` that `name` is most likely a misspelling of: equal but
// for letter case, or a few edits away. Empty if none is near. The result
// lives as long as `names`.
std::string_view Nearest(std::string_view name,
                         std::span<const std::string_view> names);

// Up to `limit` of `names` that `name` may have meant, likeliest first: equal
// but for letter case, a few edits away, or holding it.
std::vector<std::string> NearNames(std::string_view name,
                                   std::span<const std::string> names,
                                   size_t limit = 3);

// What is allowed in place of `name`: "one of a, b, c", and what it may have
// meant; "a" if there is nothing else.
std::string OneOf(std::string_view name, const std::vector<std::string>& names);

}  // namespace smdebug::config
