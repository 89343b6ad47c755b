#include "smdebug/internal/step_judge.h"

#include <utility>

#include "smdebug/error.h"

namespace smdebug {

StepJudge::StepJudge(Trial* trial, RuleEvaluation evaluation,
                     std::vector<std::string> other_trials)
    : trial_(trial),
      evaluation_(std::move(evaluation)),
      other_trials_(std::move(other_trials)) {
  BeginAt(0);
}

StepJudge::~StepJudge() = default;

void StepJudge::BeginAt(int64_t step) {
  InvokeOptions options;
  options.start_step = step;
  options.other_trials = other_trials_;
  options.on_fire = [this](const RuleFire& fire) {
    found_.assign(fire.findings.begin(), fire.findings.end());
    return true;
  };
  invoker_ = std::make_unique<Invoker>(trial_, std::move(options));
  invoker_->Add(evaluation_);
  asked_ = -1;
  found_.clear();
}

std::vector<Finding> StepJudge::Check(int64_t step) {
  if (step == asked_) return found_;
  if (trial_->HasPassedStep(step) != StepState::kAvailable &&
      !trial_->HasScalarsAt(step)) {
    return {};
  }
  if (asked_ < 0 || step < asked_) BeginAt(step);
  const RuleReport& report = invoker_->report(0);
  const int64_t unreadable = report.unreadable_steps;
  while (invoker_->last_step() < step) {
    found_.clear();
    if (invoker_->JudgeNewSteps(/*most=*/1) == 0) break;
  }
  if (report.status == RuleStatus::kError) {
    throw InsufficientInformation(evaluation_.name, report.details);
  }
  asked_ = step;
  if (report.unreadable_steps > unreadable) throw Error(report.unreadable);
  return invoker_->last_step() == step ? found_ : std::vector<Finding>();
}

std::vector<RuleFile> StepJudge::Files() { return invoker_->Files(); }

}  // namespace smdebug
