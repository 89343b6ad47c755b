#include <map>
#include <utility>

#include "smdebug/action.h"
#include "src/actions/audit.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mutex.h"
#include "src/run/survey.h"

namespace smdebug {

using Result = ActionOutcome::Result;
using std::chrono::steady_clock;

class ActionSet::Impl {
 public:
  explicit Impl(ActionOptions options) : options_(std::move(options)) {}

  void Add(std::unique_ptr<Action> action) {
    const base::MutexLock lock(mu_);
    actions_.push_back(std::move(action));
  }

  const ActionOptions& options() const noexcept { return options_; }

  bool empty() const {
    const base::MutexLock lock(mu_);
    return actions_.empty();
  }

  ActionCounts counts() const {
    const base::MutexLock lock(mu_);
    return counts_;
  }

  std::string trail_failure() const {
    const base::MutexLock lock(mu_);
    return trail_failure_;
  }

  std::vector<ActionOutcome> Fire(const Firing& firing) {
    const base::MutexLock lock(mu_);
    const Firing whole = WithRun(firing);
    // Of a folder that holds no run nobody has said which one it is about.
    const bool is_about_run =
        firing.run_id || !whole.run_id.value_or("").empty();
    std::vector<ActionOutcome> outcomes;
    for (size_t number = 0; number < actions_.size(); ++number) {
      outcomes.push_back(FireOne(number, whole));
      Count(outcomes.back().result);
      Record(whole, outcomes.back(), is_about_run);
    }
    return outcomes;
  }

 private:
  // When an action was last tried for a rule, how often it was not since, and
  // whether the try failed.
  struct Last {
    steady_clock::time_point time;
    int64_t suppressed = 0;
    bool has_failed = false;
  };

  steady_clock::time_point Now() const {
    return options_.now ? options_.now() : steady_clock::now();
  }

  ActionOutcome FireOne(size_t number, const Firing& firing)
      SMDEBUG_REQUIRES(mu_) {
    Action& action = *actions_[number];
    ActionOutcome outcome{.kind = std::string(action.kind()),
                          .target = action.target()};
    const auto now = Now();
    const auto [found, is_first] =
        last_.try_emplace({firing.rule, number}, Last{.time = now});
    Last& last = found->second;
    if (!is_first && now - last.time < options_.interval) {
      outcome.suppressed = ++last.suppressed;
      outcome.result = Result::kSuppressed;
      outcome.detail = fmt::format(
          "{} at most once in {} s for each rule; SMDEBUG_ACTION_INTERVAL sets "
          "that",
          last.has_failed ? "it has just failed, and is tried" : "done",
          std::chrono::duration<double>(options_.interval).count());
      return outcome;
    }
    last.time = now;
    outcome.suppressed = std::exchange(last.suppressed, 0);
    if (options_.dry_run) {
      outcome.result = Result::kDryRun;
      return outcome;
    }
    Firing told = firing;
    told.suppressed = outcome.suppressed;
    try {
      outcome.detail = action.Do(told);
    } catch (const ActionError& error) {
      outcome.result = Result::kFailed;
      outcome.detail = error.reason();
    } catch (const std::exception& error) {
      outcome.result = Result::kFailed;
      outcome.detail = error.what();
    }
    last.has_failed = outcome.result == Result::kFailed;
    return outcome;
  }

  void Count(Result result) SMDEBUG_REQUIRES(mu_) {
    switch (result) {
      case Result::kDone:
        ++counts_.done;
        break;
      case Result::kFailed:
        ++counts_.failed;
        break;
      case Result::kDryRun:
        ++counts_.dry_runs;
        break;
      case Result::kSuppressed:
        ++counts_.suppressed;
        break;
    }
  }

  // Tells the log and the audit trail; their failures are nobody else's.
  void Record(const Firing& firing, const ActionOutcome& outcome,
              bool is_about_run) SMDEBUG_REQUIRES(mu_) {
    const LogLevel level =
        outcome.result == Result::kFailed       ? LogLevel::kWarning
        : outcome.result == Result::kSuppressed ? LogLevel::kDebug
                                                : LogLevel::kInfo;
    base::Log(level,
              fmt::format("{}: {} {}: {}{}{}", firing.rule, outcome.kind,
                          outcome.target, ResultName(outcome.result),
                          outcome.detail.empty() ? "" : ": ", outcome.detail));
    if (firing.store == nullptr) return;
    try {
      // The trail of a run is not that of the one that has its folder now.
      if (is_about_run) run::RequireRunToWrite(*firing.store, *firing.run_id);
      actions::AddToAudit(
          *firing.store,
          actions::AuditLine(firing, outcome, base::WallSeconds()));
    } catch (const Error& error) {
      NoteTrailFailed(error);
    }
  }

  // The same with the store and the identity of the run, where it has only a
  // path. Without them if there is no run, or it cannot be opened.
  Firing WithRun(Firing firing) SMDEBUG_REQUIRES(mu_) {
    try {
      if (firing.store == nullptr && !firing.run.empty()) {
        firing.store = OpenStorage(firing.run);
      }
      if (firing.store != nullptr && !firing.run_id) {
        firing.run_id = run::IdentityOf(*firing.store);
      }
    } catch (const Error& error) {
      NoteTrailFailed(error);
    }
    return firing;
  }

  void NoteTrailFailed(const Error& error) SMDEBUG_REQUIRES(mu_) {
    if (!trail_failure_.empty()) return;
    trail_failure_ = fmt::format(
        "the audit trail of actions is not written: {}", error.what());
    base::LogWarning("{}", trail_failure_);
  }

  const ActionOptions options_;
  mutable base::Mutex mu_;
  std::vector<std::unique_ptr<Action>> actions_ SMDEBUG_GUARDED_BY(mu_);
  std::map<std::pair<std::string, size_t>, Last> last_ SMDEBUG_GUARDED_BY(mu_);
  ActionCounts counts_ SMDEBUG_GUARDED_BY(mu_);
  std::string trail_failure_ SMDEBUG_GUARDED_BY(mu_);
};

ActionSet::ActionSet(ActionOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ActionSet::~ActionSet() = default;

void ActionSet::Add(const ActionSpec& spec) {
  impl_->Add(MakeAction(spec, impl_->options()));
}

void ActionSet::Add(std::unique_ptr<Action> action) {
  impl_->Add(std::move(action));
}

std::vector<ActionSpec> ActionSet::AddJson(std::string_view json,
                                           std::string_view rule) {
  std::vector<ActionSpec> added;
  for (ActionSpec& spec : ParseActionJson(json, rule)) {
    try {
      Add(spec);
      added.push_back(std::move(spec));
    } catch (const ConfigError& error) {
      base::LogWarning("{}: left out an action: {}", rule, error.what());
    }
  }
  return added;
}

bool ActionSet::empty() const { return impl_->empty(); }

std::vector<ActionOutcome> ActionSet::Fire(const Firing& firing) {
  return impl_->Fire(firing);
}

ActionCounts ActionSet::counts() const { return impl_->counts(); }

std::string ActionSet::trail_failure() const { return impl_->trail_failure(); }

}  // namespace smdebug
