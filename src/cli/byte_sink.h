#pragma once

#include <functional>

#include "smdebug/storage.h"

namespace smdebug::cli {

// Takes the bytes of a file in order.
using ByteSink = std::function<void(Bytes)>;

}  // namespace smdebug::cli
