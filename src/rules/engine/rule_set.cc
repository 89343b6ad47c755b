#include <optional>
#include <string>
#include <utility>

#include "smdebug/error.h"
#include "smdebug/invoker.h"
#include "smdebug/rule.h"
#include "src/rules/engine/python_rule.h"

namespace smdebug {

namespace {

// `evaluations`, once it is known that each built-in rule has what it needs.
std::vector<RuleEvaluation> Checked(std::vector<RuleEvaluation> evaluations,
                                    const InvokeOptions& options) {
  for (const RuleEvaluation& evaluation : evaluations) {
    RequireComplete(evaluation, options.other_trials);
  }
  return evaluations;
}

}  // namespace

RuleSet::RuleSet(std::vector<RuleEvaluation> evaluations,
                 const InvokeOptions& options)
    : evaluations_(Checked(std::move(evaluations), options)),
      children_(rules::LoadPythonRules(evaluations_, options)) {}

RuleSet::~RuleSet() = default;

std::vector<RuleType> RuleSet::TypesFor(const Trial& trial,
                                        const InvokeOptions& options) const {
  std::vector<RuleType> types(evaluations_.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!children_[i]) continue;
    types[i] =
        rules::PythonRuleType(evaluations_[i], trial, options, children_[i]);
  }
  return types;
}

void RuleSet::AddTo(Invoker& invoker,
                    const std::vector<RuleType>& types) const {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].make) {
      invoker.Add(evaluations_[i], types[i]);
    } else {
      invoker.Add(evaluations_[i]);
    }
  }
}

std::vector<RuleReport> RuleSet::JudgeOnce(Trial& trial, const Storage& storage,
                                           InvokeOptions options) const {
  const std::vector<RuleType> types = TypesFor(trial, options);
  Invoker invoker(&trial, std::move(options));
  AddTo(invoker, types);
  invoker.JudgeNewSteps();
  const double idle = SecondsSinceNewestFile(storage);
  if (idle > 0) invoker.NoteWait(idle);
  invoker.Finish(/*stopped=*/false);
  return invoker.reports();
}

LiveVerdict RuleSet::JudgeLive(
    Trial& trial, InvokeOptions options,
    const std::function<bool(const Invoker&)>& go_on) const {
  const std::vector<RuleType> types = TypesFor(trial, options);
  const Invoker* judging = nullptr;
  options.live = true;
  options.go_on = [&] { return go_on(*judging); };
  Invoker invoker(&trial, std::move(options));
  judging = &invoker;
  AddTo(invoker, types);
  bool ended = false;
  std::optional<std::string> replaced;
  try {
    ended = invoker.Run();
    if (!ended) invoker.Finish(/*stopped=*/true);
  } catch (const RunReplacedError& error) {
    ended = false;
    replaced = error.what();
  }
  return {.ended = ended,
          .replaced = std::move(replaced),
          .reports = invoker.reports(),
          .steps_judged = invoker.steps_judged(),
          .last_step = invoker.last_step()};
}

}  // namespace smdebug
