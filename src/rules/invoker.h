#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smdebug/rule.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/rules/evaluation.h"
#include "src/rules/judge.h"
#include "src/rules/report.h"
#include "src/rules/report_files.h"

namespace smdebug::rules {

// A rule that fires at a step.
struct Fire {
  const Evaluation& evaluation;
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
  // Opens them. Default: Trial::Open() as it waits for runs.
  std::function<std::unique_ptr<Trial>(const std::string& path)> open_trial =
      {};

  // Whether the run may go on: steps of other runs are waited for then.
  bool live = false;

  // Called once for each rule and step at which it fires, after the finding is
  // in its report. Not for steps that an earlier invocation of the same rule
  // has told about.
  std::function<void(const Fire&)> on_fire = {};

  // Where reports are kept, below rules/; null: nowhere.
  Storage* reports = nullptr;

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
  void Add(Evaluation evaluation);

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

  // In the order of adding.
  std::vector<Report> reports() const;
  int64_t last_step() const noexcept { return last_step_; }
  int64_t steps_judged() const noexcept { return steps_judged_; }

 private:
  using Clock = std::chrono::steady_clock;
  // A rule, and how far others know what it found.
  struct Place {
    std::unique_ptr<Judge> judge;
    ReportFiles::Question question;
    ReportFiles::Told told = {};
    bool is_saved = false;
    bool is_fire_saved = false;
    Clock::time_point saved_at = {};
  };

  bool GoOn() const { return !options_.go_on || options_.go_on(); }
  size_t OtherTrial(const std::string& path);
  void UpdateDesks();
  void JudgeStep(int64_t step);
  void MoveOthers(const Judge& judge, int64_t step);
  void AwaitOther(Trial& other, int64_t step) const;
  bool AllPast(int64_t step) const;
  void Take(Place& place, std::vector<Finding> found, bool is_told);
  void End(Place& place, bool stopped);
  void SaveReports();

  Trial* const trial_;
  const InvokeOptions options_;
  ReportFiles files_;
  std::vector<std::pair<std::string, std::unique_ptr<Trial>>> other_trials_;
  std::vector<std::unique_ptr<Desk>> desks_;
  std::vector<Place> places_;
  int64_t next_step_ = 0;
  int64_t last_step_ = -1;
  int64_t steps_judged_ = 0;
  size_t index_files_ = 0;
  Clock::time_point newest_ = Clock::now();  // When something came last.
  bool finished_ = false;
};

// Seconds since the newest file of the run came, by the clock of the store; 0
// if there is none or the job has ended.
double SecondsSinceNewestFile(const Storage& storage);

}  // namespace smdebug::rules
