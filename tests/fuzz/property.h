#pragma once

#include <stdexcept>

namespace smdebug::fuzz {

// Throws if a promise of the code under test is broken: libFuzzer takes what a
// target throws for a crash, and GoogleTest for a failure. Thread-safe.
inline void Require(bool holds, const char* promise) {
  if (!holds) throw std::logic_error(promise);
}

}  // namespace smdebug::fuzz
