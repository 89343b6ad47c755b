#pragma once

#include <string>

#include "smdebug/config.h"

namespace smdebug::cli {

// When `schedule` saves, in words: "every 100 steps from 150", "never",
// "at 3, 7 and every 500 steps".
std::string InWords(const SaveConfigMode& schedule);

}  // namespace smdebug::cli
