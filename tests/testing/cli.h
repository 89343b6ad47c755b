#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/cli/command.h"

// Calls `smdebug` as a user would, inside the test's own process.
namespace smdebug::testing {

struct CliOutcome {
  int code = 0;
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline CliOutcome CallCli(const std::vector<std::string>& args,
                          const cli::Terminal& terminal = {}) {
  std::ostringstream out;
  std::ostringstream err;
  CliOutcome outcome;
  outcome.code = cli::Main(args, {out, err, terminal, terminal});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

}  // namespace smdebug::testing
