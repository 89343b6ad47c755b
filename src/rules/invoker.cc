#include "src/rules/invoker.h"

#include <algorithm>
#include <utility>

#include "smdebug/error.h"

namespace smdebug::rules {

struct Invoker::Judge {
  std::unique_ptr<Rule> rule;
  Report report;

  // Asks the rule by `question`, which gives findings.
  template <typename Question>
  void Ask(const StepView& view, const Question& question) {
    if (report.status == Status::kError) return;
    try {
      std::vector<Finding> found = question(*rule);
      for (Finding& finding : found) {
        finding.step = view.step();
        finding.mode = view.mode();
        if (finding.worker.empty()) finding.worker = view.worker();
      }
      report.Add(std::move(found));
      report.last_step = view.step();
    } catch (const std::exception& error) {
      report.status = Status::kError;
      report.details = error.what();
    }
  }
};

Invoker::Invoker(Trial* trial, InvokeOptions options)
    : trial_(trial),
      options_(std::move(options)),
      view_(trial, options_.worker, options_.others),
      next_step_(options_.start_step) {}

Invoker::~Invoker() = default;

void Invoker::Add(std::string name, const RuleSpec& spec) {
  judges_.push_back(
      {.rule = MakeRule(spec), .report = {.rule = std::move(name)}});
}

int64_t Invoker::JudgeNewSteps() {
  const std::vector<int64_t> steps = trial_->Steps();
  int64_t judged = 0;
  for (auto it = std::ranges::lower_bound(steps, next_step_); it != steps.end();
       ++it) {
    if (options_.end_step && *it >= *options_.end_step) break;
    JudgeStep(*it);
    next_step_ = *it + 1;
    ++judged;
  }
  return judged;
}

void Invoker::JudgeStep(int64_t step) {
  const RefreshScope still(trial_, /*on=*/false);
  view_.MoveTo(step);
  for (Judge& judge : judges_) {
    judge.Ask(view_, [&](Rule& rule) { return rule.Check(view_); });
  }
}

bool Invoker::Done() {
  if (options_.end_step) {
    const std::vector<int64_t> steps = trial_->Steps();
    if (!steps.empty() && steps.back() >= *options_.end_step) return true;
  }
  return trial_->loaded_all_steps();
}

void Invoker::Run() {
  // Whether everything was seen is asked before the last look at the steps.
  for (bool done = false; !done;) {
    done = Done();
    if (JudgeNewSteps() == 0 && !done) {
      constexpr std::chrono::milliseconds kLongestWait(500);
      trial_->WaitForChange(kLongestWait);
    }
  }
  Finish(/*stopped=*/false);
}

void Invoker::Finish(bool stopped) {
  if (std::exchange(finished_, true)) return;
  const RefreshScope still(trial_, /*on=*/false);
  for (Judge& judge : judges_) {
    if (!stopped && judge.report.last_step >= 0) {
      judge.Ask(view_, [&](Rule& rule) { return rule.Finish(view_); });
    }
    Report& report = judge.report;
    if (report.status == Status::kError) continue;
    if (report.findings_total > 0) {
      report.status = Status::kIssuesFound;
      report.details = report.findings.front().message;
    } else {
      report.status = stopped ? Status::kStopped : Status::kNoIssuesFound;
    }
  }
}

std::vector<Report> Invoker::reports() const {
  std::vector<Report> reports;
  reports.reserve(judges_.size());
  for (const Judge& judge : judges_) reports.push_back(judge.report);
  return reports;
}

}  // namespace smdebug::rules
