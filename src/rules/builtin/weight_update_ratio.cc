#include <cmath>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"
#include "src/rules/builtin/streaks.h"
#include "src/rules/builtin/trainable.h"
#include "src/rules/builtin/training_steps.h"

namespace smdebug::rules {
namespace {

// A change of a weight's elements that harms nothing, as a root mean square.
constexpr double kHarmlessChange = 0.01;

// When robust, too small an update counts three times in a row and if the
// weight ought to change, so frozen and converged layers are silent; too large
// a one if it is no small number that grows from almost zero.
class WeightUpdateRatio final : public Rule {
 public:
  explicit WeightUpdateRatio(const RuleParameters& parameters)
      : num_steps_(parameters.Has("num_steps")
                       ? std::optional(parameters.Whole("num_steps"))
                       : std::nullopt),
        large_(parameters.Number("large_threshold")),
        small_(parameters.Number("small_threshold")),
        epsilon_(parameters.Number("epsilon")),
        robust_(parameters.Bool("robust")) {}

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    if (!IsTrainingStep(view.mode())) return findings;
    if (robust_) trainable_.Look(view);
    std::vector<Update> updates;
    for (std::string& name : view.Select({.collections = {"weights"}})) {
      auto update = UpdateOf(view, std::move(name));
      if (!update) continue;
      trainable_.NoteChange(update->name, update->ratio >= small_);
      updates.push_back(*std::move(update));
    }
    for (Update& update : updates) {
      const bool large = update.ratio > large_;
      const bool small = update.ratio < small_;
      if (robust_ ? !IsWrong(update, large, small) : !large && !small) continue;
      const double limit = large ? large_ : small_;
      findings.push_back({.tensor = std::move(update.name),
                          .value = update.ratio,
                          .threshold = limit,
                          .message = fmt::format(
                              "the update is {:.3g} times the weight, {} "
                              "{:.3g}",
                              update.ratio, large ? "above" : "below", limit)});
    }
    return findings;
  }

  std::string Lack() const override {
    return !past_.empty() ? ""
                          : "needs the values of weights at training steps, "
                            "which this run does not save";
  }

 private:
  struct Past {
    int64_t mode_step;
    Value value;
  };
  struct Update {
    std::string name;
    double ratio;
    double change;  // Root mean square over the elements.
  };

  bool IsWrong(const Update& update, bool large, bool small) {
    const bool stuck = small && trainable_.OughtToChange(update.name);
    if (stuck_.Note(update.name, stuck) >= kRobustStreak) return true;
    return large && update.change > kHarmlessChange;
  }

  std::optional<Update> UpdateOf(StepView& view, std::string name) {
    auto now = view.At(name);
    if (!now || now->dtype() == DType::kString) return std::nullopt;
    std::deque<Past>& past = PastOf(view, name);
    const int64_t mode_step = view.place().mode_step;
    while (num_steps_ && !past.empty() &&
           past.front().mode_step < mode_step - *num_steps_) {
      past.pop_front();
    }
    std::optional<Update> update;
    if (!past.empty()) {
      const Value& before = past.front().value;
      const double norm = before.Reduce({ReductionOp::kL2});
      const double distance = Distance(before, *now);
      if (norm != 0) {  // Else the ratio has no meaning.
        update = {
            .name = std::move(name),
            .ratio = distance / (norm + epsilon_),
            .change = distance / std::sqrt(static_cast<double>(now->size()))};
      }
    }
    if (!num_steps_) past.clear();
    past.push_back({mode_step, *std::move(now)});
    return update;
  }

  // What a later step may be compared with: the step before, or all within
  // num_steps, oldest first. Where judging begins later it is read again.
  std::deque<Past>& PastOf(StepView& view, const std::string& name) {
    const auto [it, is_new] = past_.try_emplace({view.mode(), name});
    if (!is_new) return it->second;
    std::deque<Past>& past = it->second;
    const int64_t oldest = num_steps_ ? view.place().mode_step - *num_steps_
                                      : std::numeric_limits<int64_t>::min();
    auto place = view.Before(name, view.step());
    for (; place; place = view.Before(name, place->step)) {
      if (place->mode != view.mode()) continue;
      if (place->mode_step < oldest) break;
      auto value = view.ValueAt(name, place->step);
      if (!value) continue;
      past.push_front({place->mode_step, *std::move(value)});
      if (!num_steps_) break;
    }
    return past;
  }

  const std::optional<int64_t> num_steps_;
  const double large_;
  const double small_;
  const double epsilon_;
  const bool robust_;
  std::map<std::pair<Mode, std::string>, std::deque<Past>> past_;
  Trainable trainable_;
  Streaks stuck_;
};

}  // namespace

RuleType WeightUpdateRatioType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "WeightUpdateRatio",
      .summary = "Weights change too much or too little.",
      .parameters = {{.name = "num_steps",
                      .kind = Kind::kWhole,
                      .meaning = "Compare with the oldest step saved within "
                                 "so many; the step before if unset.",
                      .least = 1},
                     {.name = "large_threshold",
                      .kind = Kind::kNumber,
                      .fallback = "10",
                      .meaning = "Ratio above which it is too much.",
                      .least = 0},
                     {.name = "small_threshold",
                      .kind = Kind::kNumber,
                      .fallback = "0.00000001",
                      .meaning = "Ratio below which it is too little.",
                      .least = 0},
                     {.name = "epsilon",
                      .kind = Kind::kNumber,
                      .fallback = "0.000000001",
                      .meaning = "Added to the weight's norm.",
                      .least = 0},
                     Robust()},
      .needs = {{"weights", {{"save_interval", "500"}}}},
      .meaning =
          "It fires at a training step where the length of a weight's change "
          "since an earlier step, divided by the weight's length then, is "
          "above or below the thresholds. A weight that was all zero then is "
          "left out. It needs the values of weights.\n\n"
          "Robust: too small a change counts three times in a row, and for a "
          "weight that ought to change: one with a gradient that has not "
          "faded, or, where the run saves no gradients, one that changed "
          "before while others still do, or any if none ever did. Too large a "
          "change counts if elements change by more than 0.01.\n\n"
          "Weights are the collection `weights` in every framework.",
      .make = Make<WeightUpdateRatio>};
}

}  // namespace smdebug::rules
