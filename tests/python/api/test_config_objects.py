"""SaveConfig, ReductionConfig, and what all configuration objects have in common."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
import smdebug
from smdebug import CollectionKeys, ReductionConfig, SaveConfig, SaveConfigMode, _core, modes
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.modes import str_to_mode_keys
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError

SETTINGS: dict[str, Any] = {
    "framework": 1,
    "out_dir": "run",
    "export_tensorboard": False,
    "tensorboard_dir": "",
    "dry_run": False,
    "reduction_config": None,
    "save_config": None,
    "include_regex": [],
    "include_collections": [],
    "save_all": False,
    "include_workers": "one",
    "collections": [],
}


def saved(config: SaveConfig, last: int = 1001) -> list[int]:
    return [step for step in range(last) if config.should_save_step(modes.TRAIN, step)]


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        ({}, [0, 500, 1000]),
        ({"save_interval": 100, "end_step": 200}, [0, 100]),
        ({"save_interval": 100, "end_step": 201}, [0, 100, 200]),
        ({"save_interval": 400, "start_step": 150}, [400, 800]),
        ({"save_steps": [3, 7]}, [0, 3, 7, 500, 1000]),
        (
            {"save_interval": 5, "save_steps": [3, 100], "start_step": 4, "end_step": 10},
            [3, 5, 100],
        ),
        ({"end_step": 0}, []),
        ({"end_step": 0, "start_step": 9}, []),
        ({"save_interval": "500", "start_step": "1", "end_step": "501"}, [500]),
    ],
)
def test_documented_schedules(arguments: dict[str, Any], steps: list[int]) -> None:
    assert saved(SaveConfig(**arguments)) == steps


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("save_interval", 0, "a whole number of at least 1"),
        ("save_interval", -2, "a whole number of at least 1"),
        ("save_interval", "x", "a whole number of at least 1"),
        ("save_interval", 2.5, "a whole number of at least 1"),
        ("save_interval", True, "a whole number of at least 1"),
        ("save_interval", [1], "a whole number of at least 1"),
        ("save_interval", float("nan"), "a whole number of at least 1"),
        ("save_interval", float("inf"), "a whole number of at least 1"),
        ("start_step", -1, "a whole number of at least 0"),
        ("end_step", -1, "a whole number of at least 0"),
        ("end_step", "soon", "a whole number of at least 0"),
        ("save_steps", {1: 2}, "a list of whole numbers"),
        ("save_steps", "1,2", "a list of whole numbers"),
        ("save_steps", [1, "2"], "a list of whole numbers"),
        ("save_steps", 3, "a list of whole numbers"),
    ],
)
def test_a_schedule_refuses_a_value_with_its_key_and_what_is_allowed(
    key: str, value: object, allowed: str
) -> None:
    arguments: dict[str, Any] = {key: value}
    for make in (SaveConfig, SaveConfigMode):
        with pytest.raises(SMDebugValueError) as refused:
            make(**arguments)
        assert str(refused.value) == f"{key}: '{value}' is not allowed; expected {allowed}"


def test_a_schedule_refuses_a_start_after_its_end() -> None:
    with pytest.raises(SMDebugValueError, match=r"start_step: '9' .* at most end_step, which is 8"):
        SaveConfigMode(start_step=9, end_step=8)
    assert SaveConfigMode(start_step=8, end_step=8).start_step == 8


@pytest.mark.parametrize(
    "stored",
    [
        {"save_interval": 0},
        {"save_interval": -2},
        {"start_step": -1},
        {"end_step": -1},
        {"save_steps": [-1]},
        {"start_step": 9, "end_step": 8},
    ],
)
def test_what_a_schedule_refuses_the_core_refuses_too(stored: dict[str, Any]) -> None:
    with pytest.raises(SMDebugValueError):
        SaveConfigMode(**stored)
    read = SaveConfig.from_dict({"TRAIN": stored})  # As a run of smdebug 1.0 may hold it.
    with pytest.raises(SMDebugValueError, match="train"):
        _core.check_hook_config({**SETTINGS, "save_config": read.to_json()})


def test_whole_numbers_of_numpy_are_numbers() -> None:
    config = SaveConfigMode(np.int64(3), save_steps=[np.int32(4)])  # type: ignore[arg-type, list-item]
    assert json.dumps(config.to_json_dict())
    assert config == SaveConfigMode(3, save_steps=[4])
    assert SaveConfigMode(100.0).save_interval == 100  # type: ignore[arg-type]


def test_the_steps_of_a_schedule_may_come_from_any_iterable() -> None:
    assert SaveConfig(save_steps=np.array([3, 1])).save_steps == [3, 1]
    config = SaveConfig(save_steps=(step * step for step in range(1, 4)))
    assert config.save_steps == [1, 4, 9]
    config.save_steps = iter([2])
    assert config.get_save_config(modes.PREDICT) == SaveConfigMode(save_steps=iter([2]))
    with pytest.raises(SMDebugValueError, match=r"save_steps: .* a list of whole numbers"):
        SaveConfig(save_steps=(letter for letter in "ab"))  # type: ignore[misc]


def test_schedules_share_no_list_and_change_no_argument() -> None:
    first, second = SaveConfigMode(), SaveConfigMode()
    first.save_steps.append(3)
    assert second.save_steps == []
    steps, by_mode = [1], {modes.TRAIN: SaveConfigMode(2)}
    SaveConfigMode(save_steps=steps).save_steps.append(2)
    SaveConfig(by_mode)  # type: ignore[arg-type]
    assert steps == [1]
    assert list(by_mode) == [modes.TRAIN]


def test_schedules_by_mode() -> None:
    config = SaveConfig({modes.TRAIN: SaveConfigMode(2), modes.EVAL: None})
    assert config.get_save_config(modes.TRAIN) == SaveConfigMode(2)
    for mode in (modes.EVAL, modes.GLOBAL):
        with pytest.raises(SMDebugValueError, match="not ready"):
            config.should_save_step(mode, 0)
    config.merge_default_save_config(SaveConfig({modes.EVAL: SaveConfigMode(7)}))
    assert config.get_save_config(modes.EVAL).save_interval == 7
    assert config.get_save_config(modes.GLOBAL) == SaveConfigMode()
    config.set_save_config(modes.EVAL, SaveConfigMode(9))
    assert config.should_save_step(modes.EVAL, 9)


@pytest.mark.parametrize(
    "by_mode", [{"TRAIN": SaveConfigMode()}, {modes.TRAIN: 3}, {modes.TRAIN: {}}, 3, [], "TRAIN"]
)
def test_schedules_by_mode_refuse_other_keys_and_values(by_mode: object) -> None:
    with pytest.raises(SMDebugValueError, match="mode_save_configs"):
        SaveConfig(by_mode)  # type: ignore[arg-type]


def test_set_save_config_refuses_what_is_no_schedule_or_mode() -> None:
    with pytest.raises(SMDebugValueError):
        SaveConfig().set_save_config(modes.TRAIN, 3)  # type: ignore[arg-type]
    with pytest.raises(SMDebugValueError):
        SaveConfig().set_save_config("TRAIN", SaveConfigMode())  # type: ignore[arg-type]


def test_a_parameter_of_all_modes_is_set_at_once() -> None:
    collection = Collection("metrics", save_config=SaveConfig(save_interval=2))
    assert collection.save_config is not None
    collection.save_config.end_step = 0
    assert saved(collection.save_config) == []
    assert collection.save_config.save_interval == 2
    with pytest.raises(SMDebugValueError, match="save_interval"):
        collection.save_config.save_interval = 0
    collection.save_config.set_save_config(modes.EVAL, SaveConfigMode(3))
    with pytest.raises(AttributeError, match="differs from mode to mode"):
        _ = collection.save_config.save_interval


def test_save_config_json_is_as_in_1_0() -> None:
    config = SaveConfig({modes.TRAIN: SaveConfigMode(2, 1, 9, [4])})
    assert config.to_json() == (
        '{"TRAIN": {"save_interval": 2, "save_steps": [4], "start_step": 1, "end_step": 9}, '
        '"EVAL": null, "PREDICT": null, "GLOBAL": null}'
    )
    assert SaveConfig.from_json(config.to_json()) == config
    assert SaveConfig.from_json("null") is None


def test_save_config_from_dict() -> None:
    by_name = SaveConfig.from_dict({"TRAIN": {"save_interval": "2"}}, {"start_step": 4})
    assert by_name == SaveConfig({modes.TRAIN: SaveConfigMode(2, 4)})
    assert SaveConfig.from_dict({modes.TRAIN: SaveConfigMode(2, 4)}) == by_name
    assert SaveConfig.from_dict({"save_interval": 3}) == SaveConfig(save_interval=3)
    refused: list[Any] = [3, {"train": {}}, {"TRAIN": 3}, {"TRAIN": {"save_interval": "x"}}]
    for wrong in refused:
        with pytest.raises(SMDebugValueError):
            SaveConfig.from_dict(wrong)


def test_parse_takes_whatever_may_stand_for_a_save_config() -> None:
    config = SaveConfig(save_interval=3)
    assert SaveConfig.parse(None) == SaveConfig()
    assert SaveConfig.parse(config) is config
    assert SaveConfig.parse(SaveConfigMode(3)) == config
    assert SaveConfig.parse(dict.fromkeys(modes, SaveConfigMode(3))) == config
    with pytest.raises(SMDebugTypeError):
        SaveConfig.parse(3)


def test_every_documented_name_of_a_reduction_is_allowed() -> None:
    names = ["min", "max", "median", "mean", "std", "variance", "sum", "prod"]
    config = ReductionConfig(names, names, ["l1", "l2"], ["l1", "l2"], True, True)
    assert ReductionConfig.from_json(config.to_json()) == config
    spelt = ",".join([*names, "l1", "l2", *(f"abs_{name}" for name in [*names, "l1", "l2"])])
    assert ReductionConfig.from_dict(
        {"reductions": spelt, "save_raw_tensor": "True", "save_shape": "true"}
    ) == ReductionConfig(names, names, ["l1", "l2"], ["l1", "l2"], True, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reductions": ["l1"]}, "reductions can only be one of min,max,.*, not 'l1'"),
        ({"abs_reductions": ["x"]}, "abs_reductions can only be one of"),
        ({"norms": ["l1_norm"]}, "norms can only be one of l1,l2, not 'l1_norm'"),
        ({"abs_norms": [3]}, "abs_norms can only be one of l1,l2"),
        ({"save_raw_tensor": "true"}, "save_raw_tensor: 'true' .* boolean"),
        ({"save_shape": 1}, "save_shape: '1' .* boolean"),
    ],
)
def test_a_reduction_config_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SMDebugValueError, match=message):
        ReductionConfig(**arguments)


def test_reduction_config_from_dict() -> None:
    assert ReductionConfig.from_dict(None) is None
    assert ReductionConfig.from_dict({}) == ReductionConfig()
    assert ReductionConfig.from_dict(
        {"reductions": " min, abs_max,,l1_norm,abs_l2_norm"}
    ) == ReductionConfig(["min"], ["max"], ["l1"], ["l2"])
    assert ReductionConfig.from_dict({"reductions": ["min"]}) == ReductionConfig(["min"])
    refused: list[Any] = [3, {"reductions": "min_norm"}, {"reductions": 3}, {"save_shape": "si"}]
    for wrong in refused:
        with pytest.raises(SMDebugValueError):
            ReductionConfig.from_dict(wrong)


def test_reduction_config_json_is_as_in_1_0() -> None:
    config = ReductionConfig(["min"], ["max"], ["l1"], ["l2"], True, False)
    assert config.to_json() == (
        '{"save_raw_tensor": true, "reductions": "min,l1_norm,abs_max,abs_l2_norm", '
        '"save_shape": false}'
    )
    # What smdebug 1.0 does not know stands where it does not look.
    assert json.loads(ReductionConfig(["min", "median"]).to_json()) == {
        "save_raw_tensor": False,
        "reductions": "min",
        "save_shape": False,
        "more_reductions": "median",
    }


@pytest.mark.parametrize(
    "value",
    [
        SaveConfigMode(3, save_steps=[1]),
        SaveConfig(save_interval=3),
        ReductionConfig(["min"], save_shape=True),
        Collection("c", "x", ["t"], ReductionConfig(), SaveConfig()),
    ],
)
def test_configurations_are_copied_and_pickled(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


def test_configurations_that_change_have_no_hash() -> None:
    for value in (SaveConfigMode(), SaveConfig(), ReductionConfig(), CollectionManager()):
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)
        assert value != 3


def test_modes() -> None:
    assert [mode.value for mode in modes] == [1, 2, 3, 4]
    assert str_to_mode_keys("train") is modes.TRAIN
    assert str_to_mode_keys("GLOBAL") is modes.GLOBAL
    with pytest.raises(ValueError, match="one of TRAIN, EVAL, PREDICT, GLOBAL"):
        str_to_mode_keys("x")


def test_names_at_the_top() -> None:
    assert smdebug.modes is modes
    assert CollectionKeys.OPTIMIZER_VARIABLES == "optimizer_variables"
