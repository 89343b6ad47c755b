#pragma once

#include <cstdint>
#include <string>

#include "smdebug/mode.h"

namespace smdebug {

// What a rule found, with the evidence.
struct Finding {
  int64_t step = 0;  // Over all modes.
  Mode mode = Mode::kGlobal;
  std::string tensor = {};  // Empty if it is about the step as a whole.
  std::string worker = {};
  double value = 0;          // What was measured,
  double threshold = 0;      // and what it was compared with.
  std::string message = {};  // One sentence that a person understands.

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace smdebug
