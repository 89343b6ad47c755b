#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/error.h"
#include "smdebug/hook.h"
#include "smdebug/invoker.h"

namespace smdebug {

namespace guard {
class Guardian;
}  // namespace guard

// A rule has fired, in a job that is to stop then.
// smdebug.exceptions.RuleEvaluationConditionMet in Python.
class RuleFired final : public Error {
 public:
  RuleFired(std::string_view rule, int64_t step);

  const std::string& rule() const noexcept { return rule_; }
  int64_t step() const noexcept { return step_; }

 private:
  std::string rule_;
  int64_t step_;
};

// Rules that judge a job from inside.
//
// Each step is judged on the hook's own thread as soon as its files are there,
// so before the next saved step is. What a rule sees is what this process saved
// of the newest thousand steps. Reports are those of `smdebug check`, and are
// kept below `<run>/rules/`; the first time that a rule fires is logged. A rule
// that cannot be evaluated ends in kError and harms nothing. What rules need is
// saved for them: see AddNeeds().
//
// In a forked child nothing has fired, and nothing is known. Thread-safe.
class RuleGuard {
 public:
  // Called on the hook's thread when a rule fires; the training goes on
  // meanwhile.
  using OnFire = std::function<void(const RuleFire&)>;

  // What it means for the job.
  enum class WhenFired : uint8_t {
    kGoOn,
    kStop,  // It has failed, even if it closes as finished.
  };

  // Throws ConfigError and InsufficientInformation for rules that are refused:
  // by MakeRule(), or since they have an action_json, which takes longer than
  // the hook's thread has.
  static void Validate(std::span<const RuleEvaluation> rules);

  // Has a hook of `config` save what `rules` need, as CollectionsFor() says,
  // and logs that in one line. What it saves anyway stays as it is, and so does
  // a collection that is in `config.collections` and is not saved yet, but that
  // it is from now on. Gives the names of what was added. Throws as MakeRule()
  // does.
  static std::vector<std::string> AddNeeds(
      std::span<const RuleEvaluation> rules, HookConfig& config);

  // Before the hook's first step. Throws as Validate() does.
  RuleGuard(Hook& hook, std::vector<RuleEvaluation> rules, OnFire on_fire = {},
            WhenFired when_fired = WhenFired::kGoOn);
  ~RuleGuard();

  // For a job that stops when a rule fires: throws RuleFired if one has for the
  // first time since the last call, unless the hook is closed. Costs one load
  // if none has.
  void ThrowIfFired();

  // How many rules have fired; cheap enough to ask at every step.
  int64_t fired_rules() const noexcept;

  // The rule that fired first, and when; nullopt if none has.
  std::optional<RuleFired> first_fired() const;

  // What each rule has found so far, in the order of `rules`.
  std::vector<RuleReport> reports() const;

 private:
  std::shared_ptr<guard::Guardian> guardian_;
};

}  // namespace smdebug
