#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "src/rules/elements.h"
#include "src/rules/parameters.h"
#include "src/rules/registry.h"
#include "src/rules/training_steps.h"

namespace smdebug::rules {
namespace {

// When robust, so many more steps without a change are needed.
constexpr int64_t kRobustFactor = 2;

class UnchangedTensor final : public Rule {
 public:
  explicit UnchangedTensor(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        steps_needed_(parameters.Whole("num_steps") *
                      (parameters.Bool("robust") ? kRobustFactor : 1)),
        closeness_{.rtol = parameters.Number("rtol"),
                   .atol = parameters.Number("atol"),
                   .equal_nan = parameters.Bool("equal_nan")} {
    if (selection_.empty()) {
      RefuseRule(parameters,
                 "one of collection_names and tensor_regex is needed");
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    if (!IsTrainingStep(view.mode())) return findings;
    for (std::string& name : view.Select(selection_)) {
      const auto value = view.At(name);
      if (!value) continue;
      const int64_t same = CountSame(view, name, *value);
      if (same < steps_needed_) continue;
      findings.push_back(
          {.tensor = std::move(name),
           .value = static_cast<double>(same),
           .threshold = static_cast<double>(steps_needed_),
           .message = fmt::format("it has not changed over its last {} saved "
                                  "steps",
                                  same)});
    }
    return findings;
  }

 private:
  struct Seen {
    Value last;
    int64_t same = 0;  // Steps in a row that are alike, the last included.
  };

  // How many steps up to this one are alike.
  int64_t CountSame(StepView& view, const std::string& name,
                    const Value& value) {
    auto it = seen_.find(name);
    if (it == seen_.end()) it = seen_.emplace(name, Recall(view, name)).first;
    Seen& seen = it->second;
    const bool alike = seen.same > 0 && AllClose(seen.last, value, closeness_);
    seen.same = alike ? seen.same + 1 : 1;
    seen.last = value;
    return seen.same;
  }

  // What was seen of the tensor before this step, where judging begins later.
  Seen Recall(StepView& view, const std::string& name) const {
    Seen seen;
    std::vector<StepPlace> past = TrainingSteps(view, name);
    std::erase_if(past, [&](const StepPlace& place) {
      return place.step >= view.step();
    });
    const auto enough = static_cast<size_t>(steps_needed_);
    if (past.size() > enough) {
      past.erase(past.begin(), past.end() - static_cast<int64_t>(enough));
    }
    for (const StepPlace& place : past) {
      auto value = view.ValueAt(name, place.step);
      if (!value) continue;
      const bool alike =
          seen.same > 0 && AllClose(seen.last, *value, closeness_);
      seen.same = alike ? seen.same + 1 : 1;
      seen.last = *std::move(value);
    }
    return seen;
  }

  const TensorSelection selection_;
  const int64_t steps_needed_;
  const Closeness closeness_;
  std::map<std::string, Seen, std::less<>> seen_;
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
          .make = Make<UnchangedTensor>};
}

}  // namespace smdebug::rules
