#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smdebug/rule.h"
#include "smdebug/trial.h"
#include "src/rules/report.h"
#include "src/rules/trial_view.h"

namespace smdebug::rules {

// Which steps are judged, and whose.
struct InvokeOptions {
  int64_t start_step = 0;
  std::optional<int64_t> end_step = {};  // Not judged itself.
  std::optional<std::string> worker = {};
  // Runs that rules compare with; they outlive the invoker.
  std::vector<Trial*> others = {};
};

// Judges the steps of a trial in order with many rules, each step read once.
//
// A step is judged when it is complete. A rule that throws ends in kError and
// does not hold up the others. One thread at a time.
class Invoker {
 public:
  // The trial outlives the invoker.
  Invoker(Trial* trial, InvokeOptions options);
  ~Invoker();

  // Adds a rule under the name that its report gets. Throws as MakeRule() does.
  void Add(std::string name, const RuleSpec& spec);

  // Judges every step that can be read now; returns how many there were.
  int64_t JudgeNewSteps();

  // Whether the run has ended and every step was judged, or end_step reached.
  bool Done();

  // Judges until Done(), waiting for steps.
  void Run();

  // Ends every rule that is in progress: by what it found, or as stopped.
  void Finish(bool stopped);

  std::vector<Report> reports() const;

 private:
  struct Judge;
  void JudgeStep(int64_t step);

  Trial* const trial_;
  const InvokeOptions options_;
  TrialView view_;
  std::vector<Judge> judges_;
  int64_t next_step_;
  bool finished_ = false;
};

}  // namespace smdebug::rules
