#pragma once

#include <string>
#include <string_view>

#include "smdebug/storage.h"

namespace smdebug::query {

// What is wrong with a symbolic link below the folder of a run. Readers take
// what lies behind one for absent.
inline constexpr std::string_view kLinkInTheWay =
    "a symbolic link is in the way, and below the folder of a run none is "
    "followed";

// The first name on the way to `key`, a file or a folder, that is a symbolic
// link, as a key; empty if none is, or if the store has no links.
std::string FindLink(const Storage& storage, std::string_view key);

}  // namespace smdebug::query
