#include "src/rules/engine/panel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/rules/engine/interrupted.h"
#include "src/rules/engine/registry.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "src/trial/reader.h"

namespace smdebug::rules {
namespace {

using std::chrono::milliseconds;

// A wait is cut into pieces of this length, to ask whether to go on.
constexpr milliseconds kPiece{100};

// How often a report is written again while its rule goes on.
constexpr milliseconds kSaveEvery{1000};

// The same of the files that it makes.
constexpr milliseconds kSaveFilesEvery{5000};

// Steps with nothing but scalars that count as one when steps are forgotten:
// they are small, and many may lie between two whole ones.
constexpr int64_t kScalarSteps = 256;

std::string StepsText(const Judge::Range& range) {
  return fmt::format("{}..{}", range.start,
                     range.end ? std::to_string(*range.end) : "");
}

// A rule's own actions are told as well as those of all rules.
std::string ToldTo(const InvokeOptions& options,
                   const RuleEvaluation& evaluation) {
  const std::string own = evaluation.action_json.value_or("");
  const std::string_view trimmed = base::Trim(own);
  if (trimmed.empty()) return options.told_to;
  return fmt::format("{} {}", options.told_to, trimmed);
}

}  // namespace

Panel::Panel(Trial* trial, InvokeOptions options)
    : trial_(trial),
      options_(std::move(options)),
      files_(options_.reports, trial->run_id(), options_.on_notice) {
  next_step_ = std::numeric_limits<int64_t>::max();
  if (!options_.all_workers) {
    desks_.push_back(std::make_unique<Desk>(trial_, options_.worker));
  }
}

Panel::~Panel() = default;

void Panel::Add(RuleEvaluation evaluation, const RuleType& type) {
  const Judge::Range range = {
      .start = evaluation.start_step.value_or(options_.start_step),
      .end = evaluation.end_step ? evaluation.end_step : options_.end_step};
  const std::vector<std::string>& paths = evaluation.other_trials.empty()
                                              ? options_.other_trials
                                              : evaluation.other_trials;
  std::vector<size_t> others;
  others.reserve(paths.size());
  for (const std::string& path : paths) others.push_back(OtherTrial(path));
  RequireOtherTrial(type, !others.empty());
  Place place;
  place.judge =
      std::make_unique<Judge>(std::move(evaluation), type, range, others);
  const RuleReport& report = place.judge->report;
  place.question = {
      .rule = report.rule,
      .steps = StepsText(range),
      .worker = options_.all_workers ? "all" : options_.worker.value_or("")};
  place.told_to = ToldTo(options_, place.judge->evaluation);
  place.told = files_.WhatWasTold(report.name, place.question, place.told_to);
  next_step_ = std::min(next_step_, range.start);
  places_.push_back(std::move(place));
}

size_t Panel::OtherTrial(const std::string& path) {
  for (size_t i = 0; i < other_trials_.size(); ++i) {
    if (other_trials_[i].first == path) return i;
  }
  if (options_.open_trial) {
    other_trials_.emplace_back(path, options_.open_trial(path));
  } else {
    TrialOptions options = TrialOptions::FromEnvironment();
    options.wait_for_run = options_.live;
    other_trials_.emplace_back(path, Trial::Open(path, std::move(options)));
  }
  return other_trials_.size() - 1;
}

void Panel::UpdateDesks() {
  if (options_.all_workers) {
    for (const std::string& worker : trial_->Workers()) {
      if (std::ranges::none_of(desks_, [&](const auto& desk) {
            return desk->worker == worker;
          })) {
        desks_.push_back(std::make_unique<Desk>(trial_, worker));
      }
    }
    // A run that lost its collections files names none.
    if (desks_.empty()) {
      desks_.push_back(std::make_unique<Desk>(trial_, std::nullopt));
    }
  }
  for (const auto& desk : desks_) {
    while (desk->others.size() < other_trials_.size()) {
      desk->others.push_back(std::make_unique<TrialView>(
          other_trials_[desk->others.size()].second.get(), desk->worker));
    }
  }
}

int64_t Panel::JudgeNewSteps(int64_t most) {
  int64_t judged = 0;
  for (const int64_t step : trial_->reader().StepsFrom(next_step_, most)) {
    if (AllPast(step) || !GoOn()) break;
    JudgeStep(step);
    next_step_ = step + 1;
    ++judged;
    ForgetOldSteps(step);
    SaveReports();
  }
  const size_t files = trial_->reader().index_files();
  if (files != std::exchange(index_files_, files)) newest_ = Clock::now();
  SaveReports();
  return judged;
}

void Panel::JudgeStep(int64_t step) {
  const RefreshScope still(trial_, /*on=*/false);
  for (Place& place : places_) {
    if (place.judge->IsPast(step) && place.unanswered.empty()) {
      End(place, /*stopped=*/false);
    }
  }
  UpdateDesks();
  for (const auto& desk : desks_) desk->view.MoveTo(step);
  for (Place& place : places_) {
    Judge& judge = *place.judge;
    if (judge.concluded || judge.report.status == RuleStatus::kError ||
        !judge.IsInRange(step)) {
      continue;
    }
    MoveOthers(judge, step);
    if (judge.deferred() != nullptr) {
      place.unanswered.push_back(step);
      continue;
    }
    Take(place, judge.JudgeStep(desks_), step <= place.told.last_step);
    place.is_saved = false;
  }
  last_step_ = step;
  ++steps_judged_;
  // Whoever keeps up is waited for a moment, so that rules usually go together.
  for (Place& place : places_) {
    TakeAnswers(place, place.unanswered.size() > 1 ? milliseconds(0) : kPiece);
  }
}

bool Panel::is_behind() const noexcept {
  return std::ranges::any_of(
      places_, [](const Place& place) { return !place.unanswered.empty(); });
}

// Takes what a deferred rule answers within `wait`, and asks it on.
void Panel::TakeAnswers(Place& place, milliseconds wait) {
  const Clock::time_point until = Clock::now() + wait;
  Judge& judge = *place.judge;
  while (!place.unanswered.empty()) {
    const int64_t step = place.unanswered.front();
    if (!std::exchange(place.is_asked, true)) {
      judge.deferred()->Ask(step);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    if (!judge.deferred()->HasAnswered(std::max(left, milliseconds(0)))) {
      GiveUpIfSilent(place);
      return;
    }
    const bool is_late = step != last_step_;
    for (const auto& desk : desks_) {
      if (is_late) desk->view.MoveTo(step);
    }
    Take(place, judge.JudgeStep(desks_), step <= place.told.last_step);
    for (const auto& desk : desks_) {
      if (is_late) desk->view.MoveTo(last_step_);
    }
    place.is_saved = false;
    place.is_asked = false;
    place.unanswered.pop_front();
    if (judge.report.status == RuleStatus::kError) place.unanswered.clear();
  }
}

void Panel::GiveUpIfSilent(Place& place) {
  Judge& judge = *place.judge;
  if (judge.deferred()->SecondsSinceAsked() < options_.answer_limit) return;
  judge.GiveUp(place.unanswered.front(), options_.answer_limit);
  place.unanswered.clear();
  place.is_saved = false;
  const std::string words =
      fmt::format("rule {} {}; it is given up, and the others go on",
                  judge.report.name, judge.report.details);
  if (options_.on_notice) {
    options_.on_notice(words);
  } else {
    base::LogWarning("{}", words);
  }
}

// Waits a moment for rules that are behind; false if there is none.
bool Panel::AwaitAnswers() {
  const RefreshScope still(trial_, /*on=*/false);
  const bool was_behind = is_behind();
  for (Place& place : places_) TakeAnswers(place, kPiece);
  if (was_behind) SaveReports();
  return was_behind;
}

// In portions of recent_steps, so that twice as many are kept at most.
void Panel::ForgetOldSteps(int64_t step) {
  if (!options_.recent_steps) return;
  const bool is_whole = std::ranges::any_of(
      desks_, [](const auto& desk) { return desk->view.is_whole(); });
  since_mark_ += is_whole ? kScalarSteps : 1;
  if (since_mark_ < kScalarSteps * *options_.recent_steps) return;
  since_mark_ = 0;
  int64_t before = std::exchange(mark_, step + 1);
  if (before < 0) return;
  // What a rule is behind with is still to be judged.
  for (const Place& place : places_) {
    if (place.unanswered.empty()) continue;
    before = std::min(before, place.unanswered.front());
  }
  for (const auto& desk : desks_) desk->view.Forget(before);
  trial_->reader().Forget(before);
}

void Panel::MoveOthers(const Judge& judge, int64_t step) {
  for (const size_t number : judge.others) {
    if (options_.live) AwaitOther(*other_trials_[number].second, step);
    for (const auto& desk : desks_) {
      TrialView& view = *desk->others[number];
      if (view.step() != step) view.MoveTo(step);
    }
  }
}

void Panel::AwaitOther(Trial& other, int64_t step) const {
  try {
    while (GoOn() && !other.WaitForSteps({&step, 1}, Mode::kGlobal, kPiece)) {
    }
  } catch (const StepUnavailable&) {
  } catch (const NoMoreData&) {
  }
}

void Panel::Take(Place& place, std::vector<Finding> found, bool is_told) {
  if (found.empty()) return;
  RuleReport& report = place.judge->report;
  const bool is_first = report.findings_total == 0;
  if (report.status == RuleStatus::kInProgress) {
    report.status = RuleStatus::kIssuesFound;
    report.details = found.front().message;
  }
  report.Add(found);
  place.is_saved = false;
  if (is_told || !options_.on_fire) return;
  // The report tells of it however long that takes, and whatever comes between.
  if (!place.untold) place.untold = found.front().step;
  SaveReport(place);
  bool told = false;
  try {
    told = options_.on_fire({place.judge->evaluation, found, is_first});
  } catch (const std::exception& error) {
    base::LogWarning("rule {}: what should follow a finding failed: {}",
                     report.name, error.what());
  }
  if (!told) return;
  place.untold.reset();
  place.is_saved = false;
}

bool Panel::Done() {
  if (trial_->loaded_all_steps()) return true;
  return AllPast(trial_->last_complete_step());
}

// Whether no rule has anything to do from `step` on.
bool Panel::AllPast(int64_t step) const {
  return std::ranges::all_of(places_, [&](const Place& place) {
    return place.judge->IsPast(step) ||
           place.judge->report.status == RuleStatus::kError;
  });
}

bool Panel::Run() {
  try {
    if (!JudgeToTheEnd()) return false;
  } catch (const Interrupted&) {
    return false;
  }
  Finish(/*stopped=*/false);
  return true;
}

bool Panel::JudgeToTheEnd() {
  // Whether everything was seen is asked before the last look at the steps.
  for (bool done = false; !done;) {
    if (!GoOn()) return false;
    done = Done();
    if (JudgeNewSteps() > 0) continue;
    if (!done) {
      NoteWait(std::chrono::duration<double>(Clock::now() - newest_).count());
    }
    if (AwaitAnswers()) {
      done = false;
    } else if (!done) {
      trial_->WaitForChange(kPiece);
    }
  }
  return GoOn();
}

void Panel::NoteWait(double seconds) {
  const RefreshScope still(trial_, /*on=*/false);
  UpdateDesks();
  for (Place& place : places_) {
    if (place.judge->concluded) continue;
    Take(place, place.judge->NoteWait(desks_, seconds), /*is_told=*/false);
  }
  SaveReports();
}

// What the job did so far, of the worker that is judged if only one is.
Account Panel::AccountOfJob() const {
  if (options_.stats) return {.stats = options_.stats()};
  const run::Survey survey = run::LookAt(*trial_->storage());
  Account account = {
      .damage = trial_->reader().LedgerDamage(survey, options_.worker)};
  for (const run::Ledger& ledger : survey.ledgers) {
    const bool counts = !options_.worker ||
                        ledger.worker == run::EncodeWorker(*options_.worker);
    if (counts) account.stats += ledger.stats;
  }
  return account;
}

void Panel::End(Place& place, bool stopped) {
  Judge& judge = *place.judge;
  if (judge.concluded) return;
  if (!stopped) Take(place, judge.Finish(desks_), place.told.ended);
  judge.Conclude(stopped, *trial_, AccountOfJob());
  place.is_saved = false;
}

void Panel::Finish(bool stopped) {
  if (std::exchange(finished_, true)) return;
  while (!stopped && GoOn() && AwaitAnswers()) {
  }
  const RefreshScope still(trial_, /*on=*/false);
  UpdateDesks();
  for (Place& place : places_) End(place, stopped);
  SaveReports();
}

void Panel::SaveReports() {
  for (Place& place : places_) SaveReport(place);
}

// Writes it, unless nothing is new or it was written just now.
void Panel::SaveReport(Place& place) {
  const Clock::time_point now = Clock::now();
  const RuleReport& report = place.judge->report;
  const bool has_fired = report.findings_total > 0;
  const bool at_once = place.judge->concluded ||
                       place.saved_at == Clock::time_point() ||
                       has_fired != place.is_fire_saved;
  if (place.is_saved || (!at_once && now - place.saved_at < kSaveEvery)) return;
  if (place.judge->concluded || now - place.files_saved_at >= kSaveFilesEvery) {
    SaveFiles(place);
    place.files_saved_at = now;
  }
  ReportFiles::Told told = {.last_step = report.last_step,
                            .ended = report.ended && !place.untold};
  if (place.untold) {
    told.last_step = std::min(told.last_step, *place.untold - 1);
  }
  files_.Save(report, place.question, place.told_to, told);
  place.is_saved = true;
  place.is_fire_saved = has_fired;
  place.saved_at = now;
}

void Panel::SaveFiles(Place& place) {
  if (!files_.keeps()) return;
  RuleReport& report = place.judge->report;
  for (const RuleFile& file : place.judge->Files(desks_)) {
    files_.SaveFile(report.name, file);
    std::string key = run::RuleFileKey(report.name, file.name);
    if (std::ranges::find(report.files, key) == report.files.end()) {
      report.files.push_back(std::move(key));
    }
  }
}

std::vector<RuleFile> Panel::Files() {
  std::vector<RuleFile> files;
  for (const Place& place : places_) {
    std::ranges::move(place.judge->Files(desks_), std::back_inserter(files));
  }
  return files;
}

std::vector<RuleReport> Panel::reports() const {
  std::vector<RuleReport> reports;
  reports.reserve(places_.size());
  for (const Place& place : places_) reports.push_back(place.judge->report);
  return reports;
}

}  // namespace smdebug::rules
