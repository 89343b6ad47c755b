#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "src/cli/command.h"
#include "src/cli/shell/completion.h"

namespace smdebug::cli {
namespace {

// `smdebug completion <shell>`: a script for the shell.
class CompletionCommand final : public Command {
 public:
  std::string_view name() const override { return "completion"; }
  std::string_view summary() const override {
    return "Print the script that completes smdebug in bash, zsh or fish.";
  }
  std::string_view examples() const override {
    return "  source <(smdebug completion bash)\n"
           "  smdebug completion zsh > ~/.zfunc/_smdebug\n"
           "  smdebug completion fish > "
           "~/.config/fish/completions/smdebug.fish\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "always"}, {kExitError, "there is none for the shell"}};
  }
  std::string_view details() const override {
    return R"(The script completes commands, options, the names of rules, modes, reductions and actions, and folders where a run is expected.

Put the first example into `~/.bashrc`. `~/.zfunc` must be in zsh's `$fpath` before `compinit` runs. `pip install` and `make install` put the
three scripts and the man page below `share` in the folder that they install to. Shells find them there if that folder is `/usr` or
`/usr/local`, `man` also in any environment whose `bin` is on `PATH`.
)";
  }

  void Declare(CLI::App& app) override {
    app.add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->type_name("");
  }

  int Run(Streams streams) override {
    streams.out << CompletionScript(shell_);
    return kExitOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionCommand() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace smdebug::cli
