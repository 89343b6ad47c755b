#pragma once

#include <functional>

#include "smdebug/storage.h"

namespace smdebug::query {

// Takes the bytes of a file in order.
using ByteSink = std::function<void(Bytes)>;

}  // namespace smdebug::query
