#include <algorithm>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "src/cli/command.h"
#include "src/cli/commands/export_file.h"
#include "src/cli/commands/judge_options.h"
#include "src/cli/output/junit.h"
#include "src/cli/output/rule_text.h"
#include "src/cli/output/text.h"
#include "src/query/open_run.h"

namespace smdebug::cli {
namespace {

// Findings of one rule that the text shows; JSON has more.
constexpr size_t kMostFindings = 5;

void PrintReport(const RuleReport& report, const std::string& run, Streams to) {
  std::ostringstream text;
  const Streams streams = {text, to.err, to.out_terminal, to.err_terminal};
  const std::string status(StatusName(report.status));
  const bool is_bad = report.status == RuleStatus::kIssuesFound ||
                      report.status == RuleStatus::kError;
  streams.out << fmt::format(
      "{}  {}", Printable(report.name),
      is_bad ? Paint(streams.out_terminal, Colour::kRed, status) : status);
  if (report.status == RuleStatus::kIssuesFound) {
    streams.out << fmt::format(
        "  {} at {} of {}", Counted(report.findings_total, "finding"),
        report.fired_total, Counted(report.steps_judged, "step"));
  } else if (!report.details.empty()) {
    streams.out << "  " << Printable(report.details);
  }
  streams.out << '\n';
  const size_t shown = std::min(report.findings.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) {
    streams.out << "  " << FindingText(report.findings[i]) << '\n';
  }
  const int64_t left = report.findings_total - static_cast<int64_t>(shown);
  if (left > 0) streams.out << fmt::format("  ... and {} more\n", left);
  if (report.status == RuleStatus::kIssuesFound &&
      report.unreadable_steps > 0) {
    streams.out << fmt::format("  {} could not be read: {}\n",
                               Counted(report.unreadable_steps, "step"),
                               Printable(report.unreadable));
  }
  for (const std::string& line : FileLines(report, run)) {
    streams.out << "  " << line << '\n';
  }
  to.out << FitLines(text.str(), to.out_terminal, /*indent=*/4);
}

// `smdebug check <run>`: judges what a run holds, once.
class CheckCommand final : public Command {
 public:
  std::string_view name() const override { return "check"; }
  std::string_view summary() const override {
    return "Judge a run with rules, once, as it is now.";
  }
  std::string_view examples() const override {
    return "  smdebug check ./run --rule VanishingGradient --rule "
           "ExplodingTensor\n"
           "  smdebug check ./run --rule "
           "AllZero:collection_names=weights:threshold=90\n"
           "  smdebug check ./run --rule my_rules.py:LongWeight:limit=20\n"
           "  smdebug check ./run --config rules.json --junit rules.xml\n"
           "  smdebug check ./run --rule ExplodingTensor --action "
           "email:me@example.com\n"
           "  smdebug check --json ./run --rule VanishingGradient | jq "
           "'.[].fired_steps'\n";
  }
  std::vector<ExitCode> exit_codes() const override {
    return {{kExitOk, "no rule fired"},
            {kExitFound, "a rule fired, whatever became of the others"},
            {kExitError,
             "no rule fired, and one could not be evaluated, for example "
             "because tensors are missing; or the call is wrong"}};
  }
  std::string_view details() const override {
    return R"(Judges every complete step from the first to the last, with all rules in one pass. `smdebug rules` lists the rules, `smdebug rules <Name>` describes
one and its parameters. In `Name:param=value` a comma separates the items of a list. A value with a colon, or a regex with a comma, goes in as JSON:
`Name{"tensor_regex": ["a{1,2}", "b"]}`.

Besides its own parameters each rule takes `start_step`, `end_step`, `other_trials` and `other_trial_0`, `other_trial_1` and so on, which go before the options.

`path/to/file.py:ClassName` is a class of a Python file that derives from `smdebug.rules.Rule`, as those written for smdebug 1.0 do; in `--config` it is
`rule_to_invoke`, and `source_s3_uri` the path of the file. The Python that SMDEBUG_PYTHON names (default: the one that `smdebug` was installed into by pip, else `python3`), which has to have smdebug 2 installed, evaluates it in a process of its own, which ends
with the command. The file is run as an import runs it, so a script that trains when it is imported trains again; one in which no such class is to be seen is not run. Parameters are those of the constructor: strings, or int, float or bool where it is annotated as such or its default is one. What the rule prints goes to standard error. An exception makes
it an `Error`, with the exception as details, and so does a step that it has not answered about for `--rule-timeout` seconds; it has 60 seconds to load, or `--rule-timeout` if that is longer. `--worker` and `--all-workers` are refused, since such a rule asks for workers itself.

Without `--worker` a tensor that several workers saved is judged by what the first by name saved. With `--all-workers` each worker is judged by itself, and
findings name the worker. Where several workers saved and neither is given, a message says so.

A rule ends as `NoIssuesFound`, `IssuesFound` or `Error`. It is an `Error` if it finds nothing and something could not be read, is no longer there, or was lost or dropped while the job ran, if a ledger that would tell what was dropped or lost is damaged or missing (runs of smdebug 1.0 have none), or if the run does not save what the rule needs, or has nothing in a collection or for a regex that you named;
the details say what. On a run without end marker `StalledTrainingRule` compares the time of the newest file with now.

The report of each rule is kept in `<run>/rules/<name>.json` until the rule is asked again under this name, or the file is removed: `rm <run>/rules/<name>.json` takes it back. If a rule is given twice, the second one is named `Name-2`; rules of `--config` have the names that it gives
them. If the run cannot be written to, a message says so once, and the rest is the same; so it is with `rules/actions.jsonl`.

With `--action` each rule that fires has the action done, tried at most once in SMDEBUG_ACTION_INTERVAL seconds; the `action_json` of a rule is for that rule. What was done is reported on standard
error, and in `<run>/rules/actions.jsonl`, also with `--no-reports`. What an earlier call has acted on is not acted on again; if an action has failed, the next call tries all of that rule again. Where an action is not done, a message says why.

JSON: a list with one object per rule.

| Key | Value |
|---|---|
| `name` | name of the report |
| `rule` | the rule with its parameters |
| `status` | `NoIssuesFound`, `IssuesFound`, `Error`; in `<run>/rules/` also `InProgress` and `Stopped` |
| `details` | why; empty if there is nothing to say |
| `fired_total` | at how many steps the rule fired |
| `fired_steps` | the first 1,000 of them, over all modes |
| `fired_ranges` | all of them, in at most 100 ranges of `[first, last, count]`: the rule fired at every judged step of a range, unless there are so many ranges that near ones had to be joined; `count` shows it |
| `findings_total` | how many findings there are, one per step, tensor and worker |
| `findings` | the first 100: `step`, `mode`, `tensor`, `worker`, `value`, `threshold`, `message` |
| `steps_judged`, `last_step` | how far it came; the last is null before the first step |
| `ended` | whether every step was judged |
| `refused` | whether it is an `Error` because a collection or regex that it was given takes nothing of the run |
| `files` | what the rule has written for people, such as a page, below the run |
)";
  }

  void Declare(CLI::App& app) override {
    options_.Declare(app);
    app.add_option("--junit", junit_, "Also write the reports as JUnit XML")
        ->type_name("FILE");
  }

  int Run(Streams streams) override {
    InvokeOptions options = options_.ForInvoker();
    const RuleSet rules(options_.Evaluations(), options);
    const auto actions = options_.ActionsFor(rules.evaluations());
    if (!junit_.empty()) RequireFilePath(junit_);
    const auto storage = query::OpenFolder(options_.run);
    const auto trial = query::OpenRun(storage);
    const DamageNotice notice(trial.get(), streams);
    query::RequireWorker(*trial, options_.worker);
    options.reports = options_.ReportsIn(storage);
    options.on_notice = [&](std::string_view line) {
      streams.err << "smdebug: " << Printable(std::string(line)) << '\n';
    };
    options.on_fire = [&](const RuleFire& fire) {
      for (const ActionOutcome& outcome : actions->Fire(fire, *trial)) {
        streams.err << OutcomeText(fire.evaluation.name, outcome) << '\n';
      }
      return !actions->HasFailed(fire.evaluation.name);
    };
    options.open_trial = [](const std::string& path) {
      return query::OpenRun(path);
    };
    const std::vector<RuleReport> reports =
        rules.JudgeOnce(*trial, *storage, std::move(options));
    Print(reports, trial->path(), streams);
    options_.TellWhose(*trial, streams.err);
    TellNotDone(*actions, reports, streams.err);
    if (!junit_.empty()) WriteJunit(reports, trial->path());
    return ExitCodeOf(reports);
  }

 private:
  void Print(const std::vector<RuleReport>& reports, const std::string& run,
             Streams streams) const {
    if (!options_.json) {
      for (const RuleReport& report : reports) {
        PrintReport(report, run, streams);
      }
      return;
    }
    Json all = Json::array();
    for (const RuleReport& report : reports) all.push_back(ReportJson(report));
    PrintJson(streams.out, all);
  }

  void WriteJunit(const std::vector<RuleReport>& reports,
                  const std::string& run) const {
    std::ofstream out(junit_, std::ios::binary | std::ios::trunc);
    out << JunitText(reports, run) << std::flush;
    if (!out) throw Error(fmt::format("{}: cannot be written", junit_));
  }

  JudgeOptions options_;
  std::string junit_;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() {
  return std::make_unique<CheckCommand>();
}

}  // namespace smdebug::cli
