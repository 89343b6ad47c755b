#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smdebug/invoker.h"
#include "src/rules/engine/judge.h"
#include "src/rules/reports/report_files.h"

namespace smdebug::rules {

// The judges of a run, one for each rule: which step they get next, and who is
// told what they find. An Invoker has one. One thread at a time.
class Panel {
 public:
  // The trial outlives the panel.
  Panel(Trial* trial, InvokeOptions options);
  ~Panel();

  // Adds a rule. Its name must be new. Throws as MakeRule() does, and as
  // opening other trials does.
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

  // In the order of adding.
  std::vector<RuleReport> reports() const;
  const RuleReport& report(size_t index) const {
    return places_.at(index).judge->report;
  }
  // What the rules have to show that has changed since they were last asked.
  std::vector<RuleFile> Files();
  int64_t last_step() const noexcept { return last_step_; }
  int64_t steps_judged() const noexcept { return steps_judged_; }
  bool is_behind() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  // A rule, and how far others know what it found.
  struct Place {
    std::unique_ptr<Judge> judge;
    ReportFiles::Question question;
    std::string told_to;  // Who is told of all rules, and of this one alone.
    ReportFiles::Told told = {};  // By earlier invocations.
    // The first step of those that nobody was told of by this one.
    std::optional<int64_t> untold = {};
    bool is_saved = false;
    bool is_fire_saved = false;
    Clock::time_point saved_at = {};
    Clock::time_point files_saved_at = Clock::now();
    // Of a deferred rule: steps that it has not answered about, and whether it
    // was asked about the first.
    std::deque<int64_t> unanswered = {};
    bool is_asked = false;
  };

  bool GoOn() const { return !options_.go_on || options_.go_on(); }
  bool JudgeToTheEnd();
  Account AccountOfJob() const;
  size_t OtherTrial(const std::string& path);
  void UpdateDesks();
  void JudgeStep(int64_t step);
  void TakeAnswers(Place& place, std::chrono::milliseconds wait);
  void GiveUpIfSilent(Place& place);
  bool AwaitAnswers();
  void ForgetOldSteps(int64_t step);
  void MoveOthers(const Judge& judge, int64_t step);
  void AwaitOther(Trial& other, int64_t step) const;
  bool AllPast(int64_t step) const;
  void Take(Place& place, std::vector<Finding> found, bool is_told);
  void End(Place& place, bool stopped);
  void SaveReports();
  void SaveReport(Place& place);
  void SaveFiles(Place& place);

  Trial* const trial_;
  const InvokeOptions options_;
  ReportFiles files_;
  std::vector<std::pair<std::string, std::unique_ptr<Trial>>> other_trials_;
  std::vector<std::unique_ptr<Desk>> desks_;
  std::vector<Place> places_;
  int64_t next_step_ = 0;
  int64_t last_step_ = -1;
  int64_t steps_judged_ = 0;
  int64_t mark_ = -1;       // Steps before it are the next to be forgotten.
  int64_t since_mark_ = 0;  // Steps judged from there on, weighted.
  size_t index_files_ = 0;
  Clock::time_point newest_ = Clock::now();  // When something came last.
  bool finished_ = false;
};

}  // namespace smdebug::rules
