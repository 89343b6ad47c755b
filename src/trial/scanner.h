#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/trial.h"
#include "src/steps/step_source.h"
#include "src/trial/catalog.h"

namespace smdebug::trial {

// Finds the steps of a run that are new and takes them into a catalog.
//
// It remembers up to which step everything was seen (the token), so that a scan
// lists only what comes after: steps that some worker has not written yet are
// listed again, but never read again. A step counts as complete when every
// worker wrote it; where a worker falls behind by more than the window, the
// older half of the window is given up.
//
// A value, like its catalog. One thread at a time.
class Scanner {
 public:
  struct Options {
    StepRange range = {};
    int64_t window = 1000;  // Steps that a missing worker is waited for.
    std::optional<std::string> only_worker = {};  // Nobody else's are read.
    std::optional<int64_t> recent_steps = {};     // The others are forgotten.
    std::string run = {};                         // For messages.
  };
  // `source` is borrowed, and outlives all copies.
  Scanner(const steps::StepSource* source, Options options);

  // A copy to be changed; see Catalog::Draft().
  Scanner Draft() const;

  // The workers of the run, as far as known, and how many there are in all.
  // Steps that this completes are complete from now on.
  void SetWorkers(const std::set<std::string>& workers, int64_t count);

  // Takes in what is new. What is damaged is noted, and read again when it has
  // changed. Throws IoError; what was taken in before stays.
  void Scan();

  // Scan() gives up half a window, as smdebug 1.0 does; this as many as it
  // takes until no more steps than the window are waited for.
  void GiveUpBeyondWindow();

  // Looks at every step again, also at those before the token: the job has
  // ended, and nothing may be left behind. All steps are complete then.
  void ScanAll();

  // Whether steps before `step` are half of the catalog, so that to forget them
  // moves nothing often.
  bool IsWorthForgetting(int64_t step) const;
  // Forgets steps before `step`.
  void Forget(int64_t step);

  const Catalog& catalog() const noexcept { return catalog_; }

  // Whether every worker wrote it, or will not any more.
  bool IsComplete(const StepRow& step) const noexcept {
    return step.workers >= num_workers_ || step.step <= last_complete_step_;
  }
  int64_t last_complete_step() const noexcept { return last_complete_step_; }
  const std::string& token() const noexcept { return token_; }

  // A step that could not be read.
  struct BadStep {
    steps::StepItem item;  // As it was then.
    std::string reason;
    DamageKind kind = DamageKind::kBadIndex;
  };
  // By name.
  using BadSteps = std::map<std::string, BadStep, std::less<>>;
  const BadSteps& damaged() const noexcept { return *damaged_; }

 private:
  void Read(const steps::StepItem& item);
  void ReadAgainWhatChanged();
  void MoveToken();
  void GiveUp(size_t most_halves);
  void SetToken(int64_t step);
  void ForgetOldSteps();
  BadSteps& WritableDamaged();

  const steps::StepSource* source_;
  std::shared_ptr<const Options> options_;
  Catalog catalog_;
  std::string last_worker_ = "worker_0";
  int64_t num_workers_ = 1;
  int64_t last_complete_step_ = -1;
  std::string token_;
  int64_t token_step_ = 0;
  int64_t forgotten_ = 0;  // Steps before this one are.
  // Copied before this draft changes it for the first time.
  std::shared_ptr<BadSteps> damaged_ = std::make_shared<BadSteps>();
  bool owns_damaged_ = true;
};

}  // namespace smdebug::trial
