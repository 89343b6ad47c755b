#include <cmath>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/config/nearest.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/loss_trend.h"
#include "src/rules/builtin/losses.h"
#include "src/rules/builtin/streaks.h"

namespace smdebug::rules {
namespace {

std::optional<Mode> ModeParameter(const RuleParameters& parameters) {
  if (!parameters.Has("mode")) return std::nullopt;
  const std::string& text = parameters.Text("mode");
  const auto mode = ParseMode(text);
  if (!mode || *mode == Mode::kPredict) {
    throw ConfigError(parameters.rule() + ".mode", text,
                      config::OneOf(text, {"EVAL", "TRAIN", "GLOBAL"}));
  }
  return mode;
}

// When robust, the trend of all losses is judged, not two of them: see
// LossTrend.
class LossNotDecreasing final : public Rule {
 public:
  explicit LossNotDecreasing(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        is_selected_(!selection_.empty()),
        num_steps_(parameters.Whole("num_steps")),
        diff_percent_(parameters.Number("diff_percent")),
        increase_percent_(parameters.Number("increase_threshold_percent")),
        mode_(ModeParameter(parameters)),
        robust_(parameters.Bool("robust")) {
    if (parameters.Bool("use_losses_collection")) {
      selection_.collections.emplace_back("losses");
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (std::string& name : Losses(view)) {
      const auto loss = LossOf(view, name);
      if (!loss) continue;
      Tracks& tracks = TracksOf(view, name);
      Track* track = Note(tracks, view.place(), *loss);
      if (track == nullptr) continue;
      has_judged_ = true;
      auto finding = robust_ ? Judge(*track) : Compare(*track);
      if (!finding) continue;
      finding->tensor = std::move(name);
      findings.push_back(*std::move(finding));
    }
    return findings;
  }

  std::vector<Finding> Finish(StepView& /*last*/) override {
    std::vector<Finding> findings;
    if (!robust_) return findings;
    for (auto& [name, tracks] : tracks_) {
      const auto it = tracks.find(JudgedMode(tracks));
      if (it == tracks.end()) continue;
      auto finding = Describe(it->second.trend.Finish());
      if (!finding) continue;
      finding->tensor = name;
      findings.push_back(*std::move(finding));
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? "" : "needs " + NeedText();
  }

 private:
  struct Seen {
    int64_t step;  // Of the mode.
    double loss;
  };

  // A loss in one mode.
  struct Track {
    explicit Track(const LossTrend::Options& options) : trend(options) {}

    std::deque<Seen> past;  // Back to the newest that is num_steps old.
    std::optional<int64_t> last_check;
    LossTrend trend;
    std::optional<LossTrend::Trouble> newest;
    int64_t lost = 0;  // In a row that are NaN or infinite.
  };
  using Tracks = std::map<Mode, Track>;

  // Losses at the step. Without a selector and losses, any single number.
  std::vector<std::string> Losses(StepView& view) {
    if (!selection_.empty()) {
      std::vector<std::string> names = view.Select(selection_);
      // Not at each step need there be one.
      has_losses_ = has_losses_ || !names.empty() || view.HasSaved(selection_);
      if (has_losses_ || is_selected_) return names;
    }
    std::vector<std::string> names = view.Select({});
    std::erase_if(names, [&](const std::string& name) {
      const auto value = view.At(name);
      return !value || value->dtype() == DType::kString || value->size() != 1;
    });
    return names;
  }

  // What is known of a loss, with what came before judging began.
  Tracks& TracksOf(StepView& view, const std::string& name) {
    const auto [it, is_new] = tracks_.try_emplace(name);
    if (!is_new) return it->second;
    for (const StepPlace& place : view.History(name)) {
      if (place.step >= view.step()) break;
      const auto loss =
          view.ReductionAt(name, place.step, {ReductionOp::kMean});
      if (loss) Note(it->second, place, *loss);
    }
    return it->second;
  }

  // The mode that is judged: the one asked for, else the first that is there.
  Mode JudgedMode(const Tracks& tracks) const {
    if (mode_) return *mode_;
    for (const Mode mode : {Mode::kEval, Mode::kTrain}) {
      if (tracks.contains(mode)) return mode;
    }
    return Mode::kGlobal;
  }

  // Notes a loss; gives the track to judge, or null if the step is of a mode
  // that is not judged.
  Track* Note(Tracks& tracks, const StepPlace& place, double loss) const {
    if (place.mode != Mode::kGlobal) {
      Add(tracks, place.mode, {place.mode_step, loss});
    }
    Add(tracks, Mode::kGlobal, {place.step, loss});
    const Mode judged = JudgedMode(tracks);
    if (judged != Mode::kGlobal && judged != place.mode) return nullptr;
    return &tracks.find(judged)->second;
  }

  void Add(Tracks& tracks, Mode mode, const Seen& seen) const {
    const LossTrend::Options options{.window_steps = num_steps_,
                                     .least_fall = diff_percent_ / 100,
                                     .least_rise = increase_percent_ / 100};
    Track& track = tracks.try_emplace(mode, options).first->second;
    track.past.push_back(seen);
    while (track.past.size() > 1 &&
           track.past[1].step <= seen.step - num_steps_) {
      track.past.pop_front();
    }
    track.lost = IsLost(seen.loss) ? track.lost + 1 : 0;
    if (robust_) track.newest = track.trend.Add(seen.step, seen.loss);
  }

  // A loss that is NaN or infinite does not fall, whatever it was before.
  static bool IsLost(double loss) {
    return std::isnan(loss) || loss == std::numeric_limits<double>::infinity();
  }

  Finding DescribeLost(double loss) const {
    return {.value = loss,
            .threshold = diff_percent_,
            .message = fmt::format("the loss is {}: it does not fall",
                                   std::isnan(loss) ? "NaN" : "infinite")};
  }

  std::optional<Finding> Judge(const Track& track) const {
    if (track.lost >= kRobustStreak) {
      return DescribeLost(track.past.back().loss);
    }
    return Describe(track.newest);
  }

  std::string NeedText() const {
    const std::string mode =
        mode_ ? fmt::format(" in mode {}", ModeName(*mode_)) : "";
    return fmt::format(
        "losses{}, or single numbers where there are none, "
        "which this run does not save",
        mode);
  }

  std::optional<Finding> Compare(Track& track) const {
    const Seen& now = track.past.back();
    const Seen& before = track.past.front();
    if (before.step > now.step - num_steps_) return std::nullopt;
    if (track.last_check && now.step - *track.last_check < num_steps_) {
      return std::nullopt;
    }
    track.last_check = now.step;
    if (IsLost(now.loss)) return DescribeLost(now.loss);
    const double fall = FallInPercent(before.loss, now.loss);
    if (now.loss <= before.loss && fall < diff_percent_) {
      return Finding{
          .value = fall,
          .threshold = diff_percent_,
          .message = fmt::format("the loss fell from {:.6g} to {:.6g} in {} "
                                 "steps, by {:.4g} %, less than {:.4g} %",
                                 before.loss, now.loss, now.step - before.step,
                                 fall, diff_percent_)};
    }
    if (now.loss > before.loss && -fall > increase_percent_) {
      return Finding{
          .value = -fall,
          .threshold = increase_percent_,
          .message = fmt::format("the loss rose from {:.6g} to {:.6g} in {} "
                                 "steps, by {:.4g} %, more than {:.4g} %",
                                 before.loss, now.loss, now.step - before.step,
                                 -fall, increase_percent_)};
    }
    return std::nullopt;
  }

  static double FallInPercent(double before, double now) {
    if (before == 0) {
      return now >= 0 ? 0 : std::numeric_limits<double>::infinity();
    }
    return 100 * (before - now) / std::abs(before);
  }

  std::optional<Finding> Describe(
      const std::optional<LossTrend::Trouble>& trouble) const {
    if (!trouble) return std::nullopt;
    const double change = FallInPercent(trouble->before, trouble->now);
    if (trouble->rises) {
      return Finding{
          .value = -change,
          .threshold = increase_percent_,
          .message = fmt::format("the loss rises: it was {:.6g} at best and is "
                                 "{:.6g} now, {:.4g} % more",
                                 trouble->before, trouble->now, -change)};
    }
    return Finding{
        .value = change,
        .threshold = diff_percent_,
        .message = fmt::format("the loss does not fall: it was {:.6g} in the "
                               "first half of the run and {:.6g} in the second",
                               trouble->before, trouble->now)};
  }

  TensorSelection selection_;
  const bool is_selected_;  // By the user.
  const int64_t num_steps_;
  const double diff_percent_;
  const double increase_percent_;
  const std::optional<Mode> mode_;
  const bool robust_;
  bool has_losses_ = false;
  std::map<std::string, Tracks> tracks_;
  bool has_judged_ = false;
};

}  // namespace

RuleType LossNotDecreasingType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "LossNotDecreasing",
      .summary = "The loss does not fall, or rises.",
      .parameters =
          {CollectionNames(),
           TensorRegex(),
           {.name = "use_losses_collection",
            .kind = Kind::kBool,
            .fallback = "true",
            .meaning = "Look at the collection `losses`, too."},
           {.name = "num_steps",
            .kind = Kind::kWhole,
            .fallback = "10",
            .meaning = "Steps between two checks, and between the losses that "
                       "are compared, at least.",
            .least = 1},
           {.name = "diff_percent",
            .kind = Kind::kNumber,
            .fallback = "0.1",
            .meaning = "Percent by which the loss has to fall.",
            .least = 0,
            .most = 100,
            .open = true},
           {.name = "increase_threshold_percent",
            .kind = Kind::kNumber,
            .fallback = "5",
            .meaning = "Percent by which the loss may rise.",
            .least = 0,
            .most = 100,
            .open = true},
           {.name = "mode",
            .meaning = "EVAL, TRAIN or GLOBAL; the first of them that the "
                       "loss has if unset."},
           Robust()},
      .needs = {{"losses", {{"save_interval", "500"}}}},
      .meaning =
          "Every num_steps it compares a loss with the newest one that is at "
          "least num_steps older, in steps of the mode. It fires if the loss "
          "fell by less than diff_percent, or rose by more than "
          "increase_threshold_percent, or is NaN or infinite. A loss of many "
          "values is their mean; "
          "the saved reduction is enough. Without selectors and losses every "
          "single number is one.\n\n"
          "Robust: it fires if, from 100 losses on, the median of the second "
          "half is not below that of the first although a fall of 10 % would "
          "show in the noise; at the end of the run, if it is not surely "
          "below; and once the loss has fallen, if two windows of num_steps "
          "in a row are surely above the best one, by more than "
          "increase_threshold_percent and a tenth of the first loss. Three "
          "losses in a row that are NaN or infinite do not fall either; fewer "
          "are passed over. Losses below 0.05 have converged. Of more than "
          "65,536 losses that do not fall it looks at every second, fourth "
          "and so on.\n\n"
          "Losses are the collection `losses` in every framework.",
      .make = Make<LossNotDecreasing>};
}

}  // namespace smdebug::rules
