#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"

namespace smdebug::rules {
namespace {

// When robust: so many times the longest wait that a step has ended so far is
// no stall, either.
constexpr double kRobustWait = 3;

class StalledTrainingRule final : public Rule {
 public:
  explicit StalledTrainingRule(const RuleParameters& parameters)
      : threshold_(parameters.Number("threshold")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& /*view*/) override {
    longest_wait_ = std::max(longest_wait_, std::exchange(wait_, 0));
    return {};
  }

  std::vector<Finding> Wait(StepView& /*newest*/, double seconds) override {
    wait_ = seconds;
    const double most = robust_
                            ? std::max(threshold_, kRobustWait * longest_wait_)
                            : threshold_;
    if (seconds < most) return {};
    return {{.value = seconds,
             .threshold = most,
             .message = fmt::format(
                 "nothing was saved for {:.0f} s, at least {:.0f} s", seconds,
                 most)}};
  }

 private:
  const double threshold_;
  const bool robust_;
  double wait_ = 0;          // That goes on.
  double longest_wait_ = 0;  // Of those that a step ended.
};

}  // namespace

RuleType StalledTrainingRuleType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "StalledTrainingRule",
      .summary = "A job goes on but has stopped saving.",
      .parameters = {{.name = "threshold",
                      .kind = Kind::kNumber,
                      .fallback = "1800",
                      .meaning = "Seconds without anything new.",
                      .least = 0},
                     {.name = "stop_training_on_fire",
                      .kind = Kind::kBool,
                      .fallback = "false",
                      .meaning = "Stop the job when it fires."},
                     {.name = "training_job_name_prefix",
                      .kind = Kind::kText,
                      .meaning = "How the name of the job to stop begins."},
                     Robust()},
      .needs_steps = false,
      .meaning =
          "It fires where a job that has not ended has brought no new file "
          "for `threshold` seconds, once for each wait, at the newest step. "
          "The time starts anew with every file. `smdebug check` compares the "
          "time of the newest file with now. No tensor is needed.\n\n"
          "Robust: the wait also has to be three times as long as any that a "
          "step has ended, so it does not fire for steps that are always slow.",
      .make = Make<StalledTrainingRule>};
}

}  // namespace smdebug::rules
