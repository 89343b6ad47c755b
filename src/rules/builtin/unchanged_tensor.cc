#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/trainable.h"
#include "src/rules/builtin/training_steps.h"

namespace smdebug::rules {
namespace {

// When robust, tolerances are a hundredth. A weight or bias counts if it ought
// to change, so frozen layers are silent; any other tensor after twice as many
// steps, and if it is not zero, as a loss that has converged.
constexpr double kRobustTolerance = 0.01;
constexpr int64_t kRobustPatience = 2;

class UnchangedTensor final : public Rule {
 public:
  explicit UnchangedTensor(const RuleParameters& parameters)
      : selection_(parameters.RequiredSelection()),
        num_steps_(parameters.Whole("num_steps")),
        robust_(parameters.Bool("robust")),
        closeness_{.rtol = parameters.Number("rtol") *
                           (robust_ ? kRobustTolerance : 1),
                   .atol = parameters.Number("atol") *
                           (robust_ ? kRobustTolerance : 1),
                   .equal_nan = parameters.Bool("equal_nan")} {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    if (!IsTrainingStep(view.mode())) return findings;
    std::vector<std::pair<std::string, int64_t>> same;
    for (std::string& name : view.Select(selection_)) {
      const auto value = view.At(name);
      if (!value) continue;
      const int64_t count = CountSame(view, name, *value);
      same.emplace_back(std::move(name), count);
    }
    if (robust_) KeepStuck(view, same);
    for (auto& [name, count] : same) {
      if (count < num_steps_) continue;
      findings.push_back(
          {.tensor = std::move(name),
           .value = static_cast<double>(count),
           .threshold = static_cast<double>(num_steps_),
           .message = fmt::format("it has not changed over its last {} saved "
                                  "steps, at least {}",
                                  count, num_steps_)});
    }
    return findings;
  }

  std::string Lack() const override {
    return !seen_.empty() ? ""
                          : "needs the values of tensors at training steps, "
                            "which this run does not save";
  }

 private:
  struct Seen {
    Value last;
    int64_t same = 0;  // Steps in a row that are alike, the last included.
  };

  void KeepStuck(StepView& view,
                 std::vector<std::pair<std::string, int64_t>>& same) {
    trainable_.Look(view);
    const std::vector<std::string> parameters =
        view.Select({.collections = {"weights", "biases"}});
    const auto is_parameter = [&](const std::string& name) {
      return std::ranges::binary_search(parameters, name);
    };
    for (const auto& [name, count] : same) {
      if (!is_parameter(name)) continue;
      trainable_.NoteChange(name, count == 1 && seen_before_.contains(name));
      seen_before_.insert(name);
    }
    std::erase_if(same, [&](const auto& tensor) {
      const auto& [name, count] = tensor;
      if (is_parameter(name)) return !trainable_.OughtToChange(name);
      const auto largest = view.Reduce(name, {ReductionOp::kMax, /*abs=*/true});
      return count < kRobustPatience * num_steps_ ||
             (largest && *largest <= closeness_.atol);
    });
  }

  // How many steps up to this one are alike.
  int64_t CountSame(StepView& view, const std::string& name,
                    const Value& value) {
    auto it = seen_.find(name);
    if (it == seen_.end()) it = seen_.emplace(name, Recall(view, name)).first;
    Note(it->second, value);
    return it->second.same;
  }

  void Note(Seen& seen, const Value& value) const {
    const bool alike = seen.same > 0 && AllClose(seen.last, value, closeness_);
    seen.same = alike ? seen.same + 1 : 1;
    seen.last = value;
  }

  // What was seen of the tensor before this step, where judging begins later.
  Seen Recall(StepView& view, const std::string& name) const {
    Seen seen;
    const auto enough = static_cast<size_t>(kRobustPatience * num_steps_);
    for (const StepPlace& place : LastTrainingSteps(view, name, enough)) {
      if (const auto value = view.ValueAt(name, place.step)) Note(seen, *value);
    }
    return seen;
  }

  const TensorSelection selection_;
  const int64_t num_steps_;
  const bool robust_;
  const Closeness closeness_;
  std::map<std::string, Seen, std::less<>> seen_;
  std::set<std::string, std::less<>> seen_before_;
  Trainable trainable_;
};

}  // namespace

RuleType UnchangedTensorType() {
  using Kind = RuleParameter::Kind;
  return {.name = "UnchangedTensor",
          .summary = "A tensor stays the same from step to step.",
          .parameters = {CollectionNames(),
                         TensorRegex(),
                         {.name = "num_steps",
                          .kind = Kind::kWhole,
                          .fallback = "3",
                          .meaning = "Saved steps over which it is the same.",
                          .least = 2},
                         {.name = "rtol",
                          .kind = Kind::kNumber,
                          .fallback = "1e-05",
                          .meaning = "Relative difference that is none.",
                          .least = 0},
                         {.name = "atol",
                          .kind = Kind::kNumber,
                          .fallback = "1e-08",
                          .meaning = "Absolute difference that is none.",
                          .least = 0},
                         {.name = "equal_nan",
                          .kind = Kind::kBool,
                          .fallback = "false",
                          .meaning = "NaN in both is no difference."},
                         Robust()},
          .meaning =
              "It fires at a training step where a tensor is the same, by the "
              "measure of numpy.allclose, over its last num_steps saved "
              "steps, each compared with the one before. It needs values.\n\n"
              "Robust: tolerances are a hundredth. A weight or bias counts if "
              "it ought to change: it has a gradient that has not faded, or, "
              "where the run saves no gradients, it changed before while "
              "others still do, or none ever did. Any other tensor counts "
              "after twice as many steps, unless it is zero.",
          .make = Make<UnchangedTensor>};
}

}  // namespace smdebug::rules
