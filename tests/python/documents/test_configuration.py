"""What the public documents show of configurations, which need no framework."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import smdebug as smd
from smdebug.exceptions import SMDebugError

EXAMPLES: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [0, 500, 1000]),
    ({"save_interval": 1}, list(range(1001))),
    ({"save_interval": 100, "end_step": 200}, [0, 100]),
    ({"save_interval": 100, "end_step": 201}, [0, 100, 200]),
    ({"save_interval": 100, "start_step": 150}, list(range(200, 1001, 100))),
    ({"save_steps": [3, 7]}, [0, 3, 7, 500, 1000]),
]


def saved_steps(schedule: smd.SaveConfig, mode: smd.modes = smd.modes.GLOBAL) -> list[int]:
    return [step for step in range(1001) if schedule.should_save_step(mode, step)]


def test_001_line_203_modes() -> None:
    modes = (smd.modes.TRAIN, smd.modes.EVAL, smd.modes.PREDICT, smd.modes.GLOBAL)
    assert list(smd.modes) == list(modes)
    for framework in ("pytorch", "xgboost"):
        package = {"pytorch": "torch"}.get(framework, framework)
        if importlib.util.find_spec(package) is not None:
            module = importlib.import_module(f"smdebug.{framework}")
            assert module.modes is smd.modes
            assert module.SaveConfig is smd.SaveConfig


def check_all_parameters_of_a_schedule() -> None:
    save_config = smd.SaveConfig(
        mode_save_configs=None,
        save_interval=100,
        start_step=0,
        end_step=None,
        save_steps=None,
    )
    for mode in smd.modes:
        assert saved_steps(save_config, mode) == list(range(0, 1001, 100))


def test_001_line_349_all_parameters_of_a_schedule() -> None:
    check_all_parameters_of_a_schedule()


def test_004_line_9_all_parameters_of_a_schedule() -> None:
    check_all_parameters_of_a_schedule()


@pytest.mark.parametrize(("arguments", "steps"), EXAMPLES)
def test_001_line_368_examples_of_schedules(arguments: dict[str, Any], steps: list[int]) -> None:
    assert saved_steps(smd.SaveConfig(**arguments)) == steps


@pytest.mark.parametrize(("arguments", "steps"), EXAMPLES)
def test_004_line_32_examples_of_schedules(arguments: dict[str, Any], steps: list[int]) -> None:
    assert saved_steps(smd.SaveConfig.from_save_config_mode(smd.SaveConfigMode(**arguments))) == (
        steps
    )


@pytest.mark.parametrize("steps", [[3, 7], (3, 7), {3, 7}, range(3, 8, 4)])
def test_004_line_32_steps_in_a_list_or_the_like(steps: Any) -> None:  # noqa: ANN401
    assert smd.SaveConfigMode(save_steps=steps, end_step=0).save_steps == [3, 7]


@pytest.mark.parametrize("steps", ["3,7", 5, {3: 7}, [3.5], ["3"], [True], b"37"])
def test_004_line_32_other_steps_are_refused_by_name(steps: Any) -> None:  # noqa: ANN401
    with pytest.raises(SMDebugError, match="save_steps: "):
        smd.SaveConfig(save_steps=steps)


def check_schedules_by_mode() -> None:
    schedule = smd.SaveConfig(
        mode_save_configs={
            smd.modes.TRAIN: smd.SaveConfigMode(save_interval=1),
            smd.modes.EVAL: smd.SaveConfigMode(save_interval=2),
            smd.modes.PREDICT: smd.SaveConfigMode(save_interval=3),
            smd.modes.GLOBAL: smd.SaveConfigMode(save_interval=4),
        }
    )
    for interval, mode in enumerate(smd.modes, 1):
        assert saved_steps(schedule, mode) == list(range(0, 1001, interval))


def test_001_line_378_schedules_by_mode() -> None:
    check_schedules_by_mode()


def test_001_line_378_what_a_mode_leaves_open_is_the_default() -> None:
    schedule = smd.SaveConfig({smd.modes.EVAL: smd.SaveConfigMode(start_step=501)})
    assert saved_steps(schedule, smd.modes.EVAL) == [1000]
    schedule.merge_default_save_config(smd.SaveConfig())
    assert saved_steps(schedule, smd.modes.TRAIN) == [0, 500, 1000]


def test_004_line_48_schedules_by_mode() -> None:
    check_schedules_by_mode()


def check_all_parameters_of_reductions() -> None:
    reduction_config = smd.ReductionConfig(
        reductions=None,
        abs_reductions=None,
        norms=None,
        abs_norms=None,
        save_raw_tensor=False,
    )
    assert reduction_config == smd.ReductionConfig()
    lists = ("reductions", "abs_reductions", "norms", "abs_norms")
    assert [getattr(reduction_config, name) for name in lists] == [[], [], [], []]


def test_001_line_412_all_parameters_of_reductions() -> None:
    check_all_parameters_of_reductions()


def test_004_line_67_all_parameters_of_reductions() -> None:
    check_all_parameters_of_reductions()


@pytest.mark.parametrize("key", ["reductions", "abs_reductions", "norms", "abs_norms"])
def test_004_line_67_names_in_a_list_or_the_like(key: str) -> None:
    first, second = ("l1", "l2") if "norms" in key else ("max", "min")
    for given in ([first, second], (first, second), {second, first}):
        config = smd.ReductionConfig(**{key: given})  # type: ignore[arg-type]
        assert getattr(config, key) == [first, second]
    assert getattr(smd.ReductionConfig(**{key: first}), key) == [first]  # type: ignore[arg-type]
    for wrong in (5, {"max": 1}, [5], b"max", "maxx", ["maxx"]):
        with pytest.raises(SMDebugError, match=f"{key} can only be one of"):
            smd.ReductionConfig(**{key: wrong})  # type: ignore[arg-type]
