#include "src/cli/command.h"

#include <algorithm>
#include <exception>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/version.h"
#include "src/cli/command_page.h"
#include "src/cli/output/text.h"
#include "src/query/name_match.h"

namespace smdebug::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

std::vector<std::string> NamesOf(const Commands& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands) names.emplace_back(command->name());
  return names;
}

// "the commands are: a, b".
std::string ListNames(const Commands& commands) {
  return "the commands are: " + Join(NamesOf(commands));
}

// What to say of `arg`, which stands where a command should; empty if it is
// one.
std::string DescribeUnknown(std::string_view arg, const Commands& commands) {
  const std::vector<std::string> names = NamesOf(commands);
  if (arg.starts_with('-') || std::ranges::find(names, arg) != names.end()) {
    return {};
  }
  const std::vector<std::string> near = query::NearNames(arg, names, 1);
  return fmt::format("'{}' is not a command; {}{}", Printable(arg),
                     near.empty() ? "" : "did you mean " + near[0] + "? ",
                     ListNames(commands));
}

// `smdebug help [command]` is `smdebug [command] --help`.
std::vector<std::string> ExpandHelp(std::vector<std::string> args) {
  if (args.empty() || args[0] != "help") return args;
  args.erase(args.begin());
  args.emplace_back("--help");
  return args;
}

std::string Footer(const Command& command) {
  std::string text = "Examples:\n" + std::string(command.examples());
  text += "\nExit codes:\n";
  for (const ExitCode& code : command.exit_codes()) {
    text += fmt::format("  {:<3}  {}\n", code.code, code.meaning);
  }
  text.pop_back();
  return text;
}

int Parse(CLI::App& app, const Commands& commands,
          const std::vector<std::string>& args, Streams streams) {
  try {
    // CLI11 takes the arguments last first.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& help) {
    return app.exit(help, streams.out, streams.err);
  } catch (const CLI::ParseError& error) {
    streams.err << "smdebug: " << Printable(error.what())
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
}

}  // namespace

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
#define SMDEBUG_COMMAND(Name) commands.push_back(Make##Name##Command());
#include "src/cli/commands/commands.def"
#undef SMDEBUG_COMMAND
  return commands;
}

std::function<void(const std::string& root)> WaitNotice(std::ostream& err) {
  return [&err](const std::string& root) {
    err << "smdebug: waiting for a run in " << Printable(root) << '\n'
        << std::flush;
  };
}

bool TellEnd(const RunInfo& info, std::ostream& err) {
  if (!info.over() || info.state == RunState::kFinished) return false;
  err << fmt::format("smdebug: the run {} {}{}{}\n",
                     info.state == RunState::kFailed ? "has" : "was",
                     RunStateName(info.state), info.reason.empty() ? "" : ": ",
                     Printable(info.reason));
  return true;
}

int Main(const std::vector<std::string>& args, Streams streams) {
  try {
    if (args == std::vector<std::string>{"help", "--markdown"}) {
      streams.out << CommandPage();
      return kExitOk;
    }
    const std::vector<std::string> expanded = ExpandHelp(args);
    CLI::App app("Saves, reads and judges what a training job computes.",
                 "smdebug");
    app.set_version_flag("--version", std::string(kVersion));
    app.footer("`smdebug <command> --help` shows the command's examples.");
    app.require_subcommand(0, 1);
    const auto commands = AllCommands();
    for (const auto& command : commands) {
      CLI::App* sub = app.add_subcommand(std::string(command->name()),
                                         std::string(command->summary()));
      sub->footer(Footer(*command));
      command->Declare(*sub);
    }
    if (!expanded.empty()) {
      const std::string unknown = DescribeUnknown(expanded.front(), commands);
      if (!unknown.empty()) {
        streams.err << "smdebug: " << unknown << '\n';
        return kExitError;
      }
    }
    return Parse(app, commands, expanded, streams);
  } catch (const std::exception& error) {
    streams.err << "smdebug: " << Printable(error.what()) << '\n';
    return kExitError;
  }
}

}  // namespace smdebug::cli
