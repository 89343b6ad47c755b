#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "smdebug/invoker.h"
#include "smdebug/trial.h"

namespace smdebug {

// One rule that is asked about steps of a trial, by a caller who chooses them.
//
// A rule judges in order and remembers, so the steps that were saved between
// the last one asked for and this one are judged too. Asking for a step before
// the last one begins anew there; asking for the same again gives the same.
//
// One thread at a time.
class StepJudge {
 public:
  // The trial outlives the judge. Throws as Invoker::Add() does.
  StepJudge(Trial* trial, RuleEvaluation evaluation,
            std::vector<std::string> other_trials = {});
  ~StepJudge();

  // What the rule finds at `step`, over all modes; nothing if it was not saved,
  // or not yet. Throws InsufficientInformation if the rule cannot go on, and
  // Error if what it needs of the step cannot be read.
  std::vector<Finding> Check(int64_t step);

  // What the rule has to show of the steps that it judged, such as a page;
  // empty if nothing has changed since the last call.
  std::vector<RuleFile> Files();

 private:
  void BeginAt(int64_t step);

  Trial* const trial_;
  const RuleEvaluation evaluation_;
  const std::vector<std::string> other_trials_;
  std::unique_ptr<Invoker> invoker_;
  int64_t asked_ = -1;
  std::vector<Finding> found_;  // At the newest step that was judged.
};

}  // namespace smdebug
