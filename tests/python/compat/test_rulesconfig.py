"""smdebug.rulesconfig is called, and answers, as smdebug_rulesconfig on PyPI.

Each runs in its own environment: the one on PyPI in that of this suite, ours in the
one that SMDEBUG_PYTHON names.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from support.api import ask

THEIRS = "smdebug_rulesconfig"
OURS = "smdebug.rulesconfig"
MODULES = [
    "",
    ".actions.actions",
    ".debugger_rules.builtin_rules",
    ".profiler_rules.rules",
]

RULES = [
    "all_zero",
    "check_input_images",
    "class_imbalance",
    "confusion",
    "create_xgboost_report",
    "dead_relu",
    "exploding_tensor",
    "feature_importance_overweight",
    "loss_not_decreasing",
    "nlp_sequence_ratio",
    "overfit",
    "overtraining",
    "poor_weight_initialization",
    "saturated_activation",
    "similar_across_runs",
    "stalled_training_rule",
    "tensor_variance",
    "tree_depth",
    "unchanged_tensor",
    "vanishing_gradient",
    "weight_update_ratio",
]

COLLECTIONS = [
    "weights",
    "gradients",
    "losses",
    "input_image",
    "input_sequence",
    "relu_output",
    "relu_input",
    "metrics",
    "",
]

# Class -> its parameters in order.
PROFILER_RULES = {
    "BatchSize": [
        "cpu_threshold_p95",
        "gpu_threshold_p95",
        "gpu_memory_threshold_p95",
        "patience",
        "window",
    ],
    "CPUBottleneck": ["threshold", "gpu_threshold", "cpu_threshold", "patience"],
    "Dataloader": ["min_threshold", "max_threshold"],
    "GPUMemoryIncrease": ["increase", "patience", "window"],
    "IOBottleneck": ["threshold", "gpu_threshold", "io_threshold", "patience"],
    "LoadBalancing": ["threshold", "patience"],
    "LowGPUUtilization": ["threshold_p95", "threshold_p5", "window", "patience"],
    "MaxInitializationTime": ["threshold"],
    "OverallSystemUsage": [],
    "StepOutlier": ["stddev", "mode", "n_outliers"],
}

VALUES = ["-1", "0", "0.5", "1", "100", "101", "'TRAIN'", "None"]


def of_profiler_rules() -> list[str]:
    asked = []
    for rule, own in PROFILER_RULES.items():
        parameters = [*own, "scan_interval_us"]
        asked.append(f"vars({rule}())")
        asked.append(f"vars({rule}(*{[i + 1 for i in range(len(parameters))]}))")
        asked.append(f"{rule}(unknown=1)")
        for parameter in parameters:
            for value in VALUES:
                asked.append(f"vars({rule}({parameter}={value}))")
                asked.append(f"vars(ProfilerReport({rule}_{parameter}={value}))")
        asked.append(f"ProfilerReport({rule}_unknown=1)")
    return asked


SAME = [
    *(f"{rule}()" for rule in RULES),
    *(f"{rule}(1)" for rule in RULES),
    # What a caller changes is the caller's.
    "vanishing_gradient()['CollectionConfigurations'].clear() or vanishing_gradient()",
    *(f"get_collection({name!r})" for name in COLLECTIONS),
    "get_collection(None)",
    "get_collection()",
    *of_profiler_rules(),
    "vars(ProfilerReport())",
    "vars(ProfilerReport(batchsize_patience=5, STEPOUTLIER_Stddev=2))",
    "ProfilerReport(patience=5)",
    "ProfilerReport(unknown_patience=5)",
    "ProfilerReport(5)",
    # Actions.
    "vars(StopTraining())",
    "StopTraining().serialize()",
    "vars(StopTraining('my-job-1'))",
    "StopTraining('my-job-1').serialize()",
    "StopTraining(training_job_prefix='a').serialize()",
    *(f"StopTraining({bad})" for bad in ("''", "'a_b'", "'a b'", "1", "['a']")),
    "(lambda a: a.update_training_job_prefix_if_not_specified('job') or vars(a))(StopTraining())",
    "(lambda a: a.update_training_job_prefix_if_not_specified('j') or vars(a))(StopTraining('x'))",
    "(lambda a: a.update_training_job_prefix_if_not_specified('b') or a.serialize())"
    "(ActionList(Email('a@b.com'), StopTraining(), StopTraining('x')))",
    "vars(Email('abc@abc.com'))",
    "Email('abc@abc.com').serialize()",
    "Email(email_address='abc@abc.com').serialize()",
    *(
        f"Email({bad})"
        for bad in (
            "''",
            "'abc'",
            "'abc@abc'",
            "'abc@abc.c'",
            "'abc@abc.info'",
            "'Abc@abc.com'",
            "'a.b@abc.com'",
            "1",
            "None",
        )
    ),
    "Email()",
    "vars(SMS('+1234'))",
    "SMS('+1234').serialize()",
    "SMS(phone_number='+123456789012345').serialize()",
    *(
        f"SMS({bad})"
        for bad in ("''", "'1234'", "'+'", "'+1234567890123456'", "'+12 34'", "1", "None")
    ),
    "SMS()",
    "ActionList().serialize()",
    "ActionList().actions",
    "ActionList(SMS('+1')).serialize()",
    "ActionList(StopTraining('j'), Email('a@b.com'), SMS('+1')).serialize()",
    "ActionList([SMS('+1')])",
    "ActionList('sms')",
    "ActionList(ActionList())",
    "Action(endpoint='e', other=None).serialize()",
    *(
        f"is_valid_action_object({thing})"
        for thing in ("SMS('+1')", "StopTraining()", "ActionList()", "None", "'sms'", "[SMS('+1')]")
    ),
]

# Where ours says more, or refuses by another class.
ALSO_HERE = {
    "Email('a@b.com').update_training_job_prefix_if_not_specified('job')": "None",
    "StopTraining('a\\n')": "raises ValueError Exception BaseException",
    "Action(endpoint='\"')": "raises ValueError Exception BaseException",
    "rule_names('XGBoost')": repr(
        [
            "AllZero",
            "ClassImbalance",
            "Confusion",
            "LossNotDecreasing",
            "Overfit",
            "Overtraining",
            "SimilarAcrossRuns",
            "StalledTrainingRule",
            "UnchangedTensor",
            "FeatureImportanceOverweight",
            "TreeDepth",
        ]
    ),
    "len(rule_names('pytorch')), rule_names('mxnet') == rule_names('TENSORFLOW')": "(18, True)",
    "rule_names('caffe')": "raises ValueError Exception BaseException",
    "sorted(ProfilerReport(opt_out_telemetry=True, stepoutlier_stddev=2)"
    ".rule_parameters.items())": repr(
        [
            ("custom_rule_parameters", {"StepOutlier_stddev": 2}),
            ("opt_out_telemetry", True),
            ("rule_to_invoke", "ProfilerReport"),
        ]
    ),
}


def named(package: str) -> list[str]:
    return [package + module for module in MODULES]


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return ask(sys.executable, named(THEIRS), SAME)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    python = os.environ.get("SMDEBUG_PYTHON")
    if python is None:
        pytest.skip("SMDEBUG_PYTHON names no Python that has our package")
    return ask(python, named(OURS), SAME + list(ALSO_HERE))


def calls(described: dict[str, Any]) -> dict[str, Any]:
    """How what has a name is called: itself, or the methods of a class."""
    if described["kind"] == "class":
        return {name: m["call"] for name, m in described.items() if isinstance(m, dict)}
    return {"": described.get("call")}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there_and_is_called_as_before(
    module: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    there = theirs["modules"][THEIRS + module]
    here_too = ours["modules"][OURS + module]
    for name, described in there.items():
        if described["home"] is not None and ".utils" in described["home"]:
            continue  # Its checks, imported for its own use.
        assert name in here_too, name
        here = here_too[name]
        assert here["kind"] == described["kind"], name
        if name == "ProfilerReport":
            continue  # Takes opt_out_telemetry, too.
        for method, call in calls(described).items():
            assert calls(here)[method] == call, f"{name}.{method}"


def test_every_public_function_and_class_is_asked(theirs: dict[str, Any]) -> None:
    public = theirs["modules"][THEIRS]
    asked = " ".join(SAME)
    assert [name for name in public if f"{name}(" not in asked] == []


@pytest.mark.parametrize("expression", SAME)
def test_both_answer_the_same(
    expression: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    assert ours["expressions"][expression] == theirs["expressions"][expression]


@pytest.mark.parametrize("expression", ALSO_HERE)
def test_ours_answers_more(expression: str, ours: dict[str, Any]) -> None:
    assert ours["expressions"][expression] == ALSO_HERE[expression]
