#include "src/rules/engine/judge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/rules/engine/registry.h"
#include "src/run/keys.h"

namespace smdebug::rules {
namespace {

// "collection a or b, or tensors that match 'c'".
std::string NeedText(const std::vector<TensorSelection>& selections) {
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
  std::string text;
  if (!collections.empty()) {
    text = fmt::format("collection {}", fmt::join(collections, " or "));
  }
  if (!regexes.empty()) {
    text += fmt::format("{}tensors that match {}", text.empty() ? "" : ", or ",
                        fmt::join(regexes, " or "));
  }
  return text.empty() ? "some tensor" : text;
}

// Values that cannot be read are the trouble of those who ask for them.
bool HidesSteps(const Damage& damage) {
  return damage.kind == DamageKind::kBadIndex ||
         damage.kind == DamageKind::kBadName ||
         damage.kind == DamageKind::kBadCollections;
}

}  // namespace

Judge::Judge(RuleEvaluation asked, const RuleType& type, Range steps,
             std::vector<size_t> other_numbers)
    : evaluation(std::move(asked)),
      range(steps),
      others(std::move(other_numbers)),
      report{.name = evaluation.name, .rule = Describe(evaluation.spec)},
      type_(&type) {
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

// What the rule looked for and never found; empty if there is nothing.
std::string Judge::Lack() const {
  if (!use_.selected && !use_.selections.empty()) {
    return fmt::format("needs {}, which this run does not save",
                       NeedText(use_.selections));
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

void Judge::Conclude(bool stopped, std::span<const Damage> damage) {
  if (std::exchange(concluded, true)) return;
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
  } else if (report.steps_judged == 0 && type_->needs_steps) {
    Fail(damage.empty()
             ? std::string("the run has no step to judge")
             : fmt::format("the run has no step that can be read: {}: {}",
                           damage.front().file, damage.front().reason));
  } else if (std::string lack = Lack(); !lack.empty()) {
    Fail(lack);
  } else if (const auto whole = std::ranges::find_if(damage, HidesSteps);
             whole != damage.end() && type_->needs_steps) {
    Fail(fmt::format("a part of the run could not be read: {}: {}", whole->file,
                     whole->reason));
  } else {
    report.status = RuleStatus::kNoIssuesFound;
  }
}

}  // namespace smdebug::rules
