#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/trial/catalog.h"

namespace smdebug::trial {

// Finds the index files of a run that are new and takes them into a catalog.
//
// It remembers up to which file everything was seen (the token), so that a scan
// lists only what comes after: files of steps that some worker has not written
// yet are listed again, but never read again. A step counts as complete when
// every worker wrote it; where a worker falls behind by more than the window,
// the older half of the window is given up.
//
// One thread at a time. `storage` is borrowed and outlives the scanner.
class Scanner {
 public:
  struct Options {
    StepRange range = {};
    int64_t window = 1000;  // Steps that a missing worker is waited for.
    std::optional<std::string> only_worker = {};  // Nobody else's are read.
    std::optional<int64_t> recent_steps = {};     // The others are forgotten.
  };
  Scanner(const Storage* storage, Options options);

  // The workers of the run, as far as known, and how many there are in all.
  // Steps that this completes are complete from now on.
  void SetWorkers(const std::set<std::string>& workers, int64_t count);

  // Takes in what is new. Damaged files are noted; they are read again when
  // they have changed. Throws IoError.
  void Scan();

  // Scan() gives up half a window, as smdebug 1.0 does; this as many as it
  // takes until no more steps than the window are waited for.
  void GiveUpBeyondWindow();

  // Looks at every file again, also at those before the token: the job has
  // ended, and nothing may be left behind. All steps are complete then.
  void ScanAll();

  // Steps before `step` are needed no more: they are forgotten once they are
  // half of the catalog, so that nothing is moved often.
  void Forget(int64_t step);

  const Catalog& catalog() const noexcept { return catalog_; }

  // Whether every worker wrote it, or will not any more.
  bool IsComplete(const StepRow& step) const noexcept {
    return step.workers >= num_workers_ || step.step <= last_complete_step_;
  }
  int64_t last_complete_step() const noexcept { return last_complete_step_; }
  const std::string& token() const noexcept { return token_; }

  // The index files that could not be read, by key.
  struct BadFile {
    FileInfo info;  // As it was when it could not be read.
    int64_t step = -1;
    std::string reason;
  };
  const std::map<std::string, BadFile, std::less<>>& damaged() const noexcept {
    return damaged_;
  }

 private:
  void Read(const FileInfo& file);
  void ReadAgainWhatChanged();
  void MoveToken();
  void GiveUp(size_t most_halves);
  void SetToken(int64_t step);
  void ForgetOldSteps();

  const Storage* const storage_;
  const Options options_;
  Catalog catalog_;
  std::string last_worker_ = "worker_0";
  int64_t num_workers_ = 1;
  int64_t last_complete_step_ = -1;
  std::string token_;
  int64_t token_step_ = 0;
  int64_t forgotten_ = 0;  // Steps before this one are.
  std::map<std::string, BadFile, std::less<>> damaged_;
};

}  // namespace smdebug::trial
