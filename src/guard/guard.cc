#include "smdebug/guard.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "smdebug/error.h"
#include "smdebug/storage.h"
#include "smdebug/trial.h"
#include "src/base/fork.h"
#include "src/base/host.h"
#include "src/base/log.h"
#include "src/base/mutex.h"
#include "src/base/text.h"

namespace smdebug {
namespace guard {
namespace {

// What rules may look back at. A job of any length must not fill the memory of
// the process that it is in.
constexpr int64_t kRecentSteps = 1000;

// A collection that is saved because rules need it.
struct SavedForRules {
  std::string name;
  std::set<std::string> rules = {};
};

// Has `collection` take what `need` asks for. Of two rules that need it at
// different intervals, the first counts.
void Merge(const Collection& need, Collection& collection) {
  for (const std::string& regex : need.include_regex) {
    if (std::ranges::find(collection.include_regex, regex) ==
        collection.include_regex.end()) {
      collection.include_regex.push_back(regex);
    }
  }
  if (!collection.save_config) collection.save_config = need.save_config;
  collection.reduction_config = need.reduction_config;
}

// "gradients every 500 steps (VanishingGradient)".
std::string Describe(const SavedForRules& saved, const Collection& collection) {
  std::string text = saved.name;
  if (collection.save_config && (*collection.save_config)[Mode::kTrain]) {
    const int64_t interval =
        (*collection.save_config)[Mode::kTrain]->save_interval;
    text += fmt::format(" every {}", base::Counted(interval, "step"));
  }
  return fmt::format("{} ({})", text, fmt::join(saved.rules, ", "));
}

}  // namespace

// Judges what a hook publishes. The hook keeps it; OnStep() and OnEnd() come
// from one thread, the rest from any.
class Guardian final : public StepObserver {
 public:
  Guardian(std::shared_ptr<Storage> storage, std::string worker,
           std::vector<RuleEvaluation> rules, RuleGuard::OnFire on_fire,
           RuleGuard::WhenFired when_fired)
      : storage_(std::move(storage)),
        worker_(std::move(worker)),
        rules_(std::move(rules)),
        on_fire_(std::move(on_fire)),
        when_fired_(when_fired) {
    for (const RuleEvaluation& rule : rules_) {
      reports_.push_back({.name = rule.name, .rule = Describe(rule.spec)});
    }
  }

  void OnStep(int64_t /*step*/) override {
    Judge([this] {
      if (invoker_ == nullptr) Open();
      invoker_->JudgeNewSteps();
    });
  }

  void OnEnd(const HookStats& stats) override {
    if (invoker_ == nullptr) return;
    Judge([this, &stats] {
      at_end_ = stats;
      invoker_->JudgeNewSteps();
      invoker_->Finish(/*stopped=*/false);
    });
    const base::MutexLock lock(mu_);
    has_news_ = false;
    news_.reset();
    // Silence would seem to be all is well.
    for (const RuleReport& report : reports_) {
      if (report.status != RuleStatus::kError) continue;
      base::LogWarning("Rule {} could not judge the job: {}", report.name,
                       report.details);
    }
  }

  std::string WhyFailed() const override {
    const auto fired = first_fired();
    const bool stops = when_fired_ == RuleGuard::WhenFired::kStop;
    return stops && fired ? fired->what() : "";
  }

  int64_t fired_rules() const noexcept {
    return InChild() ? 0 : fired_rules_.load(std::memory_order_relaxed);
  }

  void ThrowIfFired() {
    if (!has_news_.load(std::memory_order_relaxed) || InChild()) return;
    std::optional<RuleFired> news;
    {
      const base::MutexLock lock(mu_);
      has_news_ = false;
      news.swap(news_);
    }
    if (news) throw *news;
  }

  std::optional<RuleFired> first_fired() const {
    if (InChild()) return std::nullopt;
    const base::MutexLock lock(mu_);
    return first_fired_;
  }

  std::vector<RuleReport> reports() const {
    if (InChild()) return {};
    const base::MutexLock lock(mu_);
    return reports_;
  }

 private:
  // The locks are the parent's then.
  bool InChild() const noexcept {
    return base::ForkGeneration() != fork_generation_;
  }

  void Tell(const RuleFire& fire) {
    if (fire.is_first) {
      const std::string& rule = fire.evaluation.name;
      const Finding& finding = fire.findings.front();
      base::LogWarning("Rule {} fired at step {}: {}{}{}", rule, finding.step,
                       finding.tensor, finding.tensor.empty() ? "" : ": ",
                       finding.message);
      const base::MutexLock lock(mu_);
      if (!news_) news_.emplace(rule, finding.step);
      if (!first_fired_) first_fired_.emplace(rule, finding.step);
      has_news_ = true;
      ++fired_rules_;
    }
    if (on_fire_) on_fire_(fire);
  }

  void Open() {
    TrialOptions options;
    options.only_worker = worker_;
    options.recent_steps = kRecentSteps;
    options.wait_for_run = false;
    trial_ = std::make_unique<Trial>(storage_, options);
    InvokeOptions invoke;
    invoke.worker = worker_;
    invoke.reports = storage_;
    // An earlier process of this worker was told what it was told.
    const int64_t pid = getpid();
    invoke.told_to = fmt::format("the job: process {} on {}, started {}", pid,
                                 base::HostName(), base::ProcessStart(pid));
    invoke.recent_steps = kRecentSteps;
    // The last ledger is yet to be written.
    invoke.stats = [this] { return at_end_; };
    invoke.on_fire = [this](const RuleFire& fire) {
      Tell(fire);
      return true;
    };
    invoker_ = std::make_unique<Invoker>(trial_.get(), std::move(invoke));
    for (const RuleEvaluation& rule : rules_) invoker_->Add(rule);
  }

  // Does `work` and takes what the rules have found since. The hook asks no
  // more after an exception, so the reports tell of it.
  template <typename Work>
  void Judge(const Work& work) {
    try {
      work();
    } catch (const std::exception& error) {
      const base::MutexLock lock(mu_);
      for (RuleReport& report : reports_) {
        report.status = RuleStatus::kError;
        report.details = error.what();
      }
      throw;
    }
    const base::MutexLock lock(mu_);
    for (size_t i = 0; i < reports_.size(); ++i) {
      reports_[i].CatchUpWith(invoker_->report(i));
    }
  }

  const std::shared_ptr<Storage> storage_;
  const std::string worker_;
  const std::vector<RuleEvaluation> rules_;
  const RuleGuard::OnFire on_fire_;
  const RuleGuard::WhenFired when_fired_;
  const uint64_t fork_generation_ = base::ForkGeneration();

  // Of the hook's thread.
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<Invoker> invoker_;
  HookStats at_end_;

  std::atomic<int64_t> fired_rules_{0};
  std::atomic<bool> has_news_{false};  // Whether to look.
  mutable base::Mutex mu_;
  std::optional<RuleFired> news_ SMDEBUG_GUARDED_BY(mu_);  // Not thrown yet.
  std::optional<RuleFired> first_fired_ SMDEBUG_GUARDED_BY(mu_);
  std::vector<RuleReport> reports_ SMDEBUG_GUARDED_BY(mu_);
};

}  // namespace guard

RuleFired::RuleFired(std::string_view rule, int64_t step)
    : Error(fmt::format("rule {} fired at step {}", rule, step)),
      rule_(rule),
      step_(step) {}

void RuleGuard::Validate(std::span<const RuleEvaluation> rules) {
  for (const RuleEvaluation& rule : rules) {
    // Refuses rules of files, too, which have no place here.
    MakeRule(rule.spec);
    RequireComplete(rule);
    if (!rule.action_json) continue;
    throw ConfigError(
        "action_json", *rule.action_json,
        "none for a rule inside a hook; `smdebug watch` does them");
  }
}

std::vector<std::string> RuleGuard::AddNeeds(
    std::span<const RuleEvaluation> rules, HookConfig& config) {
  const HookConfig before = config;
  std::vector<guard::SavedForRules> added;
  for (const RuleEvaluation& rule : rules) {
    for (const Collection& need : CollectionsFor(rule.spec, config.framework)) {
      if (Includes(before, need.name)) continue;
      auto found =
          std::ranges::find(added, need.name, &guard::SavedForRules::name);
      if (found == added.end()) {
        found = added.insert(added.end(), {.name = need.name});
        config.include_collections.push_back(need.name);
      }
      found->rules.insert(rule.name);
      if (std::ranges::find(before.collections, need.name, &Collection::name) ==
          before.collections.end()) {
        guard::Merge(need, EditCollection(config, need.name));
      }
    }
  }
  if (added.empty()) return {};
  std::vector<std::string> names;
  std::vector<std::string> words;
  for (const guard::SavedForRules& one : added) {
    names.push_back(one.name);
    words.push_back(guard::Describe(one, EditCollection(config, one.name)));
  }
  base::LogInfo("Saved for rules, too: {}", fmt::join(words, ", "));
  return names;
}

RuleGuard::RuleGuard(Hook& hook, std::vector<RuleEvaluation> rules,
                     OnFire on_fire, WhenFired when_fired) {
  Validate(rules);
  MakeNamesUnique(rules);
  HookConfig config = hook.config();
  if (!AddNeeds(rules, config).empty()) hook.Configure(std::move(config));
  guardian_ = std::make_shared<guard::Guardian>(hook.storage(), hook.worker(),
                                                std::move(rules),
                                                std::move(on_fire), when_fired);
  hook.Observe(guardian_);
}

RuleGuard::~RuleGuard() = default;

void RuleGuard::ThrowIfFired() { guardian_->ThrowIfFired(); }

int64_t RuleGuard::fired_rules() const noexcept {
  return guardian_->fired_rules();
}

std::optional<RuleFired> RuleGuard::first_fired() const {
  return guardian_->first_fired();
}

std::vector<RuleReport> RuleGuard::reports() const {
  return guardian_->reports();
}

}  // namespace smdebug
