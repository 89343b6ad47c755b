#include <memory>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>

#include "src/cli/command.h"
#include "src/cli/doctor/installation.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"

namespace smdebug::cli {
namespace {

// `smdebug doctor`: what is installed, for reports of bugs.
class DoctorCommand final : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "Show what is installed and what a hook would find here.";
  }
  std::string_view examples() const override {
    return "  smdebug doctor\n"
           "  smdebug doctor --import\n"
           "  smdebug doctor --json | jq .python.frameworks\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "nothing that is there is broken"},
            {kExitFound, "something is; the problems are listed last"},
            {kExitError, "the call is wrong"}};
  }
  std::string_view details() const override {
    return R"(For bug reports: paste what it prints. Values of variables that may hold an address, a login or a password are not shown.

It names the version and how it was built, the SIMD instructions in use on this CPU, libcurl (which actions that send messages need), the Python
that runs rules of Python files, the smdebug and the frameworks that this Python has, and whether each is supported, the configuration file that
a hook would read, and the environment variables that are set; a value that would be refused or ignored is a problem. Frameworks are looked for, not imported; `--import` imports each in a process of
its own, which takes seconds and shows whether it works. A machine without Python is no problem: only rules of Python files need one.

JSON: one object with the same facts, null for what is not there, and `problems`, a list of sentences. Variables whose values are not shown are
null.
)";
  }

  void Declare(CLI::App& app) override {
    app.add_flag("--import", import_,
                 "Import each framework, to see whether it works");
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    ProbeOptions options = {.import = import_};
    if (import_) options.timeout = std::chrono::minutes(5);
    const Installation found = ProbeInstallation(options);
    if (json_) {
      PrintJson(streams.out, InstallationJson(found));
    } else {
      streams.out << InstallationText(found, streams.out_terminal);
    }
    return ProblemsOf(found).empty() ? kExitOk : kExitFound;
  }

 private:
  bool import_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDoctorCommand() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace smdebug::cli
