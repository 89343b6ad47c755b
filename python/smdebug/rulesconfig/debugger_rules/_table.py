"""Every built-in rule about tensors, with the collections that feed it."""

from __future__ import annotations

from typing import Any

Parameters = dict[str, str]

_RARELY: Parameters = {"save_interval": "500"}
_OFTEN: Parameters = {"save_interval": "5"}

COLLECTIONS: dict[str, Parameters] = {
    "weights": _RARELY,
    "gradients": _RARELY,
    "losses": _RARELY,
    "input_image": {"include_regex": ".*hybridsequential0_input_0", **_RARELY},
    "relu_output": {"include_regex": ".*relu_output", **_RARELY},
    "relu_input": {"include_regex": ".*relu_input", **_RARELY},
    "input_sequence": {"include_regex": ".*embedding0_input_0", **_RARELY},
}

# As ever, get_collection() tells of these the parameters alone.
BARE_COLLECTIONS = ("relu_output", "relu_input")


def _needs(*names: str) -> dict[str, Parameters]:
    return {name: COLLECTIONS[name] for name in names}


RULES: dict[str, dict[str, Parameters]] = {
    "AllZero": {},
    "CheckInputImages": _needs("input_image"),
    "ClassImbalance": {},
    "Confusion": {},
    "CreateXgboostReport": {
        "metrics": _OFTEN,
        "feature_importance": _OFTEN,
        "hyperparameters": {"save_steps": "0"},
        "predictions": _OFTEN,
        "labels": _OFTEN,
    },
    "DeadRelu": _needs("relu_output"),
    "ExplodingTensor": {},
    "FeatureImportanceOverweight": {"feature_importance": _RARELY},
    "LossNotDecreasing": _needs("losses"),
    "NLPSequenceRatio": _needs("input_sequence"),
    "Overfit": {},
    "Overtraining": {},
    "PoorWeightInitialization": _needs("relu_input"),
    "SaturatedActivation": {},
    "SimilarAcrossRuns": {},
    "StalledTrainingRule": {},
    "TensorVariance": {},
    "TreeDepth": {},
    "UnchangedTensor": {},
    "VanishingGradient": _needs("gradients"),
    "WeightUpdateRatio": _needs("weights"),
}

_UNIVERSAL = (
    "AllZero",
    "ClassImbalance",
    "Confusion",
    "LossNotDecreasing",
    "Overfit",
    "Overtraining",
    "SimilarAcrossRuns",
    "StalledTrainingRule",
    "UnchangedTensor",
)
_DEEP_LEARNING = (
    "DeadRelu",
    "ExplodingTensor",
    "PoorWeightInitialization",
    "SaturatedActivation",
    "TensorVariance",
    "VanishingGradient",
    "WeightUpdateRatio",
    "CheckInputImages",
    "NLPSequenceRatio",
)
_XGBOOST = ("FeatureImportanceOverweight", "TreeDepth")

FRAMEWORK_RULES: dict[str, tuple[str, ...]] = {
    "tensorflow": _UNIVERSAL + _DEEP_LEARNING,
    "mxnet": _UNIVERSAL + _DEEP_LEARNING,
    "pytorch": _UNIVERSAL + _DEEP_LEARNING,
    "xgboost": _UNIVERSAL + _XGBOOST,
}


def collection_configuration(name: str, parameters: Parameters) -> dict[str, Any]:
    """A collection as CreateTrainingJob takes it; the caller's to change."""
    return {"CollectionName": name, "CollectionParameters": dict(parameters)}


def rule_configuration(rule: str) -> dict[str, Any]:
    """A rule of the table with its collections; the caller's to change."""
    configuration: dict[str, Any] = {
        "DebugRuleConfiguration": {
            "RuleConfigurationName": rule,
            "RuleParameters": {"rule_to_invoke": rule},
        }
    }
    if RULES[rule]:
        configuration["CollectionConfigurations"] = [
            collection_configuration(name, parameters) for name, parameters in RULES[rule].items()
        ]
    return configuration
