#include "src/cli/command.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/version.h"
#include "src/cli/command_page.h"
#include "src/cli/man_page.h"
#include "src/cli/output/text.h"
#include "src/config/nearest.h"
#include "src/query/open_run.h"
#include "src/run/survey.h"

namespace smdebug::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

std::vector<std::string> NamesOf(const Commands& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands) names.emplace_back(command->name());
  return names;
}

// Help in our own words, in lines that fit the terminal, or 80 columns.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Terminal& terminal) : terminal_(terminal) {
    label("Positionals", "Arguments");
    constexpr size_t kNarrow = 60;
    if (terminal.is_terminal && terminal.width < kNarrow) column_width(20);
  }

  // As the page of the commands has it.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool is_whole = !app->get_subcommands({}).empty();
    return fmt::format("Usage: {}{}\n", name,
                       is_whole ? " <command> [options]" : Usage(*app));
  }

  std::string make_description(const CLI::App* app) const override {
    return FitLines(Formatter::make_description(app), terminal_, 0);
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    std::string text =
        fmt::format("  {:<{}}{}\n", sub->get_name(), get_column_width() - 2,
                    sub->get_description());
    return FitLines(text, terminal_, get_column_width());
  }

  // Only what to write; DescribeWrongCall() says what does not go together.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const size_t columns = terminal_.is_terminal ? terminal_.width : 80;
    const size_t width =
        std::max(columns, get_column_width() + 20) - get_column_width() - 1;
    return Join(WrapWords(option->get_description(), width), "\n");
  }

 private:
  const Terminal terminal_;
};

// "the commands are: a, b".
std::string ListNames(const Commands& commands) {
  return "the commands are: " + Join(NamesOf(commands));
}

// What to say of the first of `args`, which stands where a command should;
// empty if it is one.
std::string DescribeUnknown(const std::vector<std::string>& args,
                            const Commands& commands) {
  const std::vector<std::string> names = NamesOf(commands);
  const std::string& arg = args.front();
  if (std::ranges::find(names, arg) != names.end()) return {};
  if (arg.starts_with('-')) {
    const auto command = std::ranges::find_first_of(args, names);
    const bool stands_alone =
        arg == "-h" || arg == "--help" || arg == "--version";
    if (command == args.end() || stands_alone) return {};
    return fmt::format(
        "'{0}' stands before the command; options come after it: `smdebug {1} "
        "{0}`",
        Printable(arg), *command);
  }
  const std::string meant = config::DidYouMean(arg, names);
  return fmt::format("'{}' is not a command; {}{}{}", Printable(arg), meant,
                     meant.empty() ? "" : " ", ListNames(commands));
}

// `smdebug help [command]` is `smdebug [command] --help`.
std::vector<std::string> ExpandHelp(std::vector<std::string> args) {
  if (args.empty() || args[0] != "help") return args;
  args.erase(args.begin());
  args.emplace_back("--help");
  return args;
}

std::string Footer(const Command& command, const Terminal& terminal) {
  std::string text = "Examples:\n" + std::string(command.examples());
  text += "\nExit codes:\n";
  for (const ExitCode& code : command.exit_codes()) {
    text += FitLines(fmt::format("  {:<3}  {}\n", code.code, code.meaning),
                     terminal, /*indent=*/7);
  }
  text.pop_back();
  return text;
}

// What is said of `extra`, which `app` does not take.
std::string DescribeExtra(const CLI::App& app, const std::string& extra) {
  const bool is_option = extra.size() > 1 && extra.starts_with('-');
  if (!is_option) {
    return fmt::format("'{}' is one argument too many", extra);
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) names.push_back(option->get_name());
  }
  const std::string name = extra.substr(0, extra.find('='));
  return fmt::format("there is no option '{}'; expected {}", name,
                     config::OneOf(name, names));
}

// What is wrong with the call, in our own words; empty if it is none of the
// mistakes known here. `app` is what parsed the arguments last.
std::string DescribeWrongCall(const CLI::App& app,
                              const std::vector<std::string>& args) {
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) return DescribeExtra(app, extras.front());
  std::string last = args.back();
  if (last.ends_with('=')) last.pop_back();
  if (const auto* option = app.get_option_no_throw(last);
      option != nullptr && option->get_items_expected_min() > 0 &&
      last.starts_with('-')) {
    return fmt::format("{} needs a value: {}", last, option->get_type_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->get_required() && option->count() == 0) {
      return fmt::format("<{}> is missing", name);
    }
    if (option->count() == 0) continue;
    if (option->get_items_expected_max() == 1 && option->count() > 1) {
      return fmt::format("{} is given more than once", name);
    }
    for (const CLI::Option* other : option->get_excludes()) {
      if (other->count() > 0) {
        return fmt::format("{} and {} do not go together", name,
                           other->get_name());
      }
    }
    for (const CLI::Option* other : option->get_needs()) {
      if (other->count() == 0) {
        return fmt::format("{} needs {}, too", name, other->get_name());
      }
    }
  }
  for (const std::string& arg : args) {
    const size_t equals = arg.find('=');
    if (!arg.starts_with("--") || equals == std::string::npos) continue;
    const auto* option = app.get_option_no_throw(arg.substr(0, equals));
    if (option != nullptr && option->get_items_expected_max() == 0) {
      return fmt::format("{} takes no value", option->get_name());
    }
  }
  return {};
}

// "; damaged: steps 3, 4", counted over all modes.
std::string DamagedSteps(const std::vector<Damage>& damage) {
  constexpr size_t kMostSteps = 10;
  std::set<int64_t> steps;
  for (const Damage& one : damage) {
    if (one.step >= 0) steps.insert(one.step);
  }
  if (steps.empty()) return {};
  std::vector<std::string> texts;
  for (const int64_t step : steps) texts.push_back(fmt::format("{}", step));
  return fmt::format("; damaged: {} {}", steps.size() == 1 ? "step" : "steps",
                     JoinSome(texts, kMostSteps));
}

int RefuseCall(const CLI::App& app, const std::vector<std::string>& args,
               const CLI::ParseError& error, std::ostream& err) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  const CLI::App& where = used.empty() ? app : *used.back();
  // A value that is not allowed is described where it is read.
  const bool is_described =
      dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  std::string text = is_described ? "" : DescribeWrongCall(where, args);
  if (text.empty()) text = error.what();
  err << fmt::format("smdebug: {}\n`smdebug {}--help` shows what is allowed.\n",
                     Printable(text),
                     used.empty() ? "" : where.get_name() + " ");
  return kExitError;
}

int Parse(CLI::App& app, const Commands& commands,
          const std::vector<std::string>& args, Streams streams) {
  try {
    // CLI11 takes the arguments last first.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& help) {
    return app.exit(help, streams.out, streams.err);
  } catch (const CLI::ParseError& error) {
    return RefuseCall(app, args, error, streams.err);
  }
  for (const auto& command : commands) {
    if (app.got_subcommand(std::string(command->name()))) {
      return command->Run(streams);
    }
  }
  streams.err << app.help() << "\nsmdebug: no command is given\n";
  return kExitError;
}

}  // namespace

void DeclareOn(CLI::App& app, Command& command) {
  command.Declare(app);
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
}

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
#define SMDEBUG_COMMAND(Name) commands.push_back(Make##Name##Command());
#include "src/cli/commands/commands.def"
#undef SMDEBUG_COMMAND
  return commands;
}

std::function<void(const std::string& root)> WaitNotice(std::ostream& err) {
  return [&err](const std::string& root) {
    const std::string hint = run::HintAtRunsBelow(root);
    err << fmt::format("smdebug: waiting for a run in {}{}{}\n",
                       Printable(root), hint.empty() ? "" : "; ",
                       Printable(hint))
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

DamageNotice::DamageNotice(const Trial* trial, Streams streams)
    : DamageNotice(trial, [streams](const std::string& line) {
        streams.err << Paint(streams.err_terminal, Colour::kRed, line) << '\n';
      }) {}

DamageNotice::DamageNotice(const Trial* trial, Tell tell)
    : trial_(trial),
      tell_(std::move(tell)),
      exceptions_(std::uncaught_exceptions()) {}

DamageNotice::~DamageNotice() {
  std::vector<Damage> damage = TakeNew();
  if (std::uncaught_exceptions() > exceptions_) {
    std::erase_if(damage,
                  [](const Damage& one) { return !one.tensor.empty(); });
  }
  TellLine(damage);
}

void DamageNotice::TellNew() {
  constexpr int kMostLines = 10;  // Of a job that goes on being damaged.
  if (lines_ == kMostLines) return;
  const std::vector<Damage> damage = TakeNew();
  if (!damage.empty()) ++lines_;
  TellLine(damage);
}

std::vector<Damage> DamageNotice::TakeNew() {
  std::vector<Damage> damage = trial_->damage();
  std::erase_if(damage, [this](const Damage& one) {
    return !told_.emplace(one.file, one.tensor, one.step).second;
  });
  return damage;
}

void DamageNotice::TellLine(const std::vector<Damage>& damage) const {
  if (damage.empty()) return;
  const Damage& first = damage.front();
  const std::string more =
      damage.size() == 1
          ? ""
          : fmt::format(" (and {} more; `smdebug verify` lists them)",
                        damage.size() - 1);
  const std::string steps = DamagedSteps(damage);
  tell_(fmt::format("smdebug: damaged: {}/{}: {}{}{}",
                    Printable(trial_->path()), Printable(first.file),
                    Printable(first.reason), more, steps));
}

void ForEachRun(const std::vector<std::string>& runs, Streams streams,
                const std::function<void(Trial&)>& visit) {
  const auto visit_one = [&](const std::string& run) {
    const auto trial = query::OpenRun(run);
    const DamageNotice notice(trial.get(), streams);
    visit(*trial);
  };
  if (runs.size() == 1) return visit_one(runs.front());
  size_t left_out = 0;
  for (const std::string& run : runs) {
    try {
      visit_one(run);
    } catch (const Error& error) {
      ++left_out;
      // What is wrong with the folder begins with its name.
      const std::string_view text = error.what();
      const bool names_it = text.starts_with(
          std::filesystem::absolute(run).lexically_normal().string());
      streams.err << fmt::format("smdebug: left out: {}{}{}\n",
                                 names_it ? "" : Printable(run),
                                 names_it ? "" : ": ", Printable(text));
    }
  }
  if (left_out == runs.size()) {
    throw Error(fmt::format("none of the {} runs has it", runs.size()));
  }
}

int Main(const std::vector<std::string>& args, Streams streams) {
  try {
    if (args == std::vector<std::string>{"help", "--markdown"}) {
      streams.out << CommandPage();
      return kExitOk;
    }
    if (args == std::vector<std::string>{"help", "--man"}) {
      streams.out << ManPage();
      return kExitOk;
    }
    const std::vector<std::string> expanded = ExpandHelp(args);
    CLI::App app("Saves, reads and judges what a training job computes.",
                 "smdebug");
    app.formatter(std::make_shared<HelpFormatter>(streams.out_terminal));
    app.set_version_flag("--version", std::string(kVersion));
    app.footer("`smdebug <command> --help` shows the command's examples.");
    app.require_subcommand(0, 1);
    const auto commands = AllCommands();
    for (const auto& command : commands) {
      CLI::App* sub = app.add_subcommand(std::string(command->name()),
                                         std::string(command->summary()));
      sub->footer(Footer(*command, streams.out_terminal));
      sub->group("Commands");
      DeclareOn(*sub, *command);
    }
    if (!expanded.empty()) {
      const std::string unknown = DescribeUnknown(expanded, commands);
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
