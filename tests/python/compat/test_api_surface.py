"""What smdebug 1.0 offers by name is offered here, with the same calls and answers.

Each package runs in its own environment: smdebug 1.0 in the one of this suite,
ours in the one that SMDEBUG_PYTHON names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MODULES = [
    "smdebug",
    "smdebug.exceptions",
    "smdebug.analysis.utils",
    "smdebug.core.access_layer",
    "smdebug.core.access_layer.utils",
    "smdebug.core.collection",
    "smdebug.core.collection_manager",
    "smdebug.core.config_constants",
    "smdebug.core.hook_utils",
    "smdebug.core.json_config",
    "smdebug.core.logger",
    "smdebug.core.modes",
    "smdebug.core.reduction_config",
    "smdebug.core.reductions",
    "smdebug.core.sagemaker_utils",
    "smdebug.core.save_config",
    "smdebug.core.utils",
]

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
    # Files and S3 are the core's.
    "smdebug.core.access_layer.utils.delete_s3_prefixes",
    "smdebug.core.utils.get_region",
    # Read from the environment when it is asked for, not at import.
    "smdebug.core.access_layer.utils.RULESTOP_GRACETIME_SECONDS",
    "smdebug.core.access_layer.utils.RULE_JOB_STOP_SIGNAL_FILENAME",
}

# What we have otherwise, and why.
CHANGED = {
    # `median` is documented and now works.
    "smdebug.core.reduction_config.ALLOWED_REDUCTIONS",
    "smdebug.core.reductions.ALLOWED_REDUCTIONS",
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


def ask(python: str) -> dict[str, Any]:
    question = {"modules": MODULES, "expressions": SAME + REFUSED_HERE}
    environment = {k: v for k, v in os.environ.items() if k != "TRAINING_JOB_NAME"}
    done = subprocess.run(
        [python, str(Path(__file__).parent / "api_surface.py")],
        input=json.dumps(question),
        env={**environment, "SMDEBUG_LOG_LEVEL": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return ask(sys.executable)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    python = os.environ.get("SMDEBUG_PYTHON")
    if python is None:
        pytest.skip("SMDEBUG_PYTHON names no Python that has our package")
    return ask(python)


def differences(name: str, theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """How what is called `name` differs, for those who use it as before."""
    if "call" in theirs:
        return call_differences(name, theirs["call"], ours.get("call"))
    if theirs["kind"] == "class" and ours["kind"] == "class":
        found = []
        for member, described in theirs.items():
            if member == "bases":
                if [b for b in described if b not in ours["bases"]]:
                    found.append(f"{name} is no longer below {described}: {ours['bases']}")
            elif member == "hashable":
                if described != ours["hashable"]:
                    found.append(f"{name} was {'' if described else 'not '}hashable")
            elif isinstance(described, dict):
                if member in ours:
                    found += differences(f"{name}.{member}", described, ours[member])
                else:
                    found.append(f"{name}.{member} is missing")
        return found
    shown = {key: value for key, value in theirs.items() if key != "home"}
    return [
        f"{name}: {key} was {value}, is {ours.get(key)}"
        for key, value in shown.items()
        if value != ours.get(key)
    ]


def call_differences(name: str, theirs: Any, ours: Any) -> list[str]:  # noqa: ANN401
    """Every call that was possible must be; parameters with defaults may be added."""
    if theirs is None or ours is None:
        return []
    added = ours[len(theirs) :]
    if ours[: len(theirs)] != theirs or any(default == "" for _, _, default in added):
        return [f"{name}: was called with {theirs}, is with {ours}"]
    return []


def is_own(module: str, name: str, described: dict[str, Any], constants: set[str]) -> bool:
    """Whether 1.0 defines it in this module rather than importing it there."""
    if described["home"] is not None:
        return bool(described["home"] == module) or module == "smdebug"
    return module == "smdebug.core.config_constants" or name not in constants


def test_every_name_is_there_and_is_called_as_before(
    theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    constants = set(theirs["modules"]["smdebug.core.config_constants"])
    found: list[str] = []
    missing: set[str] = set()
    changed: set[str] = set()
    for module, names in theirs["modules"].items():
        for name, described in names.items():
            full = f"{module}.{name}"
            if not is_own(module, name, described, constants):
                continue
            if name not in ours["modules"][module]:
                missing.add(full)
                continue
            differs = differences(full, described, ours["modules"][module][name])
            if differs and full in CHANGED:
                changed.add(full)
            else:
                found += differs
    assert found == []
    assert missing == MISSING
    assert changed == CHANGED


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
