#include "src/cli/command.h"

#include <algorithm>
#include <exception>
#include <ostream>

#include <CLI/CLI.hpp>

#include "smdebug/version.h"

namespace smdebug::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

// Whether `arg` stands where a command should and is none.
bool IsUnknownCommand(std::string_view arg, const Commands& commands) {
  return !arg.starts_with('-') &&
         std::ranges::none_of(commands, [&](const auto& command) {
           return command->name() == arg;
         });
}

// "the commands are: a, b".
std::string ListNames(const Commands& commands) {
  std::string text = "the commands are:";
  for (const auto& command : commands) {
    text += text.ends_with(':') ? " " : ", ";
    text += command->name();
  }
  return text;
}

}  // namespace

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
    app.footer("`smdebug <command> --help` shows the command's examples.");
    app.require_subcommand(0, 1);
    const auto commands = AllCommands();
    for (const auto& command : commands) {
      CLI::App* sub = app.add_subcommand(std::string(command->name()),
                                         std::string(command->summary()));
      sub->footer("Examples:\n" + std::string(command->examples()));
      command->Declare(*sub);
    }
    if (!args.empty() && IsUnknownCommand(args.front(), commands)) {
      streams.err << "smdebug: '" << args.front() << "' is not a command; "
                  << ListNames(commands) << '\n';
      return kExitError;
    }
    try {
      // CLI11 takes the arguments last first.
      app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::Success& help) {
      return app.exit(help, streams.out, streams.err);
    } catch (const CLI::ParseError& error) {
      streams.err << "smdebug: " << error.what()
                  << "\nRun with --help for more.\n";
      return kExitError;
    }
    for (const auto& command : commands) {
      if (app.got_subcommand(std::string(command->name()))) {
        return command->Run(streams);
      }
    }
    streams.err << "smdebug: a command is missing; " << ListNames(commands)
                << '\n';
    return kExitError;
  } catch (const std::exception& error) {
    streams.err << "smdebug: " << error.what() << '\n';
    return kExitError;
  }
}

}  // namespace smdebug::cli
