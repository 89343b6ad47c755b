#include "src/cli/command.h"

#include <exception>
#include <ostream>

#include <CLI/CLI.hpp>

#include "smdebug/version.h"

namespace smdebug::cli {

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeConfigCommand());
  commands.push_back(MakeStatusCommand());
  return commands;
}

int Main(const std::vector<std::string>& args, Streams streams) {
  try {
    CLI::App app("Saves, reads and judges what a training job computes.",
                 "smdebug");
    app.set_version_flag("--version", std::string(kVersion));
    app.require_subcommand(1);
    const auto commands = AllCommands();
    for (const auto& command : commands) {
      CLI::App* sub = app.add_subcommand(std::string(command->name()),
                                         std::string(command->summary()));
      sub->footer("Examples:\n" + std::string(command->examples()));
      command->Declare(*sub);
    }
    try {
      // CLI11 takes the arguments last first.
      app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::ParseError& error) {
      const int code = app.exit(error, streams.out, streams.err);
      return code == 0 ? kExitOk : kExitError;
    }
    for (const auto& command : commands) {
      if (app.got_subcommand(std::string(command->name()))) {
        return command->Run(streams);
      }
    }
    return kExitError;
  } catch (const std::exception& error) {
    streams.err << "smdebug: " << error.what() << '\n';
    return kExitError;
  }
}

}  // namespace smdebug::cli
