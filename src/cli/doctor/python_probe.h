#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::cli {

// A package of Python, as it was found.
struct PythonPackage {
  std::string name = {};
  std::string version = {};  // Empty: nobody knows it.
  std::string place = {};    // The folder; empty: it cannot be imported.
  std::string error = {};    // Why it cannot be used.

  bool is_there() const { return !version.empty() || !place.empty(); }
};

struct PythonReport {
  std::string program = {};  // As it was called.
  std::string version = {};
  std::string place = {};
  std::string error = {};  // Why it does not run.
  PythonPackage smdebug = {.name = "smdebug"};
  std::vector<PythonPackage> frameworks = {};
};

// Asks a Python what it has: its own version, smdebug, and each of
// config::PythonFrameworks(). With `import`, each framework that is there is
// also imported, in a process of its own. Never throws for what that Python
// does; it is ended after `timeout`.
PythonReport ProbePython(const std::string& program, bool import,
                         std::chrono::milliseconds timeout);

}  // namespace smdebug::cli
