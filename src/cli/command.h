#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "smdebug/run.h"
#include "smdebug/trial.h"
#include "src/cli/output/terminal.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name.
class App;
}

namespace smdebug::cli {

// Exit codes shared by all commands (docs/reference/cli.md).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFound = 1;  // It worked, and found something wrong.
inline constexpr int kExitError = 2;  // A wrong call, or nothing could be done.
inline constexpr int kExitInterrupted = 130;  // Ctrl-C, as shells count it.

// Where a command writes, and what may be written there.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  Terminal out_terminal = {};
  Terminal err_terminal = {};
};

// Says on `err` that a run is awaited, for query::AwaitRunFolder().
std::function<void(const std::string& root)> WaitNotice(std::ostream& err);

// Says on `err` how a run ended that did not finish, and tells whether it said
// anything.
bool TellEnd(const RunInfo& info, std::ostream& err);

// Says on the error stream what of a run turned out to be damaged, so that a
// step or a value that is missing is explained: each time that it is asked to,
// up to a number of lines, and what is left when it goes. What an error on its
// way to Main() says itself is not said again. Borrows `trial`.
class DamageNotice {
 public:
  using Tell = std::function<void(const std::string& line)>;

  DamageNotice(const Trial* trial, Streams streams);
  // Lines go to `tell`, where other things stand on the error stream's
  // terminal.
  DamageNotice(const Trial* trial, Tell tell);
  ~DamageNotice();

  // Says in one line what is new, if anything is.
  void TellNew();

  DamageNotice(const DamageNotice&) = delete;
  DamageNotice& operator=(const DamageNotice&) = delete;

 private:
  // What has not been said.
  std::vector<Damage> TakeNew();
  void TellLine(const std::vector<Damage>& damage) const;

  const Trial* const trial_;
  const Tell tell_;
  const int exceptions_;
  int lines_ = 0;
  // Files, tensors and steps.
  std::set<std::tuple<std::string, std::string, int64_t>> told_;
};

// Opens one run after the other and calls `visit` with each; says what of it
// turned out to be damaged. Where there are several, one that throws Error is
// left out with a message; Error is thrown if all are.
void ForEachRun(const std::vector<std::string>& runs, Streams streams,
                const std::function<void(Trial&)>& visit);

// One exit code of a command, and when it is given.
struct ExitCode {
  int code;
  std::string_view meaning;
};

// One subcommand of `smdebug`. One thread at a time.
class Command {
 public:
  virtual ~Command() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  // Shown below --help: one example per line.
  virtual std::string_view examples() const = 0;
  virtual std::vector<ExitCode> exit_codes() const = 0;
  // What the page of the commands says beyond the above, in Markdown.
  virtual std::string_view details() const { return {}; }

  // Declares arguments and options on `app`, bound to this object.
  virtual void Declare(CLI::App& app) = 0;

  // Returns the exit code. Errors are thrown; Main() prints them.
  virtual int Run(Streams streams) = 0;
};

// Has `command` declare itself on `app`, where each option takes the one value
// after it and leaves what follows to the arguments.
void DeclareOn(CLI::App& app, Command& command);

// Every command there is, in the order of --help.
std::vector<std::unique_ptr<Command>> AllCommands();

// One function for each, defined in the file of its name.
#define SMDEBUG_COMMAND(Name) std::unique_ptr<Command> Make##Name##Command();
#include "src/cli/commands/commands.def"
#undef SMDEBUG_COMMAND

// The whole program: parses `args` (without the program's name), runs one
// command and returns its exit code. Never throws.
int Main(const std::vector<std::string>& args, Streams streams);

}  // namespace smdebug::cli
