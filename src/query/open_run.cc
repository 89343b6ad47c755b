#include "src/query/open_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/base/process.h"
#include "src/config/nearest.h"
#include "src/query/name_match.h"
#include "src/query/text.h"
#include "src/run/entering.h"
#include "src/run/keys.h"
#include "src/run/survey.h"
#include "src/trial/place.h"
#include "src/trial/reader.h"

namespace smdebug::query {
namespace {

// " of TRAIN"; nothing for steps over all modes.
std::string OfMode(Mode mode) {
  return mode == Mode::kGlobal ? "" : fmt::format(" of {}", ModeName(mode));
}

// "the nearest are 5 and 10".
std::string NearestSteps(const std::vector<int64_t>& steps, int64_t step) {
  const auto after = std::ranges::lower_bound(steps, step);
  if (after == steps.begin()) return fmt::format("the first is {}", *after);
  if (after == steps.end()) {
    return fmt::format("the last is {}", steps.back());
  }
  return fmt::format("the nearest are {} and {}", *std::prev(after), *after);
}

constexpr std::string_view kScalarPrefix = "scalar/";

// "the tensors are a, b and 5 more".
std::string TensorsText(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  if (names.empty()) return "the run has no tensors";
  if (names.size() == 1) return "the only tensor is " + names.front();
  return "the tensors are " + JoinSome(names, kMost);
}

using Clock = std::chrono::steady_clock;

// The job that is going to write into a folder, if one shows itself. One thread
// at a time.
class ComingJob {
 public:
  explicit ComingJob(const Storage* storage) : storage_(*storage) {}

  void Look() {
    if (!job_) job_ = run::FindEntering(storage_);
    if (!job_) return;
    const bool was_coming = std::exchange(is_coming_, false);
    if (base::FindProcess(job_->pid) == *job_) {
      is_coming_ = run::IsEntering(storage_, *job_);
    } else if (was_coming) {
      has_ended_ = true;
    } else {
      job_.reset();
    }
  }

  bool is_coming() const { return is_coming_; }

  // Throws NoRunError.
  void RequireNotEnded() const {
    if (!has_ended_) return;
    throw NoRunError(
        fmt::format("{}: process {}, which had a hook on this folder, has "
                    "ended and has saved nothing",
                    storage_.root(), job_->pid));
  }

 private:
  const Storage& storage_;
  std::optional<base::ProcessId> job_;
  bool is_coming_ = false;
  bool has_ended_ = false;
};

}  // namespace

std::shared_ptr<Storage> OpenFolder(const std::string& run) {
  auto storage = trial::OpenPlace(run);
  const std::string& root = storage->root();
  const bool is_local = root.find("://") == std::string::npos;
  if (is_local && !std::filesystem::exists(root)) {
    throw Error(fmt::format("{}: no such folder", root));
  }
  return storage;
}

std::shared_ptr<Storage> AwaitRunFolder(const std::string& run,
                                        const OnWait& waits,
                                        const std::function<bool()>& go_on,
                                        double patience) {
  constexpr std::chrono::milliseconds kPiece{250};
  constexpr std::string_view kFolders[] = {
      run::FolderOf(run::kCollectionsPrefix), run::FolderOf(run::kEventsPrefix),
      run::FolderOf(run::kIndexPrefix), run::FolderOf(run::kLedgerPrefix)};
  auto storage = trial::OpenPlace(run);
  const auto watch = storage->Watch(kFolders);
  ComingJob job(storage.get());
  auto waiting_since = Clock::now();
  bool told = false;
  while (true) {
    const uint64_t known = watch ? watch->Changes() : 0;
    job.Look();  // First: a job that has ended may have left a run.
    if (run::HoldsRun(*storage)) return storage;
    if (!std::exchange(told, true)) {
      if (!run::HintAtRunsBelow(storage->root()).empty()) {
        throw FormatError(storage->root(), run::WhyNoRun(*storage));
      }
      waits(storage->root());
    }
    job.RequireNotEnded();
    if (job.is_coming()) {
      waiting_since = Clock::now();
    } else if (Clock::now() - waiting_since >=
               std::chrono::duration<double>(patience)) {
      throw NoRunError(fmt::format("{}: no run has appeared within {} s",
                                   storage->root(), patience));
    }
    if (!go_on()) return nullptr;
    if (watch) {
      watch->Wait(known, kPiece);
    } else {
      std::this_thread::sleep_for(kPiece);
    }
  }
}

TrialOptions RunOptions() {
  TrialOptions options = TrialOptions::FromEnvironment();
  options.wait_for_run = false;
  options.missing_file_retries = 0;
  return options;
}

std::unique_ptr<Trial> OpenRun(const std::string& run,
                               const TrialOptions& options) {
  return OpenRun(OpenFolder(run), options);
}

std::unique_ptr<Trial> OpenRun(std::shared_ptr<Storage> storage,
                               const TrialOptions& options) {
  auto trial = std::make_unique<Trial>(std::move(storage), options);
  trial->Refresh();
  trial->SetRefreshing(false);
  return trial;
}

Tensor RequireTensor(Trial& trial, std::string_view name) {
  if (trial.HasTensor(name)) return trial.tensor(name);
  std::vector<std::string> names = trial.TensorNames();
  const std::string known = TensorsText(names);
  // People name scalars without the prefix, and misspell them so.
  if (!name.starts_with(kScalarPrefix)) {
    for (std::string& one : names) {
      if (one.starts_with(kScalarPrefix)) one.erase(0, kScalarPrefix.size());
    }
  }
  const std::string meant = config::DidYouMean(name, names);
  throw Error(fmt::format("there is no tensor '{}'; {}", name,
                          meant.empty() ? known : meant));
}

void RequireMode(std::span<Trial* const> trials, Mode mode) {
  if (mode == Mode::kGlobal) return;
  std::vector<std::string> modes;
  for (const Mode one : kModes) {
    if (one == Mode::kGlobal) continue;
    for (Trial* const trial : trials) {
      if (trial->Steps(one, /*include_incomplete=*/true).empty()) continue;
      if (one == mode) return;
      modes.emplace_back(ModeName(one));
      break;
    }
  }
  const bool has_steps = std::ranges::any_of(trials, [](Trial* trial) {
    return !trial->Steps(Mode::kGlobal, /*include_incomplete=*/true).empty();
  });
  std::string there = "the run has no step";
  if (!modes.empty()) {
    there = "there are steps of " + Join(modes, " and ");
  } else if (has_steps) {
    there = "all steps are without a mode (GLOBAL)";
  }
  throw Error(
      fmt::format("there is no saved step of {}; {}", ModeName(mode), there));
}

void RequireMatch(const std::vector<std::string>& names,
                  std::span<const std::string> regexes) {
  if (regexes.empty() || names.empty()) return;
  if (!KeepMatching(names, regexes).empty()) return;
  throw Error(fmt::format("no tensor matches '{}'; {}", Join(regexes, "' or '"),
                          TensorsText(names)));
}

void RequireReadable(const Trial& trial, std::optional<int64_t> step,
                     Mode mode) {
  // What a step is in its mode, its index alone says.
  if (!step || mode != Mode::kGlobal) return;
  const std::vector<Damage> all = trial.damage();
  const auto damage = std::ranges::find_if(all, [&](const Damage& one) {
    return one.step == *step && one.kind == DamageKind::kBadIndex;
  });
  if (damage == all.end()) return;
  throw Error(fmt::format("step {} was saved and cannot be read: {}: {}", *step,
                          damage->file, damage->reason));
}

int64_t RequireStep(const std::vector<int64_t>& steps,
                    std::optional<int64_t> step, Mode mode,
                    std::string_view what) {
  if (steps.empty()) {
    throw Error(fmt::format("{} has no saved step{}", what, OfMode(mode)));
  }
  if (!step) return steps.back();
  if (std::ranges::binary_search(steps, *step)) return *step;
  throw Error(fmt::format("{} has no saved step {}{}; {}", what, *step,
                          OfMode(mode), NearestSteps(steps, *step)));
}

void RequireRunStep(Trial& trial, std::optional<int64_t> step, Mode mode,
                    bool include_incomplete) {
  if (!step) return;
  std::vector<int64_t> steps = trial.Steps(mode, include_incomplete);
  if (std::ranges::find(steps, *step) == steps.end()) {
    RequireReadable(trial, step, mode);
  }
  for (const trial::Reader::Place& place :
       trial::Reader::CompletePlaces(*trial.reader().Known(), mode)) {
    steps.push_back(mode == Mode::kGlobal ? place.step : place.mode_step);
  }
  std::ranges::sort(steps);
  RequireStep(steps, step, mode, "the run");
}

void RequireWorker(Trial& trial, const std::optional<std::string>& worker) {
  if (!worker) return;
  const std::vector<std::string> workers = trial.Workers();
  // A run that lost its collections files names none.
  if (workers.empty()) return;
  if (std::ranges::find(workers, *worker) != workers.end()) return;
  throw Error(fmt::format("there is no worker '{}'; expected {}", *worker,
                          config::OneOf(*worker, workers)));
}

StepId IdentifyStep(Trial& trial, int64_t step, Mode mode) {
  if (mode != Mode::kGlobal) {
    return {trial.GlobalStep(mode, step).value_or(step), mode, step};
  }
  return {step, trial.ModeOf(step).value_or(Mode::kGlobal),
          trial.ModeStep(step).value_or(step)};
}

}  // namespace smdebug::query
