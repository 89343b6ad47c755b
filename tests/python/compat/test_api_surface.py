"""What smdebug 1.0 offers by name is offered here, with the same calls and answers.

Each package runs in its own environment: smdebug 1.0 in the one of this suite,
ours in the one that SMDEBUG_PYTHON names.
"""

from __future__ import annotations

import os
import sys
from fnmatch import fnmatch
from typing import Any

import pytest
from support.api import (
    ABSENT,
    FRAMEWORKS,
    ask,
    belongs_to,
    check_names,
    check_passed_on,
    is_absent,
    modules_of,
    undocumented,
)

# What we do not have, and why.
MISSING = {
    # Reports and telemetry of the profiler, which sends them to its maker.
    "smdebug.core.config_constants.PAPERMILL_EXECUTION_ENV_VAR",
    "smdebug.core.config_constants.PROFILER_REPORT_VERSION",
    "smdebug.core.config_constants.PROFILER_TELEMETRY_URL",
    "smdebug.core.utils.get_aws_region_from_processing_job_arn",
    "smdebug.core.utils.setup_profiler_report",
    # The profiler's names of machines.
    "smdebug.core.utils.get_node_id",
    # Which worker this is, and on what platform, is found by the hooks.
    "smdebug.core.utils.check_smdataparallel_env",
    "smdebug.core.utils.check_smmodelparallel_training",
    "smdebug.core.utils.get_distributed_worker",
    # No version of a framework is refused.
    "smdebug.core.utils.is_framework_version_supported",
    # Files, S3 and the steps of a tensor are the core's.
    "smdebug.core.access_layer.TSAccessFile",
    "smdebug.core.access_layer.TSAccessS3",
    "smdebug.core.hook.ScalarCache",
    "smdebug.core.tensor.ModeSteps",
    "smdebug.core.tensor.Step",
    "smdebug.core.tensor.Tensor.add_reduction_step",
    "smdebug.core.tensor.Tensor.add_step",
    "smdebug.core.access_layer.utils.delete_s3_prefixes",
    "smdebug.core.utils.get_region",
    # All hooks are below BaseHook.
    "smdebug.core.hook.CallbackHook",
    # Metrics are not sent to SageMaker.
    "smdebug.core.hook.SageMakerFileMetricsWriter",
    # Read from the environment when it is asked for, not at import.
    "smdebug.core.access_layer.utils.RULESTOP_GRACETIME_SECONDS",
    "smdebug.core.access_layer.utils.RULE_JOB_STOP_SIGNAL_FILENAME",
}

# What we have otherwise, and why.
CHANGED = {
    # `median` is documented and now works.
    "smdebug.core.reduction_config.ALLOWED_REDUCTIONS",
    # There are more actions.
    "smdebug.rules.action.action.ALLOWED_ACTIONS",
    # A framework's hook gives its collections and its profiler by other means.
    "smdebug.core.hook.BaseHook.__init__",
    # Without an argument, the default is that of the framework.
    "smdebug.core.hook.BaseHook.has_default_hook_configuration",
    # Nothing of a trial is abstract: the core knows where its files are.
    "smdebug.trials.local_trial.LocalTrial",
    "smdebug.trials.s3_trial.S3Trial",
    "smdebug.trials.trial.Trial",
}

# Expressions over the names of all modules. Both packages answer the same.
SAME = [
    "SaveConfigMode()",
    "SaveConfigMode('5', '1', '9', [3])",
    "vars(SaveConfigMode(5, 1, 9, [3]))",
    "SaveConfigMode(save_steps='1,2')",
    "SaveConfigMode.from_dict(None)",
    "SaveConfigMode.from_dict({'save_interval': 2, 'other': 1}, {'start_step': 3})",
    "SaveConfigMode.from_dict({'save_interval': None}, {'save_interval': 3})",
    "SaveConfigMode.from_dict({'save_interval': 0})",
    "[s for s in range(1001) if SaveConfigMode(5, 4, 10, [3, 100]).should_save_step(s)]",
    "[s for s in range(1001) if SaveConfigMode(end_step=0).should_save_step(s)]",
    "SaveConfig()",
    "SaveConfig(save_interval=2, save_steps=[3]).to_json()",
    "SaveConfig({ModeKeys.TRAIN: SaveConfigMode(2)})",
    "SaveConfig({ModeKeys.TRAIN: SaveConfigMode(2)}).to_json_dict()",
    "SaveConfig({'TRAIN': SaveConfigMode()})",
    "SaveConfig({ModeKeys.TRAIN: 3})",
    "SaveConfig({ModeKeys.TRAIN: SaveConfigMode()}).get_save_config(ModeKeys.EVAL)",
    "SaveConfig().get_save_config('TRAIN')",
    "SaveConfig().set_save_config(ModeKeys.TRAIN, 3)",
    "SaveConfig.from_dict(None)",
    "SaveConfig.from_dict({})",
    "SaveConfig.from_dict({'TRAIN': {'save_interval': 2}}, {'start_step': 1})",
    "SaveConfig.from_dict({'TRAIN': 3})",
    "SaveConfig.from_json(SaveConfig().to_json()) == SaveConfig()",
    "SaveConfig.parse(None)",
    "SaveConfig.parse(SaveConfigMode(3))",
    "SaveConfig.parse({ModeKeys.TRAIN: SaveConfigMode(3)})",
    "SaveConfig.parse(3)",
    "ReductionConfig(['min'], ['max'], ['l1'], ['l2'], True, True)",
    "ReductionConfig(['min'], ['max'], ['l1'], ['l2'], True, True).to_json()",
    "vars(ReductionConfig(['min', 'min']))",
    "ReductionConfig(['l1'])",
    "ReductionConfig(norms=['l1_norm'])",
    "ReductionConfig(save_raw_tensor='true')",
    "ReductionConfig.from_dict({'reductions': ' min, abs_max,,l1_norm,abs_l2_norm'})",
    "ReductionConfig.from_dict({'save_raw_tensor': True, 'other': 1})",
    "ReductionConfig.from_dict({'reductions': 'min_norm'})",
    "ReductionConfig.from_dict(3)",
    "Collection('c', ['a'], ['t', 's'], ReductionConfig(), SaveConfig(), False)",
    "str(Collection('c', ['a'], ['t', 's'], ReductionConfig(), SaveConfig(), False))",
    "Collection('c', ['a'], ['t', 's'], ReductionConfig(), SaveConfig(), False).to_json()",
    "Collection('c') == Collection('c'), Collection('c') == Collection('c', ['a'])",
    "hash(Collection('c')) == hash('c')",
    "Collection('c', reduction_config=3)",
    "Collection('c', save_config=3)",
    "Collection('c').include(3)",
    "Collection.from_dict(None)",
    "hash(SaveConfig())",
    "hash(ReductionConfig())",
    "CollectionManager(create_default=True)",
    "CollectionManager().to_json_dict()",
    "CollectionManager().get('c', create=False)",
    "CollectionManager({'c': Collection('c')})",
    'CollectionManager.load_from_string(\'{"collections": {}, "other": 1}\')',
    'CollectionManager.load_from_string(\'{"collections": {"c": {"name": "c"}}, "_meta": {}}\')',
    "str_to_mode_keys('train')",
    "flatten([1, [2, (3, [4])], 'ab'])",
    "split('a, b ,c')",
    "[is_s3(p) for p in ('s3://b/k', 's3://b', '/a', ' s3://b/k')]",
    "get_path_to_collections('/run'), get_path_to_events_directory('/run')",
    "get_relative_event_file_path('/run/events/01/x.tfevents')",
    "[step_in_range(r, 3) for r in ((1, 3), (None, 4), (3, None))]",
    "index([1, 3], 2)",
    "parse_worker_name_from_file('/run/000000000001_worker_0.json')",
    "parse_worker_name_from_file('/run/000000000001_worker_0.json.tmp')",
    "get_worker_name_from_collection_file('/r/collections/000000000/w_1_collections.json')",
    "deserialize_tf_device(serialize_tf_device('/job:worker/device:GPU:0'))",
    "[make_numpy_array(x).tolist() for x in (3, 2.5, True, 'a', [1, 2])]",
    "make_numpy_array(None)",
    "size_and_shape('abc')",
    "validate_custom_tensor_value(None, make_numpy_array)",
    "get_reduction_tensor_name('a/b:0', 'l1', True)",
    "reverse_reduction_tensor_name('smdebug/reductions/abs_l1/a/b')",
    "verify_and_get_out_dir(None)",
    "[get_tensorboard_dir(e, d, '/o') for e in (False, True) for d in (None, '/t')]",
    "[parse_list_from_str(a) for a in ('a, b', None, '', ['a'])]",
    "[parse_bool(a, True) for a in (None, True, 'True', 'true', 'False', 'false')]",
    "parse_bool('TRUE', True)",
    "parse_save_config_dict({'save_interval': '3', 'train.save_steps': '1, 2'}, ModeKeys.TRAIN)",
    "parse_save_config_modes_dict({'save_interval': '3', 'train.save_interval': '4'})",
    "sorted(collect_hook_config_params({}).items(), key=str)",
    "sorted(collect_hook_config_params({'HookParameters': {'save_all': 'true', "
    "'include_regex': 'a,b', 'reductions': 'min', 'save_interval': '3'}}).items(), key=str)",
    "get_include_collections({'CollectionConfigurations': [{'CollectionName': 'c'}]})",
    "get_include_collections({'CollectionConfigurations': [{}]})",
    "get_json_config_as_dict('/no/such/file.json')",
    *(
        f"(lambda e: (str(e), vars(e)))({error})"
        for error in (
            "StepNotYetAvailable(3, ModeKeys.TRAIN)",
            "StepUnavailable(3, ModeKeys.TRAIN)",
            "TensorUnavailable('t')",
            "InvalidWorker('w')",
            "MissingCollectionFiles()",
            "IndexReaderException('m')",
            "RuleEvaluationConditionMet('r', 3)",
            "InsufficientInformationForRuleInvocation('r', 'm')",
        )
    ),
    # The texts of these are our own.
    *(
        f"sorted(name for name in vars({error}))"
        for error in (
            "InvalidCollectionConfiguration('c')",
            "TensorUnavailableForStep('t', 3)",
            "ShapeUnavailableForStep('t', 3)",
            "NoMoreData(3, ModeKeys.TRAIN, 2)",
            "NoMoreProfilerData(5)",
        )
    ),
]

# Where both refuse, or one of them: ours refuses early, as a ValueError.
REFUSED_HERE = [
    "SaveConfigMode(save_interval=0)",
    "SaveConfigMode(save_interval='x')",
    "SaveConfigMode(save_interval=2.5)",
    "SaveConfigMode(start_step=9, end_step=8)",
    "SaveConfigMode(save_steps=[-1])",
    "SaveConfig.from_dict({'train': {}})",
    "Collection('')",
]


@pytest.fixture(scope="module")
def all_modules() -> list[str]:
    return modules_of(sys.executable, "smdebug")


@pytest.fixture(scope="module")
def modules(all_modules: list[str]) -> list[str]:
    """What is compared here: all but what needs a framework."""
    elsewhere = [name for name in all_modules for f in FRAMEWORKS if belongs_to(name, f)]
    return [name for name in all_modules if not is_absent(name) and name not in elsewhere]


@pytest.fixture(scope="module")
def theirs(modules: list[str]) -> dict[str, Any]:
    return ask(sys.executable, modules, SAME + REFUSED_HERE)


@pytest.fixture(scope="module")
def our_python() -> str:
    python = os.environ.get("SMDEBUG_PYTHON")
    if python is None:
        pytest.skip("SMDEBUG_PYTHON names no Python that has our package")
    return python


@pytest.fixture(scope="module")
def ours(our_python: str, modules: list[str]) -> dict[str, Any]:
    return ask(our_python, modules, SAME + REFUSED_HERE)


def test_every_module_is_there_or_is_known_to_be_absent(
    all_modules: list[str], our_python: str
) -> None:
    here = modules_of(our_python, "smdebug")
    assert [m for m in all_modules if m not in here and not is_absent(m)] == []
    assert [m for m in all_modules if m in here and is_absent(m)] == []
    known = {pattern for pattern in ABSENT for m in all_modules if fnmatch(m, pattern)}
    assert known == set(ABSENT)


def test_absent_modules_are_documented() -> None:
    assert undocumented(pattern.removesuffix("*") for pattern in ABSENT) == []


def test_every_name_is_there_and_is_called_as_before(
    theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    check_names(theirs, ours, MISSING, CHANGED)


def test_what_modules_pass_on_can_be_imported_from_them(
    theirs: dict[str, Any], our_python: str
) -> None:
    check_passed_on(theirs, our_python)


@pytest.mark.parametrize("expression", SAME)
def test_both_answer_the_same(
    expression: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    answer, expected = ours["expressions"][expression], theirs["expressions"][expression]
    # Whoever catches what smdebug 1.0 raises catches ours.
    if expected.startswith("raises ") and answer.startswith("raises "):
        assert set(expected.split()) <= set(answer.split())
    else:
        assert answer == expected


@pytest.mark.parametrize("expression", REFUSED_HERE)
def test_ours_refuses_early(expression: str, ours: dict[str, Any]) -> None:
    assert ours["expressions"][expression].startswith("raises SMDebugValueError SMDebugError Value")
