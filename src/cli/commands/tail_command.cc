#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/cli/command.h"
#include "src/cli/interrupt.h"
#include "src/cli/options.h"
#include "src/cli/output/json_output.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"
#include "src/query/step_follower.h"

namespace smdebug::cli {
namespace {

using query::StepFollower;
using query::StepLine;
using query::StepNumber;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A wait is cut into pieces of this length, to look for Ctrl-C in between.
constexpr milliseconds kPiece{250};

// Numbers on one line of text.
constexpr size_t kMostNumbers = 8;

// What a line says, part by part.
std::vector<std::string> CellsOf(const StepLine& line, bool has_modes) {
  std::vector<std::string> cells = {fmt::format("{:>8}", line.id.step)};
  if (has_modes) {
    cells.push_back(
        line.id.mode == Mode::kGlobal
            ? ""
            : fmt::format("{} {}", ModeName(line.id.mode), line.id.mode_step));
  }
  cells.push_back(
      line.workers.size() == 1
          ? line.workers.front()
          : Counted(static_cast<int64_t>(line.workers.size()), "worker"));
  cells.push_back(Counted(line.tensors, "tensor"));
  const size_t shown = std::min(line.numbers.size(), kMostNumbers);
  for (size_t i = 0; i < shown; ++i) {
    const StepNumber& number = line.numbers[i];
    cells.push_back(
        fmt::format("{} {}", number.name, ShortNumber(number.value)));
  }
  if (shown < line.numbers.size()) {
    cells.push_back(fmt::format("and {} more", line.numbers.size() - shown));
  }
  for (std::string& cell : cells) cell = Printable(cell);
  return cells;
}

// Lines of a table that goes on: columns are as wide as what has come so far.
// Where a number is not finite the line is red.
class TailTable {
 public:
  std::string Add(std::span<const StepLine> lines, const Terminal& terminal) {
    for (const StepLine& line : lines) {
      has_modes_ |= line.id.mode != Mode::kGlobal;
    }
    std::vector<std::vector<std::string>> rows;
    for (const StepLine& line : lines) {
      rows.push_back(CellsOf(line, has_modes_));
      widths_.resize(std::max(widths_.size(), rows.back().size()));
      for (size_t i = 0; i < rows.back().size(); ++i) {
        widths_[i] = std::max(widths_[i], TextWidth(rows.back()[i]));
      }
    }
    std::string text;
    for (size_t line = 0; line < rows.size(); ++line) {
      const std::vector<std::string>& row = rows[line];
      std::string shown;
      for (size_t i = 0; i < row.size(); ++i) {
        const size_t pad =
            i + 1 == row.size() ? 0 : widths_[i] - TextWidth(row[i]) + 2;
        shown += row[i];
        shown.append(pad, ' ');
      }
      shown += '\n';
      shown = FitLines(shown, terminal, kIndent);
      text += std::ranges::all_of(lines[line].numbers, IsFinite)
                  ? shown
                  : PaintLines(terminal, Colour::kRed, shown);
    }
    return text;
  }

 private:
  static constexpr size_t kIndent = 10;

  static bool IsFinite(const StepNumber& number) {
    return std::isfinite(number.value);
  }

  bool has_modes_ = false;
  std::vector<size_t> widths_;
};

// `smdebug tail <run>`: one line per step, as the steps arrive.
class TailCommand final : public Command {
 public:
  std::string_view name() const override { return "tail"; }
  std::string_view summary() const override {
    return "Follow a run: one line per step as it is saved.";
  }
  std::string_view examples() const override {
    return "  smdebug tail ./run\n"
           "  smdebug tail ./run --tensor 'loss|accuracy' --from 0\n"
           "  smdebug tail ./run --timeout 60 || echo 'no step for a minute'\n"
           "  smdebug tail --json ./run | jq "
           "'.scalars[\"scalar/loss\"].value'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk,
             "the job has ended, however it did, and every step was shown"},
            {kExitFound, "nothing new came for --timeout seconds"},
            {kExitError,
             "the path can never be a run, or cannot be read, no run appeared, "
             "or the job has ended and --tensor matches none of its tensors"},
            {kExitInterrupted, "Ctrl-C"}};
  }
  std::string_view details() const override {
    return R"(Shows the last 10 steps, or those from `--from` on, then each new step when every worker has saved it, until the job has ended. It waits for a run that does not
exist yet, for `--wait-for-run` seconds, and as long as a job of this machine lives that has made a hook on the folder and has not begun. A job that was killed leaves no end marker; about a second after its last process is gone the command ends too. On standard error it says how a job ended that
did not finish: that it has failed, or was interrupted or killed, and why. The exit code is 0 then as well. Of a job on another machine the command must see nothing change for five minutes first.
When another job takes the folder, a message says so, and its run is followed.

A line has the step, its mode and step in the mode, the worker (or how many), the number of tensors, and the numbers saved there: scalars and other tensors
of one element. Scalars that were saved at steps between those that are saved whole come with the next of these, on lines of their own. With `--tensor`
only tensors that match are shown, and those of several elements by their mean.

JSON: one object per line with `step`, `mode`, `mode_step`, `workers`, `tensors` and `scalars`, which has `step` and `value` by name.
)";
  }

  void Declare(CLI::App& app) override {
    AddRun(app, run_);
    AddRegex(app, "--tensor", options_.regexes,
             "Show the numbers of tensors whose name this matches "
             "(Python's syntax); default: all of one element");
    AddWhole(
        app, "--from", {}, [this](int64_t step) { options_.from = step; },
        "First step to show, counted over all modes; default: the last 10");
    AddSeconds(app, "--timeout", timeout_,
               "Give up after this many seconds without anything new; default: "
               "never");
    AddWaitForRun(app, wait_for_run_);
    AddJson(app, json_);
  }

  int Run(Streams streams) override {
    const InterruptScope interrupt;
    while (true) {
      try {
        return Follow(interrupt, streams);
      } catch (const RunReplacedError& error) {
        streams.err << fmt::format("smdebug: {}: following the folder anew\n",
                                   Printable(error.what()));
      }
    }
  }

 private:
  // Until the job has ended. Throws RunReplacedError when another one has taken
  // its folder.
  int Follow(const InterruptScope& interrupt, Streams streams) {
    RestartTimeout();
    const auto trial = AwaitRun(interrupt, streams);
    if (!trial) return Stopped(interrupt, streams);
    DamageNotice notice(trial.get(), streams);
    StepFollower follower(trial.get(), options_);
    while (streams.out) {
      LookForNews(*trial);
      const bool ended = trial->loaded_all_steps();
      const std::vector<StepLine> lines = follower.Poll();
      if (!follower.watches_any()) TellUnmatched(*trial, ended, streams.err);
      Print(lines, streams);
      streams.out.flush();
      notice.TellNew();
      if (ended) {
        if (!TellEnd(trial->run_info(), streams.err) &&
            streams.err_terminal.is_terminal) {
          streams.err << "the job has ended\n";
        }
        return kExitOk;
      }
      if (!lines.empty()) RestartTimeout();
      if (interrupt.interrupted() || TimedOut()) break;
      trial->WaitForChange(kPiece);
    }
    return Stopped(interrupt, streams);
  }

  // The run, as soon as there is any file of it; null if the wait was ended.
  std::unique_ptr<Trial> AwaitRun(const InterruptScope& interrupt,
                                  Streams streams) const {
    auto storage = query::AwaitRunFolder(
        run_, WaitNotice(streams.err),
        [&] { return !interrupt.interrupted() && !TimedOut(); }, wait_for_run_);
    if (!storage) return nullptr;
    TrialOptions options = query::RunOptions();
    options.verify_checksums = false;  // Only single numbers are read.
    auto trial = std::make_unique<Trial>(std::move(storage), options);
    trial->SetRefreshing(false);
    return trial;
  }

  // Once for all the questions that follow, and only if something may have
  // changed, which Refresh() would not ask.
  static void LookForNews(Trial& trial) {
    const RefreshScope refreshing(&trial, true);
    trial.Workers();
  }

  // Says once that --tensor matches nothing yet; throws Error if it never will.
  void TellUnmatched(Trial& trial, bool ended, std::ostream& err) {
    if (told_unmatched_ && !ended) return;
    try {
      query::RequireMatch(trial.TensorNames(), options_.regexes);
    } catch (const Error& error) {
      if (ended) throw;
      err << "smdebug: so far " << Printable(error.what()) << '\n';
      told_unmatched_ = true;
    }
  }

  void Print(std::span<const StepLine> lines, Streams streams) {
    if (!json_) {
      streams.out << table_.Add(lines, streams.out_terminal);
      return;
    }
    for (const StepLine& line : lines) {
      PrintJsonLine(streams.out, query::ToJson(line));
    }
  }

  int Stopped(const InterruptScope& interrupt, Streams streams) const {
    if (interrupt.interrupted()) return kExitInterrupted;
    if (!streams.out) return kExitError;
    streams.err << fmt::format("smdebug: nothing new for {} s\n",
                               ShortNumber(timeout_.value_or(0)));
    return kExitFound;
  }

  void RestartTimeout() { waiting_since_ = Clock::now(); }
  bool TimedOut() const {
    return timeout_ && Clock::now() - waiting_since_ >=
                           std::chrono::duration<double>(*timeout_);
  }

  std::string run_;
  StepFollower::Options options_;
  std::optional<double> timeout_;
  double wait_for_run_ = query::kRunPatience;
  bool json_ = false;
  bool told_unmatched_ = false;
  TailTable table_;
  Clock::time_point waiting_since_;
};

}  // namespace

std::unique_ptr<Command> MakeTailCommand() {
  return std::make_unique<TailCommand>();
}

}  // namespace smdebug::cli
