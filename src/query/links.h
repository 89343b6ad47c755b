#pragma once

#include <string>
#include <string_view>

#include "smdebug/storage.h"
#include "src/storage/beneath.h"

namespace smdebug::query {

using storage::kLinkInTheWay;

// The first name on the way to `key`, a file or a folder, that is a symbolic
// link, as a key; empty if none is, or if the store has no links.
std::string FindLink(const Storage& storage, std::string_view key);

}  // namespace smdebug::query
