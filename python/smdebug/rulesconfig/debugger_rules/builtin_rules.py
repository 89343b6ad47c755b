"""One function per built-in rule: its configuration, and the collections it needs."""

from __future__ import annotations

from typing import Any

from smdebug.rulesconfig.debugger_rules._table import (
    BARE_COLLECTIONS,
    COLLECTIONS,
    FRAMEWORK_RULES,
    collection_configuration,
    rule_configuration,
)


def get_collection(collection_name: str) -> dict[str, Any] | None:
    """The configuration of a collection that rules need; None for any other.

    Of relu_output and relu_input these are the parameters alone.
    """
    parameters = COLLECTIONS.get(collection_name)
    if parameters is None:
        return None
    if collection_name in BARE_COLLECTIONS:
        return dict(parameters)
    return collection_configuration(collection_name, parameters)


def rule_names(framework: str) -> list[str]:
    """The rules that make sense for a framework, whose name may be in any letter case."""
    names = FRAMEWORK_RULES.get(framework.lower())
    if names is None:
        raise ValueError(f"framework is {framework!r}; allowed: {', '.join(FRAMEWORK_RULES)}")
    return list(names)


def all_zero() -> dict[str, Any]:
    """Fires if all values of a tensor, or too many, are zero."""
    return rule_configuration("AllZero")


def check_input_images() -> dict[str, Any]:
    """Fires if input images are not normalised."""
    return rule_configuration("CheckInputImages")


def class_imbalance() -> dict[str, Any]:
    """Fires if some classes are rarely sampled or badly predicted."""
    return rule_configuration("ClassImbalance")


def confusion() -> dict[str, Any]:
    """Fires if the confusion matrix is bad."""
    return rule_configuration("Confusion")


def create_xgboost_report() -> dict[str, Any]:
    """Writes a report about an XGBoost job."""
    return rule_configuration("CreateXgboostReport")


def dead_relu() -> dict[str, Any]:
    """Fires if too many outputs of ReLU layers are zero."""
    return rule_configuration("DeadRelu")


def exploding_tensor() -> dict[str, Any]:
    """Fires if a tensor has NaN or infinite values."""
    return rule_configuration("ExplodingTensor")


def feature_importance_overweight() -> dict[str, Any]:
    """Fires if a few features carry most of the importance."""
    return rule_configuration("FeatureImportanceOverweight")


def loss_not_decreasing() -> dict[str, Any]:
    """Fires if a loss does not go down."""
    return rule_configuration("LossNotDecreasing")


def nlp_sequence_ratio() -> dict[str, Any]:
    """Fires if sequences hold too much padding."""
    return rule_configuration("NLPSequenceRatio")


def overfit() -> dict[str, Any]:
    """Fires if the validation loss leaves the training loss behind."""
    return rule_configuration("Overfit")


def overtraining() -> dict[str, Any]:
    """Fires if a loss no longer improves."""
    return rule_configuration("Overtraining")


def poor_weight_initialization() -> dict[str, Any]:
    """Fires if weights began badly."""
    return rule_configuration("PoorWeightInitialization")


def saturated_activation() -> dict[str, Any]:
    """Fires if activations are saturated."""
    return rule_configuration("SaturatedActivation")


def similar_across_runs() -> dict[str, Any]:
    """Fires if tensors of two runs differ."""
    return rule_configuration("SimilarAcrossRuns")


def stalled_training_rule() -> dict[str, Any]:
    """Fires if the job saves nothing for a while."""
    return rule_configuration("StalledTrainingRule")


def tensor_variance() -> dict[str, Any]:
    """Fires if the variance of a tensor is out of bounds."""
    return rule_configuration("TensorVariance")


def tree_depth() -> dict[str, Any]:
    """Fires if trees of XGBoost are too deep."""
    return rule_configuration("TreeDepth")


def unchanged_tensor() -> dict[str, Any]:
    """Fires if a tensor stays as it is."""
    return rule_configuration("UnchangedTensor")


def vanishing_gradient() -> dict[str, Any]:
    """Fires if gradients become very small."""
    return rule_configuration("VanishingGradient")


def weight_update_ratio() -> dict[str, Any]:
    """Fires if weights change too little or too much per step."""
    return rule_configuration("WeightUpdateRatio")
