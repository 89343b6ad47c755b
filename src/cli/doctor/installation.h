#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "src/cli/doctor/python_probe.h"
#include "src/cli/doctor/variables.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/terminal.h"

namespace smdebug::cli {

// A configuration file that a hook would read.
struct ConfigFile {
  std::string path = {};
  bool exists = false;
  std::string out_dir = {};  // Where it lets a hook write.
  std::string error = {};    // Why a hook would refuse it.
};

struct Folder {
  std::string path = {};
  bool is_writable = false;
  uint64_t free_bytes = 0;
};

// What is installed, and what a hook or a rule would find here.
struct Installation {
  std::string program = {};               // This one's path.
  std::string compiler = {};              // "GCC 12.2.0".
  std::string build = {};                 // "C++20, optimised".
  std::string system = {};                // "Linux 6.1.0 x86_64, glibc 2.36".
  std::vector<std::string> targets = {};  // Of SIMD, the one in use first.
  std::string curl = {};                  // Its version.
  std::string curl_error = {};            // Why there is none.
  PythonReport python = {};
  ConfigFile config = {};
  std::vector<SetVariable> variables = {};
  Folder folder = {};     // Where it was called.
  Folder temporary = {};  // For temporary files.
};

struct ProbeOptions {
  bool import = false;  // Import the frameworks, not only look for them.
  std::chrono::seconds timeout{30};
};

Installation ProbeInstallation(const ProbeOptions& options);

// What is there and cannot be used, one sentence each.
std::vector<std::string> ProblemsOf(const Installation& found);

std::string InstallationText(const Installation& found,
                             const Terminal& terminal = {});
Json InstallationJson(const Installation& found);

}  // namespace smdebug::cli
