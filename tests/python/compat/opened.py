"""Compares a run, as smdebug 1.0 opens it, with what the model says it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import TensorUnavailableForStep
from smdebug.trials import create_trial
from support.config import MODES, REDUCTIONS_OF_1_0, schedules_to_dict
from support.model import Run, SavedStep, SavedTensor
from support.plan import Planned
from support.scenario import Array

# smdebug 1.0 cannot decode the bytes of these; all else about them it can tell.
UNREADABLE = {"int16", "uint16", "uint32", "uint64", "complex64"}


def open_run(folder: Path) -> Any:  # noqa: ANN401 - smdebug 1.0 has no types.
    """The trial of a closed run. Checks first what 1.0 would wait for."""
    assert (folder / "training_job_end.ts").is_file()
    assert list(folder.glob("collections/000000000/*_collections.json"))
    return create_trial(str(folder))


def as_1_0_reads(value: Array) -> Array:
    """What 1.0 makes of the bytes of `value`: int8 comes back unsigned."""
    if value.dtype == np.int8:
        return np.array(value, order="C").view(np.uint8)
    return value


def check_run(trial: Any, run: Run, worker: str | None = None) -> None:  # noqa: ANN401
    """Everything that 1.0's reader tells about the run of one worker."""
    expected = names_of(run)
    assert set(trial.tensor_names()) == set(expected)
    check_steps(trial, run)
    for step in run.steps:
        for name, saved in step.tensors.items():
            check_tensor(trial.tensor(name), step, saved, worker)
        for name, value in step.scalars.items():
            if name not in step.tensors:
                shown = trial.tensor(name).value(step.stamp.step, worker=worker)
                assert shown.dtype == np.float64 and shown.shape == (1,)
                np.testing.assert_array_equal(shown, [value])
    for name, steps in expected.items():
        assert trial.tensor(name).steps() == steps, name


def names_of(run: Run) -> dict[str, list[int]]:
    """Tensor names and the steps that hold anything of them."""
    found: dict[str, list[int]] = {}
    for step in run.steps:
        for name in {**step.tensors, **step.scalars}:
            found.setdefault(name, []).append(step.stamp.step)
    return found


def check_steps(trial: Any, run: Run) -> None:  # noqa: ANN401
    stamps = [step.stamp for step in run.steps]
    assert trial.steps() == [stamp.step for stamp in stamps]
    for mode in MODES[:3]:
        in_mode = [stamp for stamp in stamps if stamp.mode == mode]
        assert trial.steps(ModeKeys[mode]) == [stamp.mode_step for stamp in in_mode]
        for stamp in in_mode:
            assert trial.global_step(ModeKeys[mode], stamp.mode_step) == stamp.step
    for stamp in stamps:
        assert trial.mode(stamp.step) == ModeKeys[stamp.mode]
        assert trial.mode_step(stamp.step) == stamp.mode_step


def check_tensor(
    tensor: Any,  # noqa: ANN401
    step: SavedStep,
    saved: SavedTensor,
    worker: str | None = None,
) -> None:
    number = step.stamp.step
    mode, mode_step = ModeKeys[step.stamp.mode], step.stamp.mode_step
    assert mode_step in tensor.steps(mode)
    if saved.raw and saved.value.dtype.name not in UNREADABLE:
        value = tensor.value(number, worker=worker)
        assert_same_bits(value, as_1_0_reads(saved.value))
        assert_same_bits(tensor.value(mode_step, mode, worker), value)
        assert tuple(tensor.shape(number, worker=worker)) == saved.value.shape
    elif not saved.raw:
        assert_no_value(tensor, number, worker)
    if saved.shape:
        assert tuple(tensor.shape(number, worker=worker)) == saved.value.shape
    shown = tensor.reduction_values(number, worker=worker)
    assert set(shown) == {split_reduction(name) for name in saved.reductions}
    for name, reduced in saved.reductions.items():
        op, is_abs = split_reduction(name)
        value = tensor.reduction_value(number, op, worker=worker, abs=is_abs)
        assert value.dtype == np.float64 and value.shape == ()
        assert reduced.matches(float(value)), (tensor.name, name, reduced, float(value))


def assert_no_value(tensor: Any, step: int, worker: str | None) -> None:  # noqa: ANN401
    try:
        tensor.value(step, worker=worker)
    except TensorUnavailableForStep:
        return
    raise AssertionError(f"{tensor.name} has a value at step {step}")


def assert_same_bits(got: Array, expected: Array) -> None:
    if expected.dtype == object:
        assert list(got) == list(expected)
        return
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


def split_reduction(name: str) -> tuple[str, bool]:
    return (name[len("abs_") :], True) if name.startswith("abs_") else (name, False)


def check_collections(trial: Any, run: Run) -> None:  # noqa: ANN401
    shown = trial.collections()
    # One that was made for a tensor which was never due has nothing to tell.
    certain = {n for n, planned in run.plan.items() if planned.configured or planned.listed_names}
    assert certain <= set(shown) <= set(run.plan)
    for name, collection in shown.items():
        check_collection(collection, run.plan[name])


def check_collection(shown: Any, planned: Planned) -> None:  # noqa: ANN401
    assert shown.include_regex == planned.include_regex
    assert shown.save_histogram == planned.save_histogram
    assert shown.save_config.to_json_dict() == schedules_to_dict(planned.schedules)
    assert planned.listed_names <= set(shown.tensor_names) <= planned.seen_names
    form = shown.reduction_config
    assert form.save_raw_tensor == planned.form.save_raw_tensor
    assert form.save_shape == planned.form.save_shape
    listed = {*form.reductions, *form.norms}
    listed |= {"abs_" + name for name in (*form.abs_reductions, *form.abs_norms)}
    # 1.0 refuses a collection that names a reduction it does not know.
    known = {n for n in planned.form.reductions if split_reduction(n)[0] in REDUCTIONS_OF_1_0}
    assert listed == known
