#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/rule.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"

namespace smdebug {

namespace rules {
class PythonChild;
class Panel;
}  // namespace rules

// One rule to be evaluated over a run: which, under which name, and what the
// evaluator itself is told by parameters that are not the rule's.
struct RuleEvaluation {
  std::string name;  // Names its report.
  RuleSpec spec = {};
  // start_step and end_step; the latter is not judged itself.
  std::optional<int64_t> start_step = {};
  std::optional<int64_t> end_step = {};
  // other_trials, or other_trial_0, other_trial_1, ...: paths.
  std::vector<std::string> other_trials = {};
  // action_json, as it was given: what to do when the rule fires.
  std::optional<std::string> action_json = {};
};

// `spec`, with what is meant for the evaluator taken out of its parameters. The
// rule is named as its type is, or as its class. Throws ConfigError for an
// unknown rule that is of no file, and for a value that is not allowed.
RuleEvaluation ToEvaluation(RuleSpec spec);

// The rules of a file in the form of SageMaker's DebugRuleConfigurations: the
// list itself, or an object that has it under that key; an item is an object
// with RuleConfigurationName and RuleParameters, of which rule_to_invoke names
// the rule, or one that has such an object as "DebugRuleConfiguration". A rule
// of a Python file has source_s3_uri, too: the path of the file. Throws
// ConfigFileError, naming `file`, for what is not of that form, and ConfigError
// as ToEvaluation() does.
std::vector<RuleEvaluation> ParseRuleConfigurations(std::string_view json,
                                                    std::string_view file);

// Gives evaluations of the same name a number: "Name", "Name-2", ...
void MakeNamesUnique(std::vector<RuleEvaluation>& evaluations);

// Throws as MakeRule() does for a built-in rule that does not take its
// parameters, and InsufficientInformation for one that compares with another
// run and has none: neither of its own nor among `other_trials`, which are for
// all rules. Every front asks this before it waits for anything.
void RequireComplete(const RuleEvaluation& evaluation,
                     std::span<const std::string> other_trials = {});

// How far the evaluation of a rule has come. The names are SageMaker's.
enum class RuleStatus : uint8_t {
  kInProgress,
  kNoIssuesFound,
  kIssuesFound,  // Also while it goes on, from the first finding on.
  kError,
  kStopped,
};

std::string_view StatusName(RuleStatus status) noexcept;

// A row of judged steps at each of which a rule fired. Where there are too many
// rows, neighbours become one that has steps between at which it did not.
struct FiredRange {
  int64_t first = 0;
  int64_t last = 0;
  int64_t count = 0;   // Steps at which it fired.
  int64_t judged = 0;  // How many steps were judged up to `last`.

  friend bool operator==(const FiredRange&, const FiredRange&) = default;
};

// What a rule has said about a run so far: bounded, however long the run is and
// however often the rule fires.
struct RuleReport {
  std::string name;       // As `<run>/rules/` and the caller know it.
  std::string rule = {};  // The rule with its parameters.
  RuleStatus status = RuleStatus::kInProgress;
  std::string details = {};               // Why, for kError and kIssuesFound.
  int64_t fired_total = 0;                // Steps at which it fired.
  std::vector<int64_t> fired_steps = {};  // The first kMostSteps, in order.
  // All of them, in order, in kMostRanges at most.
  std::vector<FiredRange> fired_ranges = {};
  std::vector<Finding> findings = {};  // The first kMostFindings.
  int64_t findings_total = 0;
  int64_t steps_judged = 0;
  int64_t last_step = -1;  // The last one judged.
  bool ended = false;      // Whether every step was judged.
  // Whether it is a kError because it was told to look at a collection or a
  // regex that takes nothing of this run: that says nothing about the run.
  bool refused = false;
  // Steps that could not be read, and what was wrong with the first.
  int64_t unreadable_steps = 0;
  std::string unreadable = {};
  // What the rule has written for people, such as a page: keys below the run.
  std::vector<std::string> files = {};

  static constexpr size_t kMostFindings = 100;
  static constexpr size_t kMostSteps = 1000;
  static constexpr size_t kMostRanges = 100;

  // Adds what was found at the last step that was judged, or after it.
  void Add(const std::vector<Finding>& found);

  // Makes this equal to `later`, the same report later on. Findings and steps
  // that are here already are not copied again.
  void CatchUpWith(const RuleReport& later);

 private:
  void AddStep(int64_t step);
};

// One object on one line, as `smdebug check --json` and `<run>/rules/` have it:
// name, rule, status, details, fired_total, fired_steps, fired_ranges (first,
// last and count of each), findings_total, findings, steps_judged, last_step,
// ended, refused and files.
std::string ToJson(const RuleReport& report);

// A rule that fires at a step.
struct RuleFire {
  const RuleEvaluation& evaluation;
  std::span<const Finding> findings;  // Of this step, at least one.
  bool is_first;                      // Of this rule over this run.
};

// Which steps are judged, whose, and who hears of it.
struct InvokeOptions {
  // For rules that do not say otherwise. end_step is not judged itself.
  int64_t start_step = 0;
  std::optional<int64_t> end_step = {};

  // Whose values: the worker's; unset, those of the first by name that has one.
  std::optional<std::string> worker = {};
  // Those of each worker, apart, by a rule of its own.
  bool all_workers = false;

  // Runs to compare with, for rules that name none.
  std::vector<std::string> other_trials = {};
  // Opens them. Default: Trial::Open(), which waits for runs if this is live.
  std::function<std::unique_ptr<Trial>(const std::string& path)> open_trial =
      {};

  // Whether the run may go on: steps of other runs are waited for then.
  bool live = false;

  // So many of the steps that were judged stay in the trial's memory, at least;
  // it forgets older ones, as if they were not in the run. 256 steps that have
  // nothing but scalars count as one. A rule keeps what it saw itself, so only
  // what it asks of older steps is missed. Unset: all.
  std::optional<int64_t> recent_steps = {};

  // Called once for each rule and step at which it fires, after the finding is
  // in its report. Not for steps of this run that an earlier invocation of the
  // same rule has told about to the same `told_to`. False if it was not told
  // after all, for what was to be done has failed: a later invocation tells
  // again, unless a later step of this one was told of. So does an exception,
  // which is logged.
  std::function<bool(const RuleFire&)> on_fire = {};
  // Who is told, or what is done: any text. So that one who only looks does not
  // silence one who acts. The action_json of a rule counts, too.
  std::string told_to = {};

  // Gets each line that a rule of a Python file prints, without the line feed,
  // while the rule is asked. Unset: such lines go to standard error at once.
  std::function<void(std::string_view line)> on_print = {};

  // Gets a line when a rule is given up, or reports cannot be kept. Unset: it
  // goes to the log.
  std::function<void(std::string_view line)> on_notice = {};

  // The Python that evaluates rules of Python files where SMDEBUG_PYTHON names
  // none. Empty: that of the environment which `smdebug` is installed in, else
  // python3.
  std::string python = {};

  // So many seconds a rule of a Python file may take over a step; then it is
  // given up, and ends in kError. Meanwhile the others go on.
  double answer_limit = 60;
  // And so many to be loaded.
  double load_limit = 60;

  // What became of all that the job was to save, for a rule that finds nothing:
  // it has not seen what was lost or dropped. Default: what the ledgers say.
  std::function<HookStats()> stats = {};

  // The store of the run, to keep reports in below rules/; null: nowhere.
  std::shared_ptr<Storage> reports = {};

  // Asked between steps and, about ten times a second, while waiting; false
  // ends the work.
  std::function<bool()> go_on = {};
};

// Judges the steps of a trial in order with many rules, each step read once.
//
// A step is judged when it is complete. Steps that were not saved are passed
// over. A rule that throws ends in kError and does not hold up the others; a
// step with a damaged file costs the rules that look at it that step, and their
// verdict if they find nothing else.
//
// Rules have a memory, so a second invocation judges from the start again and
// comes to the same report; it goes on telling where the first one ended.
//
// One thread at a time.
class Invoker {
 public:
  // The trial outlives the invoker.
  Invoker(Trial* trial, InvokeOptions options);
  ~Invoker();

  // Adds a rule. Its name must be new. Throws as MakeRule() does, and as
  // opening other trials does.
  void Add(RuleEvaluation evaluation);

  // Adds a rule of the caller's own. The type outlives the invoker.
  void Add(RuleEvaluation evaluation, const RuleType& type);

  // Judges what can be read now, at most so many steps; returns how many.
  int64_t JudgeNewSteps(int64_t most = std::numeric_limits<int64_t>::max());

  // Whether nothing is left to come: the run has ended, or every rule's last
  // step is passed. What is there may still have to be judged.
  bool Done();

  // Judges until Done(), waiting for steps. False if go_on() ended it.
  bool Run();

  // Tells the rules how long nothing has come.
  void NoteWait(double seconds);

  // Ends every rule that is in progress: by what it found, or as stopped.
  void Finish(bool stopped);

  // In the order of adding; a copy.
  std::vector<RuleReport> reports() const;

  // The one of the rule that was added as number `index`, from 0 on. Changes as
  // the invoker goes on.
  const RuleReport& report(size_t index) const;

  // What the rules have to show, as in `rules/<name>/`, that has changed since
  // the last call. For callers without InvokeOptions::reports.
  std::vector<RuleFile> Files();

  int64_t last_step() const noexcept;
  int64_t steps_judged() const noexcept;

  // Whether a rule of a Python file has not answered about each of them yet.
  bool is_behind() const noexcept;

 private:
  std::unique_ptr<rules::Panel> panel_;
};

// What judging a run as it goes on came to.
struct LiveVerdict {
  bool ended = false;  // The job has, and every step was judged.
  // What a RunReplacedError said, if the folder came to hold another run.
  std::optional<std::string> replaced = {};
  std::vector<RuleReport> reports = {};
  int64_t steps_judged = 0;
  int64_t last_step = -1;
};

// Rules that are to judge a run, once or as it goes on. Those that classes of
// Python files define are loaded at construction, each into a Python process of
// its own, which ends with this object.
//
// One thread at a time.
class RuleSet {
 public:
  // `options` are those to judge with, as far as they are known before the run
  // is there. While Python is waited for, their go_on() is asked. Throws Error,
  // with the reason, if a class cannot be had or does not take its parameters,
  // and for a rule in Python if `options` choose workers.
  RuleSet(std::vector<RuleEvaluation> evaluations,
          const InvokeOptions& options);
  ~RuleSet();
  RuleSet(const RuleSet&) = delete;
  RuleSet& operator=(const RuleSet&) = delete;

  const std::vector<RuleEvaluation>& evaluations() const noexcept {
    return evaluations_;
  }

  // Judges every complete step that `trial` has now, and ends every rule. If
  // the job has not ended, the rules are told how long nothing has come into
  // `storage`, the run's. Throws as Invoker::Add() does.
  std::vector<RuleReport> JudgeOnce(Trial& trial, const Storage& storage,
                                    InvokeOptions options) const;

  // Judges each step as soon as it is complete, until the job has ended.
  // `go_on` is asked as InvokeOptions::go_on is, in its place; once it says no,
  // rules that are in progress end as stopped. If another run takes the place
  // of this one, the reports are as they were then. Throws as Invoker::Add()
  // does.
  LiveVerdict JudgeLive(Trial& trial, InvokeOptions options,
                        const std::function<bool(const Invoker&)>& go_on) const;

 private:
  // Parallel to the evaluations; without `make` for built-in rules.
  std::vector<RuleType> TypesFor(const Trial& trial,
                                 const InvokeOptions& options) const;
  void AddTo(Invoker& invoker, const std::vector<RuleType>& types) const;

  const std::vector<RuleEvaluation> evaluations_;
  // Parallel; null for built-in rules.
  const std::vector<std::shared_ptr<rules::PythonChild>> children_;
};

// Seconds since the newest file of the run came, by the clock of the store; 0
// if there is none or the job has ended.
double SecondsSinceNewestFile(const Storage& storage);

}  // namespace smdebug
