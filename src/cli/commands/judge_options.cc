#include "src/cli/commands/judge_options.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "src/actions/action_type.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/cli/output/text.h"

namespace smdebug::cli {
namespace {

std::string ReadWhole(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(fmt::format("{}: is a folder; expected a JSON file", path));
  }
  const size_t slash = path.find_last_of('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name =
      slash == std::string::npos ? path : path.substr(slash + 1);
  std::optional<Blob> blob;
  try {
    if (!name.empty()) blob = OpenLocalStorage(folder)->Read(name);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
  if (!blob) throw Error(fmt::format("{}: no such file", path));
  return std::string(blob->text());
}

}  // namespace

void JudgeOptions::Declare(CLI::App& app) {
  AddRun(app, run);
  app.add_option("--rule", rules,
                 "Name, Name:param=value:param=value or Name{\"param\": "
                 "\"value\"}; Name may be path/to/file.py:ClassName; may be "
                 "given several times")
      ->type_name("RULE")
      ->expected(1)
      ->take_all();
  app.add_option("--config", config,
                 "JSON file with rules, in the form of SageMaker's "
                 "DebugRuleConfigurations")
      ->type_name("FILE");
  AddWhole(
      app, "--start-step", {}, [this](int64_t step) { start_step = step; },
      "First step to judge, counted over all modes; default: 0");
  AddWhole(
      app, "--end-step", {}, [this](int64_t step) { end_step = step; },
      "Judge only steps before this one; default: all");
  AddWorker(app, worker);
  app.add_flag("--all-workers", all_workers,
               "Judge what each worker saved separately")
      ->excludes("--worker");
  app.add_option("--other-trial", other_trials,
                 "Folder of a run to compare with; may be given several times")
      ->type_name("RUN")
      ->expected(1)
      ->take_all();
  app.add_flag("--no-reports", no_reports, "Write no reports to <run>/rules/");
  app.add_option("--action", actions,
                 fmt::format("Do this when a rule fires: {}; may be given "
                             "several times",
                             actions::ActionForms()))
      ->type_name("ACTION")
      ->expected(1)
      ->take_all();
  app.add_flag("--dry-run", dry_run, "Only say what the actions would do");
  AddSeconds(
      app, "--rule-timeout", rule_timeout,
      fmt::format("Give up a rule of a Python file that has not answered "
                  "about a step for this many seconds; default: {}",
                  InvokeOptions().answer_limit));
  AddJson(app, json);
}

std::vector<RuleEvaluation> JudgeOptions::Evaluations() const {
  std::vector<RuleEvaluation> evaluations;
  if (!config.empty()) {
    evaluations = ParseRuleConfigurations(ReadWhole(config), config);
  }
  for (const std::string& text : rules) {
    evaluations.push_back(ToEvaluation(ParseRuleSpec(text)));
  }
  if (evaluations.empty()) {
    throw Error(
        "no rule is given: --rule NAME or --config FILE; `smdebug rules` lists "
        "the rules");
  }
  MakeNamesUnique(evaluations);
  return evaluations;
}

std::unique_ptr<actions::FireActions> JudgeOptions::ActionsFor(
    std::span<const RuleEvaluation> evaluations) const {
  auto fire_actions =
      std::make_unique<smdebug::actions::FireActions>(actions, dry_run, run);
  for (const RuleEvaluation& evaluation : evaluations) {
    fire_actions->Add(evaluation);
  }
  return fire_actions;
}

void JudgeOptions::TellWhose(Trial& trial, std::ostream& err) const {
  const size_t workers = trial.Workers().size();
  if (worker || all_workers || workers < 2) return;
  err << fmt::format(
      "smdebug: {} workers saved; of each tensor, what the first of them by "
      "name saved was judged (`--all-workers` judges each)\n",
      workers);
}

InvokeOptions JudgeOptions::ForInvoker() const {
  if (end_step && *end_step <= start_step.value_or(0)) {
    throw Error(fmt::format(
        "--end-step {} leaves nothing to judge: steps from {} on, below it",
        *end_step, start_step.value_or(0)));
  }
  InvokeOptions options;
  options.start_step = start_step.value_or(0);
  options.end_step = end_step;
  options.worker = worker;
  options.all_workers = all_workers;
  options.other_trials = other_trials;
  options.answer_limit = rule_timeout.value_or(options.answer_limit);
  options.load_limit = std::max(options.load_limit, options.answer_limit);
  // A call without actions, or a dry run, has told nobody who would act.
  options.told_to = fmt::format(
      "{}{}", actions::OptionsFor(dry_run).dry_run ? "dry run " : "",
      fmt::join(actions, " "));
  return options;
}

std::shared_ptr<Storage> JudgeOptions::ReportsIn(
    std::shared_ptr<Storage> run_storage) const {
  return no_reports ? nullptr : std::move(run_storage);
}

void TellNotDone(const actions::FireActions& actions,
                 std::span<const RuleReport> reports, std::ostream& err) {
  for (const std::string& line : actions.NotDone(reports)) {
    err << "smdebug: " << Printable(line) << '\n';
  }
}

int ExitCodeOf(std::span<const RuleReport> reports) {
  // A rule that fired is not hidden by what became of it, or of another.
  if (std::ranges::any_of(reports, [](const RuleReport& report) {
        return report.findings_total > 0;
      })) {
    return kExitFound;
  }
  const bool is_clean = std::ranges::all_of(reports, [](const auto& report) {
    return report.status == RuleStatus::kNoIssuesFound;
  });
  return is_clean ? kExitOk : kExitError;
}

}  // namespace smdebug::cli
