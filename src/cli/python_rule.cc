#include "src/cli/python_rule.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "src/cli/json_output.h"
#include "src/cli/judge_options.h"
#include "src/cli/python_child.h"

namespace smdebug::cli {
namespace {

std::string TextAt(const Json& object, std::string_view key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>()
                                               : std::string();
}

// As JsonNumber() writes them.
double NumberAt(const Json& object, std::string_view key) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_number()) return it->get<double>();
  const std::string text = TextAt(object, key);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return kInfinity;
  return text == "-Infinity" ? -kInfinity : 0;
}

Json LoadQuestion(const RuleEvaluation& evaluation) {
  Json parameters = Json::object();
  for (const auto& [name, items] : evaluation.spec.parameters) {
    parameters[name] = fmt::format("{}", fmt::join(items, ","));
  }
  return {{"ask", "load"},
          {"file", evaluation.spec.file},
          {"class", evaluation.spec.name},
          {"parameters", std::move(parameters)},
          {"has_other_trials", !evaluation.other_trials.empty()}};
}

Json OpenQuestion(const RuleEvaluation& evaluation,
                  const JudgeOptions& options) {
  const auto start =
      evaluation.start_step ? evaluation.start_step : options.start_step;
  const auto end = evaluation.end_step ? evaluation.end_step : options.end_step;
  return {{"ask", "open"},
          {"run", options.run},
          {"other_trials", evaluation.other_trials.empty()
                               ? options.other_trials
                               : evaluation.other_trials},
          {"start_step", start ? Json(*start) : Json()},
          {"end_step", end ? Json(*end) : Json()}};
}

// What the invoker sees of a rule in Python. One thread at a time.
class AskedRule final : public Rule {
 public:
  AskedRule(std::string name, std::shared_ptr<PythonChild> child, Json open)
      : name_(std::move(name)),
        child_(std::move(child)),
        open_(std::move(open)) {}

  std::vector<Finding> Check(StepView& view) override {
    if (is_over_) return {};
    // Only now there is a run to be sure of.
    if (!std::exchange(is_open_, true)) Answer(open_);
    const Json answer = Answer({{"ask", "judge"}, {"step", view.step()}});
    is_over_ = answer.value("over", false);
    if (const std::string lack = TextAt(answer, "lacks"); !lack.empty()) {
      if (lack_.empty()) lack_ = lack;
      return {};
    }
    has_judged_ = true;
    std::vector<Finding> findings;
    for (const Json& found : answer.value("findings", Json::array())) {
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
  Json Answer(const Json& question) {
    child_->Ask(question);
    Json answer = child_->Answer();
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
  const Json open_;
  bool is_open_ = false;
  bool is_over_ = false;
  bool has_judged_ = false;
  std::string lack_;  // What the first step that could not be judged lacked.
};

RuleType TypeOf(const RuleEvaluation& evaluation, const JudgeOptions& options,
                const std::shared_ptr<PythonChild>& child) {
  RuleType type;
  type.name = evaluation.spec.name;
  // The class has taken them.
  for (const auto& [name, items] : evaluation.spec.parameters) {
    type.parameters.push_back({.name = name});
  }
  type.make = [name = type.name, child,
               open = OpenQuestion(evaluation, options)](
                  const RuleParameters&) -> std::unique_ptr<Rule> {
    return std::make_unique<AskedRule>(name, child, open);
  };
  return type;
}

}  // namespace

PythonRules::PythonRules(std::span<const RuleEvaluation> evaluations,
                         const JudgeOptions& options,
                         const std::function<bool()>& go_on)
    : types_(evaluations.size()) {
  std::vector<std::shared_ptr<PythonChild>> children(evaluations.size());
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (evaluations[i].spec.file.empty()) continue;
    if (options.worker || options.all_workers) {
      throw Error(fmt::format(
          "{}: a rule in Python looks at workers itself; --worker and "
          "--all-workers are for built-in rules",
          Describe(evaluations[i].spec)));
    }
    // All of them start at the same time.
    children[i] = std::make_shared<PythonChild>(go_on);
    children[i]->Ask(LoadQuestion(evaluations[i]));
  }
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (!children[i]) continue;
    const Json answer = children[i]->Answer();
    if (const auto reason = TextAt(answer, "refused"); !reason.empty()) {
      throw Error(reason);
    }
    types_[i] = TypeOf(evaluations[i], options, children[i]);
  }
}

PythonRules::~PythonRules() = default;

void PythonRules::AddAll(std::vector<RuleEvaluation> evaluations,
                         Invoker& invoker) const {
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (types_[i].make) {
      invoker.Add(std::move(evaluations[i]), types_[i]);
    } else {
      invoker.Add(std::move(evaluations[i]));
    }
  }
}

}  // namespace smdebug::cli
