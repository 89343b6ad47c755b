#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "src/cli/command.h"
#include "src/cli/commands/judge_options.h"
#include "src/cli/interrupt.h"
#include "src/cli/options.h"
#include "src/cli/output/rule_text.h"
#include "src/cli/output/text.h"
#include "src/cli/output/watch_view.h"
#include "src/query/open_run.h"
#include "src/rules/engine/interrupted.h"
#include "src/run/keys.h"

namespace smdebug::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A job of any length must not fill the memory of who watches it.
constexpr int64_t kRecentSteps = 1000;

bool HasStopped(const ActionOutcome& outcome) {
  return outcome.kind == "stop" &&
         outcome.result == ActionOutcome::Result::kDone;
}

// There is a view while this is.
class ViewScope {
 public:
  ViewScope(std::optional<WatchView>& view, Streams streams, bool json)
      : view_(view) {
    view_.emplace(streams.out, streams.out_terminal, json);
  }
  ~ViewScope() { view_.reset(); }
  ViewScope(const ViewScope&) = delete;
  ViewScope& operator=(const ViewScope&) = delete;

 private:
  std::optional<WatchView>& view_;
};

// `smdebug watch <run>`: judges each step as it is saved.
class WatchCommand final : public Command {
 public:
  std::string_view name() const override { return "watch"; }
  std::string_view summary() const override {
    return "Judge a running job with rules, each step as it is saved.";
  }
  std::string_view examples() const override {
    return "  smdebug watch ./run --rule VanishingGradient --rule "
           "ExplodingTensor\n"
           "  smdebug watch ./run --rule StalledTrainingRule:threshold=600\n"
           "  smdebug watch ./run --rule my_rules.py:LongWeight:limit=20\n"
           "  smdebug watch ./run --config rules.json --timeout 3600\n"
           "  smdebug watch ./run --rule ExplodingTensor --action stop\n"
           "  smdebug watch --json ./run --rule ExplodingTensor | jq .step\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "the job has ended, however it did, and no rule fired"},
            {kExitFound, "a rule fired, whatever became of the others"},
            {kExitError,
             "no rule fired, and one could not be evaluated, no run appeared "
             "or nothing new came for --timeout seconds; or the call is "
             "wrong"},
            {kExitInterrupted, "Ctrl-C"}};
  }
  std::string_view details() const override {
    return R"(Judges what is there, then each new step as soon as every worker has saved it, until the job has ended. It waits for a run that does not exist yet, for `--wait-for-run` seconds, and as long as a job of this machine lives that has made
a hook on the folder and has not begun; if none comes it says so and ends. A job that
was killed leaves no end marker; about a second after its last process is gone the command ends too. On standard error it says how a job ended that did not finish: that it has
failed, or was interrupted or killed, and why. The exit code is that of the rules: 0 for such a job, too, unless one fired. Of a job on another machine the command must see nothing change for five minutes first.

A rule of a Python file that takes long over a step does not hold up the others: it is asked about the next step when it has answered, and at the end it is waited for. If it has not answered about a step
for 60 seconds (`--rule-timeout`), or for `--timeout` seconds if that is shorter, it is given up: a message names it, and it ends as an `Error`, "did not answer at step N within 60 s".

On a terminal a view is drawn again in place: how many steps were judged, and for each rule its status, at how many steps it fired, and its last evidence. What a rule of a Python file prints appears above it. Elsewhere
there is a line for each finding, three per rule and step at most, and a line for each rule at the end.

Rules, options and reports are those of `check`, and the verdicts are the same. What was judged a thousand steps ago and more is forgotten, so that a long job takes no more memory; rules
have taken from it what they need. `<run>/rules/<name>.json` is written when a rule begins, when it first fires, once a second while
it goes on, and at the end. The status is `IssuesFound` from the first finding on; a rule that was ended before the job, and has found nothing, is `Stopped`, and says so if it has judged nothing.

A second call with the same rule, parameters and steps on the same job judges from the start again, for rules remember what they saw, and comes to the same report. What
the first call has reported is not reported again.

When another job takes the folder, or the folder is removed, a message says so, and the next run there is watched from its beginning. A rule that fired on the run before is named at the end, and the exit code is 1.

With `--action stop` a rule that fires ends the processes of this machine that write the run. Actions are done as in `check`, and a line reports what became of each. While one is done,
nothing is judged. After a stop the command judges what the job has left, and ends.

JSON: one object per line. `event` is `finding`, with `name` and the keys of a finding, `action`, with `name`, `action`, `target`, `outcome` and `detail`, or, at the end, `report`, with the keys of `check --json`.
)";
  }

  void Declare(CLI::App& app) override {
    options_.Declare(app);
    AddSeconds(app, "--timeout", timeout_,
               "Give up after this many seconds without a new step or verdict; "
               "default: never");
    AddWaitForRun(app, wait_for_run_);
  }

  int Run(Streams streams) override {
    const InterruptScope interrupt;
    std::optional<int> code;
    while (!code) {
      try {
        code = Watch(interrupt, streams);
      } catch (const rules::Interrupted&) {
        code = kExitInterrupted;
      } catch (const RunReplacedError& error) {
        TellReplaced(error.what(), streams.err);
      } catch (const query::NoRunError& error) {
        streams.err << fmt::format("smdebug: {}\n", Printable(error.what()));
        code = kExitError;
      }
    }
    for (const std::string& rule : fired_before_) {
      streams.err << fmt::format(
          "smdebug: {} fired on a run that was here before\n", Printable(rule));
    }
    if (fired_before_.empty() || code == kExitInterrupted) return *code;
    return kExitFound;
  }

 private:
  // The exit code; nullopt if another run has taken the place of this one.
  std::optional<int> Watch(const InterruptScope& interrupt, Streams streams) {
    InvokeOptions options = options_.ForInvoker();
    options.go_on = [&] { return !interrupt.interrupted(); };
    // Who waits for a rule waits no longer than for the job.
    options.answer_limit =
        std::min(options.answer_limit, timeout_.value_or(options.answer_limit));
    // Where lines of others would run into the view.
    const bool is_one_terminal = streams.out_terminal.is_terminal &&
                                 streams.err_terminal.is_terminal &&
                                 !options_.json;
    const auto tell = [this, streams, is_one_terminal](std::string_view line) {
      if (is_one_terminal && view_) {
        view_->TellPrinted(line);
      } else {
        streams.err << line << '\n';
      }
    };
    if (is_one_terminal) options.on_print = tell;
    options.on_notice = [tell](std::string_view line) {
      tell("smdebug: " + Printable(std::string(line)));
    };
    const RuleSet rules(options_.Evaluations(), options);
    const auto actions = options_.ActionsFor(rules.evaluations());
    RequireOtherTrials(rules.evaluations());
    waiting_since_ = Clock::now();
    const auto storage = query::AwaitRunFolder(
        options_.run, WaitNotice(streams.err),
        [&] { return !interrupt.interrupted() && !TimedOut(); }, wait_for_run_);
    if (!storage) return Stopped(interrupt, streams);
    const auto trial = std::make_unique<Trial>(storage, query::RunOptions());
    DamageNotice notice(trial.get(), [&](const std::string& line) {
      tell(is_one_terminal && view_
               ? line
               : Paint(streams.err_terminal, Colour::kRed, line));
    });
    query::RequireWorker(*trial, options_.worker);

    const ViewScope scope(view_, streams, options_.json);
    WatchView& view = *view_;
    int64_t verdicts = -1;  // None was looked at.
    bool is_idle = false;
    bool is_job_stopped = false;
    options.recent_steps = kRecentSteps;
    options.reports = options_.ReportsIn(storage);
    options.on_fire = [&](const RuleFire& fire) {
      view.Tell(fire);
      for (const ActionOutcome& outcome : actions->Fire(fire, *trial)) {
        view.Tell(fire.evaluation.name, outcome);
        is_job_stopped = is_job_stopped || HasStopped(outcome);
      }
      return !actions->HasFailed(fire.evaluation.name);
    };
    const auto go_on = [&](const Invoker& judging) {
      int64_t judged = judging.steps_judged();
      for (size_t i = 0; i < rules.evaluations().size(); ++i) {
        judged += judging.report(i).steps_judged;
      }
      const bool is_new = std::exchange(verdicts, judged) != judged;
      if (is_new) waiting_since_ = Clock::now();
      // What is there is judged however short the time is: it is up when two
      // looks in a row have brought nothing.
      const bool was_idle = std::exchange(is_idle, !is_new);
      // A job that was stopped need not leave an end marker.
      if (is_job_stopped && !is_new && !judging.is_behind() &&
          !storage->Stat(run::kEndMarkerKey)) {
        return false;
      }
      notice.TellNew();
      view.Update(judging);
      // A rule that is behind answers or is given up.
      return streams.out && !interrupt.interrupted() &&
             (judging.is_behind() || !is_idle || !was_idle || !TimedOut());
    };
    const LiveVerdict verdict =
        rules.JudgeLive(*trial, std::move(options), go_on);
    if (verdict.replaced) {
      for (const RuleReport& report : verdict.reports) {
        if (report.findings_total > 0) fired_before_.insert(report.name);
      }
      TellReplaced(*verdict.replaced, streams.err);
      return std::nullopt;
    }
    view.End(verdict);
    for (const RuleReport& report : verdict.reports) {
      if (options_.json) break;
      for (const std::string& line : FileLines(report, trial->path())) {
        streams.out << Printable(report.name) << ": " << line << '\n';
      }
    }
    options_.TellWhose(*trial, streams.err);
    if (fired_before_.empty()) {
      TellNotDone(*actions, verdict.reports, streams.err);
    }
    TellEnd(trial->run_info(), streams.err);
    const int code = ExitCodeOf(verdict.reports);
    if (verdict.ended) return code;
    if (is_job_stopped && !interrupt.interrupted()) return code;
    const int stopped = Stopped(interrupt, streams);
    return stopped == kExitInterrupted || code == kExitOk ? stopped : code;
  }

  // Throws Error if a run to compare with is not there: now, and not when the
  // run that is waited for has come.
  void RequireOtherTrials(std::span<const RuleEvaluation> evaluations) const {
    for (const std::string& path : options_.other_trials) {
      query::OpenFolder(path);
    }
    for (const RuleEvaluation& evaluation : evaluations) {
      for (const std::string& path : evaluation.other_trials) {
        query::OpenFolder(path);
      }
    }
  }

  static void TellReplaced(std::string_view what, std::ostream& err) {
    err << fmt::format("smdebug: {}: watching the folder anew\n",
                       Printable(std::string(what)));
  }

  int Stopped(const InterruptScope& interrupt, Streams streams) const {
    if (interrupt.interrupted()) return kExitInterrupted;
    if (TimedOut()) {
      streams.err << fmt::format("smdebug: nothing new for {} s\n",
                                 ShortNumber(timeout_.value_or(0)));
    }
    return kExitError;
  }

  bool TimedOut() const {
    return timeout_ && Clock::now() - waiting_since_ >=
                           std::chrono::duration<double>(*timeout_);
  }

  JudgeOptions options_;
  std::optional<double> timeout_;
  double wait_for_run_ = query::kRunPatience;
  std::set<std::string> fired_before_;  // Rules, on runs that were replaced.
  Clock::time_point waiting_since_;
  std::optional<WatchView> view_;  // While there is one.
};

}  // namespace

std::unique_ptr<Command> MakeWatchCommand() {
  return std::make_unique<WatchCommand>();
}

}  // namespace smdebug::cli
