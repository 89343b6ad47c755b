#pragma once

#include <string>

namespace smdebug::run {

// A new identity for a run: a random UUID.
std::string NewRunId();

// The identity that a launcher handed down in SMDEBUG_RUN_ID; empty if there is
// none. Throws ConfigError for a text that cannot be one.
std::string RunIdFromEnvironment();

}  // namespace smdebug::run
