#include "src/rules/engine/python_rule.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/rules/engine/deferred_rule.h"
#include "src/rules/engine/interrupted.h"

namespace smdebug::rules {
namespace {

using Message = PythonChild::Message;

std::string TextAt(const Message& object, std::string_view key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>()
                                               : std::string();
}

// NaN and infinities are texts.
double NumberAt(const Message& object, std::string_view key) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_number()) return it->get<double>();
  const std::string text = TextAt(object, key);
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return infinity;
  return text == "-Infinity" ? -infinity : 0;
}

Message LoadQuestion(const RuleEvaluation& evaluation) {
  Message parameters = Message::object();
  for (const auto& [name, items] : evaluation.spec.parameters) {
    parameters[name] = fmt::format("{}", fmt::join(items, ","));
  }
  return {{"ask", "load"},
          {"file", evaluation.spec.file},
          {"class", evaluation.spec.name},
          {"parameters", std::move(parameters)},
          {"has_other_trials", !evaluation.other_trials.empty()}};
}

Message OpenQuestion(const RuleEvaluation& evaluation, const Trial& trial,
                     const InvokeOptions& options) {
  const int64_t start = evaluation.start_step.value_or(options.start_step);
  const auto end = evaluation.end_step ? evaluation.end_step : options.end_step;
  return {{"ask", "open"},
          {"run", trial.path()},
          {"run_id", trial.run_id()},
          {"other_trials", evaluation.other_trials.empty()
                               ? options.other_trials
                               : evaluation.other_trials},
          {"start_step", start},
          {"end_step", end ? Message(*end) : Message()}};
}

// What the invoker sees of a rule in Python. One thread at a time.
class AskedRule final : public DeferredRule {
 public:
  AskedRule(std::string name, std::shared_ptr<PythonChild> child, Message open)
      : name_(std::move(name)),
        child_(std::move(child)),
        open_(std::move(open)) {}

  void Ask(int64_t step) override {
    if (is_over_) return;
    step_ = step;
    // Only now there is a run to be sure of.
    child_->Ask(is_open_ ? JudgeQuestion() : open_);
  }

  bool HasAnswered(std::chrono::milliseconds wait) override {
    if (is_over_) return true;
    if (!child_->HasAnswer(wait)) return false;
    if (is_open_) return true;
    try {
      Answer();
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      return true;
    }
    is_open_ = true;
    child_->Ask(JudgeQuestion());
    return child_->HasAnswer(wait);
  }

  double SecondsSinceAsked() const override {
    return child_->SecondsSinceAsked();
  }

  void GiveUp() noexcept override { child_->GiveUp(); }

  std::vector<Finding> Check(StepView& /*view*/) override {
    if (is_over_) return {};
    if (failure_) std::rethrow_exception(failure_);
    const Message answer = Answer();
    is_over_ = answer.value("over", false);
    if (const std::string lack = TextAt(answer, "lacks"); !lack.empty()) {
      if (lack_.empty()) lack_ = lack;
      return {};
    }
    has_judged_ = true;
    std::vector<Finding> findings;
    for (const Message& found : answer.value("findings", Message::array())) {
      findings.push_back({.tensor = TextAt(found, "tensor"),
                          .worker = TextAt(found, "worker"),
                          .value = NumberAt(found, "value"),
                          .threshold = NumberAt(found, "threshold"),
                          .message = TextAt(found, "message")});
    }
    return findings;
  }

  std::vector<Finding> Finish(StepView& /*last*/) override {
    if (has_judged_ || lack_.empty()) return {};
    throw InsufficientInformation(
        name_, fmt::format("no step has what it needs: {}", lack_));
  }

 private:
  Message JudgeQuestion() const { return {{"ask", "judge"}, {"step", step_}}; }

  Message Answer() {
    Message answer = child_->Answer();
    if (const std::string error = TextAt(answer, "error"); !error.empty()) {
      throw Error(error);
    }
    if (const std::string file = TextAt(answer, "damaged"); !file.empty()) {
      throw FormatError(file, TextAt(answer, "reason"));
    }
    return answer;
  }

  const std::string name_;
  const std::shared_ptr<PythonChild> child_;
  const Message open_;
  int64_t step_ = -1;           // The one asked about.
  std::exception_ptr failure_;  // Why it could not be opened.
  bool is_open_ = false;
  bool is_over_ = false;
  bool has_judged_ = false;
  std::string lack_;  // What the first step that could not be judged lacked.
};

}  // namespace

std::vector<std::shared_ptr<PythonChild>> LoadPythonRules(
    std::span<const RuleEvaluation> evaluations, const InvokeOptions& options) {
  std::vector<std::shared_ptr<PythonChild>> children(evaluations.size());
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (evaluations[i].spec.file.empty()) continue;
    if (options.worker || options.all_workers) {
      throw Error(
          fmt::format("{}: a rule in Python looks at workers itself; a choice "
                      "of workers is "
                      "for built-in rules",
                      Describe(evaluations[i].spec)));
    }
    // All of them start at the same time.
    children[i] =
        std::make_shared<PythonChild>(options.on_print, options.python);
    children[i]->Ask(LoadQuestion(evaluations[i]));
  }
  for (size_t i = 0; i < children.size(); ++i) {
    const auto& child = children[i];
    if (!child) continue;
    while (!child->HasAnswer(std::chrono::milliseconds(100))) {
      if (options.go_on && !options.go_on()) throw Interrupted();
      if (child->SecondsSinceAsked() < options.load_limit) continue;
      throw Error(fmt::format("{} did not load within {} s",
                              Describe(evaluations[i].spec),
                              options.load_limit));
    }
    const Message answer = child->Answer();
    if (const auto reason = TextAt(answer, "refused"); !reason.empty()) {
      throw Error(reason);
    }
  }
  return children;
}

RuleType PythonRuleType(const RuleEvaluation& evaluation, const Trial& trial,
                        const InvokeOptions& options,
                        std::shared_ptr<PythonChild> child) {
  RuleType type;
  type.name = evaluation.spec.name;
  // The class has taken them.
  for (const auto& [name, items] : evaluation.spec.parameters) {
    type.parameters.push_back({.name = name});
  }
  type.make = [name = type.name, child = std::move(child),
               open = OpenQuestion(evaluation, trial, options)](
                  const RuleParameters&) -> std::unique_ptr<Rule> {
    return std::make_unique<AskedRule>(name, child, open);
  };
  return type;
}

}  // namespace smdebug::rules
