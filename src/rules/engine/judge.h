#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "smdebug/trial.h"
#include "src/rules/engine/deferred_rule.h"
#include "src/rules/engine/trial_view.h"
#include "src/rules/reports/report_files.h"

namespace smdebug::rules {

// A worker of a run, as rules see it: its view of the run, and of each other
// run. One thread at a time.
struct Desk {
  Desk(Trial* trial, std::optional<std::string> asked_worker)
      : worker(std::move(asked_worker)), view(trial, worker) {}

  const std::optional<std::string> worker;
  TrialView view;
  std::vector<std::unique_ptr<TrialView>> others;  // As the invoker has them.
};

// What became of all that a job was to save.
struct Account {
  HookStats stats = {};
  std::vector<Damage> damage = {};  // Ledgers that should tell, and do not.
};

// One rule over a run: an object of it for each desk, and the one report.
// One thread at a time.
class Judge {
 public:
  // Which steps; `end` is not one of them.
  struct Range {
    int64_t start = 0;
    std::optional<int64_t> end = {};
  };

  // Throws as MakeRule() does. `others` are numbers of Desk::others; `type`
  // outlives the judge.
  Judge(RuleEvaluation asked, const RuleType& type, Range range,
        std::vector<size_t> others);

  // Judges the step that the desks are at.
  std::vector<Finding> JudgeStep(std::span<const std::unique_ptr<Desk>> desks);
  // Tells the rule how long nothing has come; a finding counts once per wait.
  std::vector<Finding> NoteWait(std::span<const std::unique_ptr<Desk>> desks,
                                double seconds);
  // Asks the rule for its last words.
  std::vector<Finding> Finish(std::span<const std::unique_ptr<Desk>> desks);

  // The files that the rule makes now; those of several desks in folders by
  // worker.
  std::vector<RuleFile> Files(std::span<const std::unique_ptr<Desk>> desks);

  // The rule, if it is one that is asked first; else null.
  DeferredRule* deferred() const noexcept { return deferred_; }

  // Ends the rule, which has not answered about `step` for so many seconds.
  void GiveUp(int64_t step, double seconds);

  // Settles the status, by what `trial`, which is the run, has besides, and by
  // what the job could not save.
  void Conclude(bool stopped, Trial& trial, const Account& account);

  bool IsInRange(int64_t step) const {
    return step >= range.start && !IsPast(step);
  }
  bool IsPast(int64_t step) const { return range.end && step >= *range.end; }

  const RuleEvaluation evaluation;
  const Range range;
  const std::vector<size_t> others;
  RuleReport report;
  bool concluded = false;

 private:
  // The rule at one desk.
  struct Seat {
    std::unique_ptr<Rule> rule;
    bool judged = false;
  };

  template <typename Question>
  std::vector<Finding> Ask(std::span<const std::unique_ptr<Desk>> desks,
                           const Question& question);
  void AskOne(Desk& desk, Seat& seat, std::vector<Finding>& found,
              const std::function<std::vector<Finding>(Rule&)>& question);
  std::string WhyNoStep(Trial& trial) const;
  std::string Lack(Trial& trial) const;
  std::string Missing(Trial& trial) const;
  void Fail(std::string_view details);

  const RuleType* const type_;
  const TensorSelection asked_;  // By the user, not by the rule itself.
  std::vector<Seat> seats_;      // Parallel to the desks.
  DeferredRule* deferred_ = nullptr;
  ViewUse use_;
  bool told_of_wait_ = false;
};

}  // namespace smdebug::rules
