#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smdebug/invoker.h"
#include "src/actions/fire_actions.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's name.
class App;
}

// What `check` and `watch` share.
namespace smdebug::cli {

// Which rules judge which steps of a run, as a user tells. One thread at a
// time.
struct JudgeOptions {
  std::string run;
  std::vector<std::string> rules;  // Specs.
  std::string config;              // A file; empty: none.
  std::optional<int64_t> start_step;
  std::optional<int64_t> end_step;
  std::optional<std::string> worker;
  bool all_workers = false;
  std::vector<std::string> other_trials;
  bool no_reports = false;
  std::vector<std::string> actions;  // As ParseAction() takes them.
  bool dry_run = false;
  std::optional<double> rule_timeout;
  bool json = false;

  // Declares them all on `app`; this object outlives it.
  void Declare(CLI::App& app);

  // The rules asked for, under names of their own. Throws Error if there are
  // none, if the file cannot be read, and as rules are refused.
  std::vector<RuleEvaluation> Evaluations() const;

  // What to do when `evaluations` fire. Throws Error for an action that cannot
  // be done.
  std::unique_ptr<actions::FireActions> ActionsFor(
      std::span<const RuleEvaluation> evaluations) const;

  // Says on `err` that others saved more than was judged, if they may have.
  void TellWhose(Trial& trial, std::ostream& err) const;

  // Without what a command adds of its own, and without a place for reports.
  InvokeOptions ForInvoker() const;

  // Where reports go, if they are kept at all.
  std::shared_ptr<Storage> ReportsIn(
      std::shared_ptr<Storage> run_storage) const;
};

// Says on `err` which actions were not done at all, and why.
void TellNotDone(const actions::FireActions& actions,
                 std::span<const RuleReport> reports, std::ostream& err);

// 1 if some rule fired, else 2 if one could not be evaluated to the end, else
// 0.
int ExitCodeOf(std::span<const RuleReport> reports);

}  // namespace smdebug::cli
