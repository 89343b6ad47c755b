#include <fmt/format.h>

#include "smdebug/rule_parameters.h"
#include "src/rules/builtin/built_in.h"
#include "src/rules/builtin/unit_activity.h"

namespace smdebug::rules {
namespace {

// MXNet's dense0_relu_output_0; PyTorch's relu_output_0, net.relu1_output_0 and
// ReLU_output_0; Keras's re_lu/outputs and dense/outputs/dense/Relu:0.
constexpr const char* kReluNames =
    ".*relu_output|(?i:(?<!leaky)(?<!leaky_)re_?lu_?[0-9]*"
    "(?:_output|/outputs)|/outputs/.*relu)";

// When robust, units are judged over several steps: see UnitActivity.
class DeadRelu final : public Rule {
 public:
  explicit DeadRelu(const RuleParameters& parameters)
      : selection_(parameters.Selection()), activity_(parameters) {
    if (!parameters.IsGiven("tensor_regex")) {
      selection_.collections = {"relu_output"};
    }
  }

  std::vector<Finding> Check(StepView& view) override {
    std::vector<Finding> findings;
    for (const std::string& name : view.Select(selection_)) {
      if (IsGradientName(name)) continue;
      auto finding = activity_.Judge(
          view, name, [](double x) { return x > 0; }, "dead");
      if (finding) findings.push_back(*std::move(finding));
    }
    return findings;
  }

  std::string Lack() const override {
    return activity_.has_judged() ? ""
                                  : "needs the values of activations of ReLU "
                                    "layers, which this run does not save";
  }

 private:
  TensorSelection selection_;
  UnitActivity activity_;
};

}  // namespace

RuleType DeadReluType() {
  RuleType type = {
      .name = "DeadRelu",
      .summary = "Most units of a ReLU layer are never active.",
      .parameters = UnitActivity::Parameters(),
      .needs = {{"relu_output",
                 {{"include_regex", ".*relu_output"}, {"save_interval", "500"}},
                 "tensor_regex"}},
      .meaning =
          "Axis 0 of an output counts samples; every position behind it is a "
          "unit. A unit is dead if it is above zero in less than "
          "threshold_inactivity percent of the samples. It fires at a step "
          "where more than threshold_layer percent of a layer's units are "
          "dead. Batches of fewer than 8 samples are taken together until 8 "
          "are seen, separately for each mode. It needs values.\n\n"
          "Robust: always at least three steps and 32 samples are taken "
          "together, so a unit that one batch does not excite is not dead.\n\n"
          "PyTorch: outputs of modules whose name ends in relu and a number, "
          "such as `relu1_output_0`. A ReLU under another name, such as `1` "
          "in a Sequential, is found through a collection `relu_output` that "
          "has it, or by tensor_regex. Keras: layers `re_lu`, and tensors of "
          "ReLU operations. MXNet: `.*relu_output`.",
      .make = Make<DeadRelu>};
  type.parameters.insert(type.parameters.begin(), TensorRegex(kReluNames));
  return type;
}

}  // namespace smdebug::rules
