#pragma once

#include "smdebug/rule.h"

// One function for each built-in rule, defined in the file of its name.
namespace smdebug::rules {

RuleType AllZeroType();
RuleType CheckInputImagesType();
RuleType ClassImbalanceType();
RuleType ConfusionType();
RuleType CreateXgboostReportType();
RuleType DeadReluType();
RuleType ExplodingTensorType();
RuleType FeatureImportanceOverweightType();
RuleType LossNotDecreasingType();
RuleType NLPSequenceRatioType();
RuleType OverfitType();
RuleType OvertrainingType();
RuleType PoorWeightInitializationType();
RuleType SaturatedActivationType();
RuleType SimilarAcrossRunsType();
RuleType StalledTrainingRuleType();
RuleType TensorVarianceType();
RuleType TreeDepthType();
RuleType UnchangedTensorType();
RuleType VanishingGradientType();
RuleType WeightUpdateRatioType();

// The built-in of that name, in any letter case. Throws ConfigError, naming
// those there are.
const RuleType& RequireRule(std::string_view name);

// The same of a spec; one of a file is refused.
const RuleType& RequireRule(const RuleSpec& spec);

// RuleType::make for a rule whose constructor takes its parameters.
template <typename R>
std::unique_ptr<Rule> Make(const RuleParameters& parameters) {
  return std::make_unique<R>(parameters);
}

}  // namespace smdebug::rules
