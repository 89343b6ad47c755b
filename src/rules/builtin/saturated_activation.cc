#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "smdebug/error.h"
#include "smdebug/rule_parameters.h"
#include "src/base/text.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/unit_activity.h"

namespace smdebug::rules {
namespace {

// MXNet's dense0_tanh_input_0; PyTorch's tanh_input_0 and net.sigmoid1_input_0;
// Keras's tanh/inputs. The name also tells which of the two it is.
constexpr const char* kActivationNames =
    ".*tanh_input|.*sigmoid_input|"
    "(?i:(?:tanh|sigmoid)_?[0-9]*(?:_input|/inputs))";

// Inputs for which a function still has a slope.
struct Range {
  double least;
  double most;
};

struct Function {
  std::string_view name;
  Range range;
};

// threshold_<function>_min and _max, or threshold_<function> = "(min, max)".
Range RangeOf(const RuleParameters& parameters, const std::string& function) {
  const std::string name = "threshold_" + function;
  Range range{.least = parameters.Number(name + "_min"),
              .most = parameters.Number(name + "_max")};
  if (parameters.IsGiven(name)) {
    const std::string pair =
        fmt::format("{}", fmt::join(parameters.List(name), ","));
    std::string_view text = base::Trim(pair);
    if (text.starts_with('(')) text.remove_prefix(1);
    if (text.ends_with(')')) text.remove_suffix(1);
    const size_t comma = text.find(',');
    const auto number = [](std::string_view part, double& result) {
      part = base::Trim(part);
      const char* end = part.data() + part.size();
      const auto [last, error] = std::from_chars(part.data(), end, result);
      return error == std::errc() && last == end;
    };
    if (comma == std::string_view::npos ||
        !number(text.substr(0, comma), range.least) ||
        !number(text.substr(comma + 1), range.most)) {
      throw ConfigError(parameters.rule() + "." + name, pair,
                        "a pair (min, max) of numbers");
    }
  }
  if (!(range.least < range.most)) {
    throw ConfigError(parameters.rule() + "." + name,
                      fmt::format("({}, {})", range.least, range.most),
                      "a min below its max");
  }
  return range;
}

// When robust, units are judged over several steps: see UnitActivity.
class SaturatedActivation final : public Rule {
 public:
  explicit SaturatedActivation(const RuleParameters& parameters)
      : functions_{Function{"tanh", RangeOf(parameters, "tanh")},
                   Function{"sigmoid", RangeOf(parameters, "sigmoid")}},
        collections_(parameters.List("collection_names")),
        activity_(parameters) {
    if (parameters.IsGiven("tensor_regex") || collections_.empty()) {
      regexes_ = parameters.List("tensor_regex");
    }
    if (!parameters.IsGiven("tensor_regex") && collections_.empty()) {
      collections_ = {"tanh_input", "sigmoid_input"};
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::map<std::string, const Function*> layers;
    if (!regexes_.empty()) Add(view, {.regexes = regexes_}, "", layers);
    for (const std::string& collection : collections_) {
      Add(view, {.collections = {collection}}, collection, layers);
    }
    std::vector<Finding> findings;
    for (const auto& [name, function] : layers) {
      const Range range = function->range;
      auto finding = activity_.Judge(
          view, name,
          [&](double x) { return range.least < x && x < range.most; },
          "saturated");
      if (finding) findings.push_back(*std::move(finding));
    }
    return findings;
  }

  std::string Lack() const override {
    return activity_.has_judged()
               ? ""
               : "needs the values of activations of tanh or sigmoid layers, "
                 "which this run does not save";
  }

 private:
  // Which function a tensor belongs to: by its name, else by its collection's.
  void Add(StepView& view, const TensorSelection& selection,
           std::string_view collection,
           std::map<std::string, const Function*>& layers) const {
    for (const std::string& name : view.Select(selection)) {
      if (IsGradientName(name)) continue;
      const Function* function = Find(name);
      if (function == nullptr) function = Find(collection);
      if (function != nullptr) layers.emplace(name, function);
    }
  }

  const Function* Find(std::string_view name) const {
    const std::string lower = base::Lower(name);
    const auto it =
        std::ranges::find_if(functions_, [&](const Function& function) {
          return lower.find(function.name) != std::string::npos;
        });
    return it == functions_.end() ? nullptr : &*it;
  }

  const std::array<Function, 2> functions_;
  std::vector<std::string> collections_;
  std::vector<std::string> regexes_;
  UnitActivity activity_;
};

RuleParameter Limit(std::string name, std::string fallback,
                    std::string meaning) {
  return {.name = std::move(name),
          .kind = RuleParameter::Kind::kNumber,
          .fallback = std::move(fallback),
          .meaning = std::move(meaning)};
}

RuleParameter PairParameter(std::string name, std::string meaning) {
  return {.name = std::move(name),
          .kind = RuleParameter::Kind::kList,
          .meaning = std::move(meaning)};
}

}  // namespace

RuleType SaturatedActivationType() {
  RuleType type = {
      .name = "SaturatedActivation",
      .summary = "Most units of a tanh or sigmoid layer are saturated.",
      .parameters = {CollectionNames(), TensorRegex(kActivationNames),
                     Limit("threshold_tanh_min", "-9.4999",
                           "Input below which tanh is saturated."),
                     Limit("threshold_tanh_max", "9.4999",
                           "Input above which tanh is saturated."),
                     Limit("threshold_sigmoid_min", "-23",
                           "Input below which sigmoid is saturated."),
                     Limit("threshold_sigmoid_max", "16.99999",
                           "Input above which sigmoid is saturated."),
                     PairParameter("threshold_tanh",
                                   "Both for tanh, as (min, max)."),
                     PairParameter("threshold_sigmoid",
                                   "Both for sigmoid, as (min, max).")},
      .meaning =
          "Axis 0 of an input counts samples; every position behind it is a "
          "unit. A unit is saturated if its input lies between min and max in "
          "less than threshold_inactivity percent of the samples. It fires at "
          "a step where more than threshold_layer percent of a layer's units "
          "are saturated. Batches of fewer than 8 samples are taken together "
          "until 8 are seen, separately for each mode. It needs values.\n\n"
          "Whether a tensor belongs to a tanh or a sigmoid follows from its "
          "name, or from that of the collection it was found in; otherwise it "
          "is left out. With collection_names and no tensor_regex only "
          "collections are used.\n\n"
          "Robust: always at least three steps and 32 samples are taken "
          "together.\n\n"
          "PyTorch: inputs of modules whose name ends in tanh or sigmoid and "
          "a number, such as `sigmoid1_input_0`; others through collections "
          "`tanh_input` and `sigmoid_input` that have them. Keras: "
          "`<layer>/inputs` of layers named so. MXNet: `.*tanh_input`, "
          "`.*sigmoid_input`.",
      .make = Make<SaturatedActivation>};
  for (RuleParameter& parameter : UnitActivity::Parameters()) {
    type.parameters.push_back(std::move(parameter));
  }
  return type;
}

}  // namespace smdebug::rules
