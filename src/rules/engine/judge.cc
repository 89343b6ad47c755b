#include "src/rules/engine/judge.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/internal/did_you_mean.h"
#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/engine/registry.h"
#include "src/run/keys.h"
#include "src/trial/reader.h"

namespace smdebug::rules {
namespace {

// "collection a or b, or tensors that match 'c'", with `word` for "or".
std::string NeedText(const std::vector<TensorSelection>& selections,
                     std::string_view word) {
  std::vector<std::string> collections;
  std::vector<std::string> regexes;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const TensorSelection& selection : selections) {
    for (const auto& name : selection.collections) add(collections, name);
    for (const auto& regex : selection.regexes) {
      add(regexes, "'" + regex + "'");
    }
  }
  const std::string between = fmt::format(" {} ", word);
  std::string text;
  if (!collections.empty()) {
    text = fmt::format("collection {}", fmt::join(collections, between));
  }
  if (!regexes.empty()) {
    text += fmt::format("{}tensors that match {}",
                        text.empty() ? "" : fmt::format(", {} ", word),
                        fmt::join(regexes, between));
  }
  return text.empty() ? "some tensor" : text;
}

// "; did you mean 'weights'?", of the first collection that the run has not.
std::string Misspelling(const std::vector<TensorSelection>& selections,
                        Trial& trial) {
  std::vector<std::string> known;
  for (const auto& [name, collection] : trial.Collections()) {
    known.push_back(name);
  }
  for (const TensorSelection& selection : selections) {
    for (const std::string& name : selection.collections) {
      if (std::ranges::find(known, name) != known.end()) continue;
      const std::string meant = config::DidYouMean(name, known);
      if (!meant.empty()) return "; " + meant;
    }
  }
  return {};
}

// What the user named of what a rule is to look at.
TensorSelection AskedFor(const RuleType& type, const RuleSpec& spec) {
  const RuleParameters parameters(type, spec);
  const auto given = [&](std::string_view name) {
    const bool is_list = std::ranges::any_of(
        type.parameters, [&](const RuleParameter& parameter) {
          return parameter.name == name &&
                 parameter.kind == RuleParameter::Kind::kList;
        });
    return is_list && parameters.IsGiven(name) ? parameters.List(name)
                                               : std::vector<std::string>();
  };
  return {.collections = given("collection_names"),
          .regexes = given("tensor_regex")};
}

// Whether `selection` takes any tensor of the run, at whatever step.
bool TakesAny(const TensorSelection& selection, Trial& trial) {
  trial::Reader& reader = trial.reader();
  trial::MemberSet set;
  set.collections = selection.collections;
  set.regexes = selection.regexes;
  reader.Update(*reader.Known(), set);
  return std::ranges::any_of(set.takes, [](char takes) { return takes != 0; });
}

// Values that cannot be read are the trouble of those who ask for them.
bool HidesSteps(const Damage& damage) {
  return damage.kind == DamageKind::kBadIndex ||
         damage.kind == DamageKind::kBadName ||
         damage.kind == DamageKind::kBadCollections ||
         damage.kind == DamageKind::kMissingSteps;
}

// What the job was to save and did not, or why nobody knows; empty if there is
// nothing.
std::string Unsaved(const Account& account) {
  const HookStats& stats = account.stats;
  std::vector<std::string> parts;
  if (stats.lost > 0) parts.push_back(fmt::format("{} lost", stats.lost));
  if (stats.dropped > 0) {
    parts.push_back(fmt::format("{} dropped", stats.dropped));
  }
  if (parts.empty() && account.damage.empty()) return {};
  if (parts.empty()) {
    const Damage& ledger = account.damage.front();
    return fmt::format("what was dropped or lost is not known: {}: {}",
                       ledger.file, ledger.reason);
  }
  return fmt::format(
      "not all that was due was saved ({}; `smdebug status` says "
      "why), and what was saved has no issues",
      fmt::join(parts, ", "));
}

}  // namespace

Judge::Judge(RuleEvaluation asked, const RuleType& type, Range steps,
             std::vector<size_t> other_numbers)
    : evaluation(std::move(asked)),
      range(steps),
      others(std::move(other_numbers)),
      report{.name = evaluation.name, .rule = Describe(evaluation.spec)},
      type_(&type),
      asked_(AskedFor(type, evaluation.spec)) {
  // What is wrong with the parameters is said at once.
  seats_.push_back({.rule = MakeRule(*type_, evaluation.spec)});
  deferred_ = dynamic_cast<DeferredRule*>(seats_.front().rule.get());
}

template <typename Question>
std::vector<Finding> Judge::Ask(std::span<const std::unique_ptr<Desk>> desks,
                                const Question& question) {
  std::vector<Finding> found;
  while (seats_.size() < desks.size()) {
    seats_.push_back({.rule = MakeRule(*type_, evaluation.spec)});
  }
  for (size_t i = 0; i < desks.size(); ++i) {
    if (report.status == RuleStatus::kError) break;
    AskOne(*desks[i], seats_[i], found,
           [&](Rule& rule) { return question(rule, seats_[i], *desks[i]); });
  }
  return found;
}

void Judge::AskOne(Desk& desk, Seat& seat, std::vector<Finding>& found,
                   const std::function<std::vector<Finding>(Rule&)>& question) {
  std::vector<TrialView*> views;
  for (const size_t number : others) views.push_back(desk.others[number].get());
  desk.view.SetOthers(views);
  desk.view.SetUse(&use_);
  try {
    for (Finding& finding : question(*seat.rule)) {
      finding.step = desk.view.step();
      finding.mode = desk.view.mode();
      if (finding.worker.empty()) {
        finding.worker = desk.view.WorkerOf(finding.tensor);
      }
      found.push_back(std::move(finding));
    }
  } catch (const FormatError& error) {
    if (report.unreadable_steps++ == 0) report.unreadable = error.what();
  } catch (const IoError& error) {
    if (report.unreadable_steps++ == 0) report.unreadable = error.what();
  } catch (const InsufficientInformation& error) {
    Fail(error.message());
  } catch (const std::exception& error) {
    Fail(error.what());
  }
  desk.view.SetUse(nullptr);
  desk.view.SetOthers({});
}

std::vector<Finding> Judge::JudgeStep(
    std::span<const std::unique_ptr<Desk>> desks) {
  told_of_wait_ = false;
  std::vector<Finding> found =
      Ask(desks, [](Rule& rule, Seat& seat, Desk& desk) {
        seat.judged = true;
        return rule.Check(desk.view);
      });
  ++report.steps_judged;
  report.last_step = desks.front()->view.step();
  return found;
}

std::vector<Finding> Judge::NoteWait(
    std::span<const std::unique_ptr<Desk>> desks, double seconds) {
  // A job that stalls does so as a whole.
  auto found = Ask(desks.first(std::min<size_t>(desks.size(), 1)),
                   [&](Rule& rule, Seat&, Desk& desk) {
                     return rule.Wait(desk.view, seconds);
                   });
  if (found.empty() || std::exchange(told_of_wait_, true)) return {};
  return found;
}

std::vector<Finding> Judge::Finish(
    std::span<const std::unique_ptr<Desk>> desks) {
  return Ask(desks, [](Rule& rule, Seat& seat, Desk& desk) {
    return seat.judged ? rule.Finish(desk.view) : std::vector<Finding>();
  });
}

std::vector<RuleFile> Judge::Files(
    std::span<const std::unique_ptr<Desk>> desks) {
  std::vector<RuleFile> files;
  for (size_t i = 0; i < std::min(seats_.size(), desks.size()); ++i) {
    try {
      for (RuleFile& file : seats_[i].rule->Files()) {
        if (desks.size() > 1) {
          file.name =
              run::PlainName(desks[i]->worker.value_or("")) + "/" + file.name;
        }
        files.push_back(std::move(file));
      }
    } catch (const std::exception& error) {
      Fail(error.what());
    }
  }
  return files;
}

void Judge::GiveUp(int64_t step, double seconds) {
  deferred_->GiveUp();
  Fail(fmt::format("did not answer at step {} within {} s", step, seconds));
}

void Judge::Fail(std::string_view details) {
  report.status = RuleStatus::kError;
  report.details = details;
}

// Why no step was judged, of a run that is not damaged.
std::string Judge::WhyNoStep(Trial& trial) const {
  const std::vector<int64_t> steps = trial.reader().StepsFrom(
      /*first=*/0, std::numeric_limits<int64_t>::max());
  if (steps.empty()) return "the run has no step to judge";
  if (std::ranges::any_of(steps,
                          [&](int64_t step) { return IsInRange(step); })) {
    return "no step was judged";
  }
  return fmt::format(
      "the run has no step to judge from step {} on{}; it has "
      "steps {} to {}",
      range.start, range.end ? fmt::format(" and before {}", *range.end) : "",
      steps.front(), steps.back());
}

// What the rule looked for and never found; empty if there is nothing.
std::string Judge::Lack(Trial& trial) const {
  if (use_.left_out && !use_.saw_step_made) {
    return "needs a step that the optimizer has made: a scaler of losses has "
           "skipped every one so far, since gradients were not finite";
  }
  if (!use_.selected && !use_.selections.empty()) {
    const bool elsewhere =
        (range.start > 0 || range.end) &&
        std::ranges::any_of(use_.selections, [&](const auto& selection) {
          return TakesAny(selection, trial);
        });
    return fmt::format("needs {}, which this run does not save{}{}",
                       NeedText(use_.selections, "or"),
                       elsewhere ? " in the steps asked for" : "",
                       Misspelling(use_.selections, trial));
  }
  if (use_.selected && !use_.answered && !use_.unanswered.empty()) {
    return fmt::format(
        "needs more of tensors such as '{}' than this run saves of them: their "
        "values, or other reductions",
        use_.unanswered);
  }
  // One worker with what it needs is enough.
  std::string lack;
  for (const Seat& seat : seats_) {
    if (!seat.judged) continue;
    std::string missed = seat.rule->Lack();
    if (missed.empty()) return {};
    if (lack.empty()) lack = std::move(missed);
  }
  return lack;
}

// What the user named that takes nothing of the run; empty if there is nothing.
std::string Judge::Missing(Trial& trial) const {
  std::vector<TensorSelection> missing;
  const auto look = [&](TensorSelection one) {
    if (!TakesAny(one, trial)) missing.push_back(std::move(one));
  };
  for (const auto& name : asked_.collections) look({.collections = {name}});
  for (const auto& regex : asked_.regexes) look({.regexes = {regex}});
  if (missing.empty()) return {};
  return fmt::format("is to look at {}, which this run does not save{}",
                     NeedText(missing, "and"), Misspelling(missing, trial));
}

void Judge::Conclude(bool stopped, Trial& trial, const Account& account) {
  if (std::exchange(concluded, true)) return;
  const std::vector<Damage> damage = trial.damage();
  report.ended = !stopped;
  if (report.status == RuleStatus::kError) return;
  if (report.findings_total > 0) {
    report.status = RuleStatus::kIssuesFound;
  } else if (report.unreadable_steps > 0) {
    Fail(fmt::format("{} of {} could not be read: {}", report.unreadable_steps,
                     base::Counted(report.steps_judged, "step"),
                     report.unreadable));
  } else if (stopped) {
    report.status = RuleStatus::kStopped;
    const bool lacks_steps = report.steps_judged == 0 && type_->needs_steps;
    const std::string lack = lacks_steps ? WhyNoStep(trial) : Lack(trial);
    if (!lack.empty()) report.details = "has judged nothing so far: " + lack;
  } else if (report.steps_judged == 0 && type_->needs_steps) {
    Fail(damage.empty()
             ? WhyNoStep(trial)
             : fmt::format("the run has no step that can be read: {}: {}",
                           damage.front().file, damage.front().reason));
  } else if (const std::string lack = Lack(trial); !lack.empty()) {
    Fail(lack);
    report.refused = !Missing(trial).empty();
  } else if (const std::string missing = Missing(trial); !missing.empty()) {
    Fail(missing);
    report.refused = true;
  } else if (const auto whole = std::ranges::find_if(damage, HidesSteps);
             whole != damage.end() && type_->needs_steps) {
    Fail(fmt::format("a part of the run could not be read: {}: {}", whole->file,
                     whole->reason));
  } else if (const std::string unsaved = Unsaved(account);
             !unsaved.empty() && type_->needs_steps) {
    Fail(unsaved);
  } else {
    report.status = RuleStatus::kNoIssuesFound;
  }
}

}  // namespace smdebug::rules
