#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smdebug/config.h"
#include "smdebug/finding.h"
#include "smdebug/mode.h"
#include "smdebug/reduction.h"
#include "smdebug/trial.h"

namespace smdebug {

// Tensors by name and by collection: those in any of the collections, and those
// that any of the regexes matches. Empty: all.
struct TensorSelection {
  std::vector<std::string> collections = {};
  std::vector<std::string> regexes = {};  // Python dialect, re.search.

  bool empty() const noexcept { return collections.empty() && regexes.empty(); }
};

// A step that a tensor was saved at.
struct StepPlace {
  int64_t step = 0;  // Over all modes.
  Mode mode = Mode::kGlobal;
  int64_t mode_step = 0;

  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};

// Names of scalars by which a trainer tells rules of a scaler of losses, as
// torch.amp.GradScaler is one. A StepView does not show gradients that are not
// finite at a step that the scaler has skipped, within the limits that
// docs/rules/README.md names.
//
// 1 if a step was skipped, 0 if it was made; below 0: not known yet.
inline constexpr std::string_view kStepSkipped = "step_skipped";
// What losses were multiplied by; "_1" and so on follow for further scalers.
inline constexpr std::string_view kGradScale = "grad_scale";

// What a rule may look at: one step of a run and those before it, never a later
// one, so that a verdict is the same while the job runs and afterwards.
//
// Steps are over all modes. What was not saved is nullopt. A damaged file
// throws FormatError. One thread at a time.
class StepView {
 public:
  virtual ~StepView() = default;

  const StepPlace& place() const noexcept { return place_; }
  int64_t step() const noexcept { return place_.step; }
  Mode mode() const noexcept { return place_.mode; }

  // Who saved what is looked at.
  const std::string& worker() const noexcept { return worker_; }

  // Tensors with anything saved at this step that `selection` takes, sorted.
  virtual std::vector<std::string> Select(const TensorSelection& selection) = 0;

  // Whether anything that `selection` takes was saved at this step or before.
  virtual bool HasSaved(const TensorSelection& selection) {
    return !Select(selection).empty();
  }

  // The steps of `tensor` up to this one, in order; those of `mode` only, or of
  // all modes for kGlobal.
  virtual std::vector<StepPlace> History(std::string_view tensor,
                                         Mode mode = Mode::kGlobal) = 0;

  // The newest of those before `step`; cheap, however long the run is.
  virtual std::optional<StepPlace> Before(std::string_view tensor,
                                          int64_t step) {
    std::optional<StepPlace> found;
    for (const StepPlace& place : History(tensor)) {
      if (place.step >= step) break;
      found = place;
    }
    return found;
  }

  virtual std::optional<Value> ValueAt(std::string_view tensor,
                                       int64_t step) = 0;

  // The saved reduction, else the same of the saved value.
  virtual std::optional<double> ReductionAt(std::string_view tensor,
                                            int64_t step,
                                            Reduction reduction) = 0;

  // How many NaN, infinities and zeros there were: as saved, else of the saved
  // value.
  virtual std::optional<ValueCounts> CountsAt(std::string_view tensor,
                                              int64_t step) = 0;

  // The run that other rules compare with, by its number; null if there is
  // none.
  virtual StepView* Other(size_t number) = 0;

  // The same at this step.
  std::optional<Value> At(std::string_view tensor) {
    return ValueAt(tensor, step());
  }
  std::optional<double> Reduce(std::string_view tensor, Reduction reduction) {
    return ReductionAt(tensor, step(), reduction);
  }

 protected:
  StepPlace place_;
  std::string worker_;
};

// A file that a rule makes beside its findings.
struct RuleFile {
  std::string name;  // Letters, digits, '-', '_' and '.'.
  std::string content;
};

// A question about one step. Rules keep what they need of earlier steps, so
// each object judges one run, in order. One thread at a time.
class Rule {
 public:
  virtual ~Rule() = default;

  // What is wrong at the step; empty if nothing is.
  virtual std::vector<Finding> Check(StepView& view) = 0;

  // Called once after the last step of a run, with that step. May throw
  // InsufficientInformation if the run lacks what the rule needs.
  virtual std::vector<Finding> Finish(StepView& /*last*/) { return {}; }

  // What the rule needs and has not seen, as "needs ...", so that it has judged
  // nothing; empty once it has judged something. Asked after Finish(): a run
  // that it could not judge must not seem to be without issues.
  virtual std::string Lack() const { return {}; }

  // Called now and then while the job has not ended and nothing new comes, with
  // the newest step, and the seconds since something came. A finding may be
  // repeated; one per wait counts.
  virtual std::vector<Finding> Wait(StepView& /*newest*/, double /*seconds*/) {
    return {};
  }

  // What is to be kept in `rules/<name>/` beside the report, each file
  // replacing the one of its name; empty if nothing has changed since the last
  // call. Called every few seconds while the job runs and once at the end,
  // after Finish().
  virtual std::vector<RuleFile> Files() { return {}; }
};

// One parameter of a rule.
struct RuleParameter {
  enum class Kind : uint8_t { kNumber, kWhole, kBool, kText, kList };

  std::string name;
  Kind kind = Kind::kText;
  std::optional<std::string> fallback = {};  // Unset: none.
  std::string meaning = {};
  // What is allowed for numbers, both ends included unless `open`.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open = false;

  // What is allowed, in words: "a number from 0 to 100", "true or false".
  std::string Allowed() const;
};

// A collection that a rule needs, and the parameters that feed it.
struct RuleNeed {
  std::string collection;
  std::map<std::string, std::string, std::less<>> parameters = {};
  // What the rule looks at besides the documented names, for frameworks in
  // which tensors are called otherwise: the parameter of the rule that has
  // regexes of it, or a regex that counts unless that parameter is given.
  std::string selector = {};
  std::string also = {};
};

// Which rule, with which parameters: "Name", "Name:param=value:param=value",
// where commas separate items of lists, or Name{"param": "value"}. A class of a
// Python file is named "path/to/file.py:Name", with parameters likewise.
struct RuleSpec {
  std::string name;
  // A text in the first form is one item; JSON lists have more.
  std::map<std::string, std::vector<std::string>, std::less<>> parameters = {};
  // Whether an item may hold several, separated by commas.
  bool commas_separate = true;
  // The Python file that defines it; empty: it is none of a file. Only
  // `smdebug check` and `smdebug watch` evaluate rules of files.
  std::string file = {};
};

// Throws ConfigError for a text of neither form.
RuleSpec ParseRuleSpec(std::string_view text);

// The rule and its parameters on one line, the same for the same meaning.
std::string Describe(const RuleSpec& spec);

class RuleParameters;

// A kind of rule.
struct RuleType {
  std::string name;
  std::string summary;
  std::vector<RuleParameter> parameters;
  std::vector<RuleNeed> needs = {};
  // Whether a run without any step tells the rule nothing.
  bool needs_steps = true;
  // Whether it compares with another run, and is refused without one.
  bool needs_other_trial = false;
  // When it fires, what `robust` changes, and which names it looks at in each
  // framework. Paragraphs.
  std::string meaning = {};
  std::function<std::unique_ptr<Rule>(const RuleParameters&)> make = {};
};

// All built-in rules by name.
std::span<const RuleType> BuiltInRules();

// The built-in of that name, in any letter case; null if there is none.
const RuleType* FindRule(std::string_view name);

// The collections that the rule of `spec` needs, as a hook of `framework` takes
// them, with the names that the parameters of `spec` give: values, at the
// interval that the rule states. What only hooks of other frameworks could fill
// is left out. Throws as MakeRule() does.
std::vector<Collection> CollectionsFor(const RuleSpec& spec,
                                       Framework framework);

// Throws ConfigError for an unknown rule or parameter, a rule of a file, or a
// value that is not allowed, and InsufficientInformation where a rule lacks
// what it needs.
std::unique_ptr<Rule> MakeRule(const RuleSpec& spec);

// The same of a type that need not be built in.
std::unique_ptr<Rule> MakeRule(const RuleType& type, const RuleSpec& spec);

}  // namespace smdebug
