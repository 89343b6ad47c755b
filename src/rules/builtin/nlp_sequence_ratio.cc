#include <deque>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/elements.h"

namespace smdebug::rules {
namespace {

// MXNet's embedding0_input_0; PyTorch's embedding_input_0 and
// model.embed_tokens_input_0, but not those of positions and segments; Keras's
// embedding/inputs.
constexpr const char* kSequenceNames =
    ".*embedding0_input_0|^(?!.*(?i:position|segment|type))"
    ".*(?i:emb)[^./]*(?:_input_0|/inputs(?:_0)?)$";

// When robust, the share is that of the last three to five steps together.
constexpr size_t kRobustLeast = 3;
constexpr size_t kRobustMost = 5;

class NlpSequenceRatio final : public Rule {
 public:
  explicit NlpSequenceRatio(const RuleParameters& parameters)
      : selection_(parameters.Selection()),
        tokens_(parameters.Numbers("token_values")),
        thresholds_(parameters.Numbers("token_thresholds_percent")),
        robust_(parameters.Bool("robust")) {
    if (!parameters.IsGiven("tensor_regex")) {
      selection_.collections = {"input_sequence"};
    }
    for (const double threshold : thresholds_) {
      if (threshold >= 0 && threshold <= 100) continue;
      throw ConfigError(parameters.rule() + ".token_thresholds_percent",
                        fmt::format("{}", threshold), "numbers from 0 to 100");
    }
    if (thresholds_.size() == 1) {
      thresholds_.resize(tokens_.size(), thresholds_.front());
    }
    if (tokens_.empty() || thresholds_.size() != tokens_.size()) {
      RefuseRule(parameters,
                 "token_values needs as many token_thresholds_percent, or one");
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (const std::string& name : view.Select(selection_)) {
      const auto value = view.At(name);
      if (!value || value->dtype() == DType::kString || value->size() == 0) {
        continue;
      }
      has_judged_ = true;
      const auto share = Share(name, Count(*value));
      for (size_t i = 0; share && i < tokens_.size(); ++i) {
        const double percent = 100.0 * static_cast<double>(share->tokens[i]) /
                               static_cast<double>(share->size);
        if (!(percent > thresholds_[i])) continue;
        findings.push_back(
            {.tensor = name,
             .value = percent,
             .threshold = thresholds_[i],
             .message = fmt::format("{:.4g} % of the tokens are {}, more than "
                                    "{:.4g} %",
                                    percent, tokens_[i], thresholds_[i])});
      }
    }
    return findings;
  }

  std::string Lack() const override {
    return has_judged_ ? ""
                       : "needs the values of sequences of tokens, which this "
                         "run does not save";
  }

 private:
  struct Counts {
    std::vector<int64_t> tokens;  // As tokens_.
    int64_t size = 0;
  };

  Counts Count(const Value& value) const {
    Counts counts{.tokens = std::vector<int64_t>(tokens_.size()),
                  .size = value.size()};
    ForEach(value, [&](double x) {
      for (size_t i = 0; i < tokens_.size(); ++i) {
        counts.tokens[i] += x == tokens_[i] ? 1 : 0;
      }
    });
    return counts;
  }

  // The counts to judge: of the step or, if robust, of the last ones.
  std::optional<Counts> Share(const std::string& name, Counts now) {
    if (!robust_) return now;
    std::deque<Counts>& past = past_[name];
    past.push_back(std::move(now));
    if (past.size() < kRobustLeast) return std::nullopt;
    if (past.size() > kRobustMost) past.pop_front();
    Counts sum{.tokens = std::vector<int64_t>(tokens_.size())};
    for (const Counts& counts : past) {
      sum.size += counts.size;
      for (size_t i = 0; i < tokens_.size(); ++i) {
        sum.tokens[i] += counts.tokens[i];
      }
    }
    return sum;
  }

  TensorSelection selection_;
  const std::vector<double> tokens_;
  std::vector<double> thresholds_;
  const bool robust_;
  std::map<std::string, std::deque<Counts>> past_;
  bool has_judged_ = false;
};

}  // namespace

RuleType NLPSequenceRatioType() {
  using Kind = RuleParameter::Kind;
  return {
      .name = "NLPSequenceRatio",
      .summary = "Most tokens of sequences are padding.",
      .parameters = {TensorRegex(kSequenceNames),
                     {.name = "token_values",
                      .kind = Kind::kList,
                      .fallback = "0",
                      .meaning = "Tokens to count."},
                     {.name = "token_thresholds_percent",
                      .kind = Kind::kList,
                      .fallback = "50",
                      .meaning = "Percent of the tokens that each of them may "
                                 "be; one for all, or one for each."},
                     Robust()},
      .needs = {{"input_sequence",
                 {{"include_regex", ".*embedding0_input_0"},
                  {"save_interval", "500"}},
                 "tensor_regex"}},
      .meaning =
          "It fires at a step where more than a given percentage of a "
          "tensor's values are a given token. It needs values.\n\n"
          "Robust: over the last five steps together, from the third on.\n\n"
          "PyTorch: inputs of modules with `emb` in their name, such as "
          "`embedding_input_0`, but not of positions, segments or types. "
          "Keras: `embedding/inputs`. MXNet: `.*embedding0_input_0`. In all "
          "of them the collection `input_sequence`, too.",
      .make = Make<NlpSequenceRatio>};
}

}  // namespace smdebug::rules
