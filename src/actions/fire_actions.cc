#include "src/actions/fire_actions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/actions/action_type.h"

namespace smdebug::actions {
namespace {

Firing ToFiring(const RuleFire& fire, const std::string& run,
                const Trial& trial) {
  const Finding& first = fire.findings.front();
  Firing firing{.rule = fire.evaluation.name,
                .run = run,
                .store = trial.storage(),
                .run_id = trial.run_id(),
                .step = first.step < 0 ? std::nullopt
                                       : std::optional<int64_t>(first.step),
                .message = first.message};
  if (!first.tensor.empty())
    firing.message = first.tensor + ": " + firing.message;
  firing.findings.assign(fire.findings.begin(), fire.findings.end());
  return firing;
}

}  // namespace

ActionOptions OptionsFor(bool dry_run) {
  ActionOptions options = ActionOptions::FromEnvironment();
  options.dry_run = options.dry_run || dry_run;
  return options;
}

FireActions::FireActions(std::span<const std::string> actions, bool dry_run,
                         std::string run)
    : run_(std::move(run)), options_(OptionsFor(dry_run)), shared_(options_) {
  for (const std::string& text : actions) shared_.Add(ParseAction(text));
}

void FireActions::Add(const RuleEvaluation& evaluation) {
  const auto refuse = [&](const std::string& /*part*/, const std::string& why) {
    throw Error(fmt::format("{}: action_json: {}", evaluation.name, why));
  };
  auto own = std::make_unique<ActionSet>(options_);
  for (const ActionSpec& spec :
       ReadActionJson(evaluation.action_json.value_or(""), refuse)) {
    try {
      own->Add(spec);
    } catch (const ConfigError& error) {
      refuse({}, error.what());
    }
  }
  if (!own->empty()) by_rule_[evaluation.name] = std::move(own);
}

std::vector<ActionOutcome> FireActions::Fire(const RuleFire& fire,
                                             const Trial& trial) {
  if (!HasActions(fire.evaluation.name)) return {};
  fired_.insert(fire.evaluation.name);
  const auto own = by_rule_.find(fire.evaluation.name);
  const Firing firing = ToFiring(fire, run_, trial);
  std::vector<ActionOutcome> outcomes = shared_.Fire(firing);
  if (own != by_rule_.end()) {
    std::ranges::move(own->second->Fire(firing), std::back_inserter(outcomes));
  }
  std::vector<bool>& failed = failed_[fire.evaluation.name];
  failed.resize(outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const ActionOutcome::Result result = outcomes[i].result;
    if (result == ActionOutcome::Result::kSuppressed) continue;
    failed[i] = result == ActionOutcome::Result::kFailed;
  }
  std::erase_if(outcomes, [](const ActionOutcome& outcome) {
    return outcome.result == ActionOutcome::Result::kSuppressed &&
           outcome.suppressed > 1;
  });
  return outcomes;
}

bool FireActions::HasFailed(std::string_view rule) const {
  const auto failed = failed_.find(rule);
  return failed != failed_.end() &&
         std::ranges::find(failed->second, true) != failed->second.end();
}

std::vector<std::string> FireActions::NotDone(
    std::span<const RuleReport> reports) const {
  std::vector<std::string> lines;
  bool has_actions = false;
  bool has_fired = false;
  for (const RuleReport& report : reports) {
    if (!HasActions(report.name)) continue;
    has_actions = true;
    if (report.findings_total == 0) continue;
    has_fired = true;
    if (fired_.contains(report.name)) continue;
    lines.push_back(fmt::format(
        "{}: no action was done: an earlier call has already acted on what it "
        "found",
        report.name));
  }
  if (has_actions && !has_fired) {
    lines.emplace_back("no action was done: no rule fired");
  }
  std::string trail_failure = shared_.trail_failure();
  for (const auto& [rule, own] : by_rule_) {
    if (trail_failure.empty()) trail_failure = own->trail_failure();
  }
  if (!trail_failure.empty()) lines.push_back(std::move(trail_failure));
  return lines;
}

bool FireActions::HasActions(std::string_view rule) const {
  return !shared_.empty() || by_rule_.contains(rule);
}

}  // namespace smdebug::actions
