"""TensorBoard itself shows the scalars and histograms of our export."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.config import MODES, CollectionSpec, Form, HookSpec, Schedule
from support.driver import Driver
from support.scenario import (
    Action,
    Array,
    BeginStep,
    Save,
    SaveScalar,
    Scenario,
    SetMode,
)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

EVERYTHING = {"scalars": 0, "histograms": 0, "tensors": 0}  # No sampling.
RNG = np.random.default_rng(20)

TENSORS: dict[str, Array] = {
    "normal": RNG.standard_normal(1000).astype(np.float32),
    "many_magnitudes": 10.0 ** RNG.uniform(-15, 15, 500) * RNG.choice([-1, 1], 500),
    "zeros": np.zeros(7, np.float32),
    "one_value": np.array(5.0),
    "negative": np.array([-3.0]),
    "integers": np.arange(-10, 11, dtype=np.int64),
    "half": RNG.standard_normal(300).astype(np.float16),
    "transposed": RNG.standard_normal((5, 7)).T,
}


@pytest.fixture
def spec(tmp_path: Path) -> HookSpec:
    every_step = dict.fromkeys(MODES, Schedule(save_interval=1))
    run = str(tmp_path / "run")
    return HookSpec(run, save_all=True, schedules=every_step, export_tensorboard=True)


def load(spec: HookSpec, mode: str = "GLOBAL") -> Any:  # noqa: ANN401 - TensorBoard has no types.
    accumulator = EventAccumulator(str(files_dir(spec) / mode), size_guidance=EVERYTHING)
    accumulator.Reload()
    return accumulator


def files_dir(spec: HookSpec) -> Path:
    return Path(spec.out_dir) / "tensorboard"


def files(spec: HookSpec) -> list[Path]:
    return sorted(path for path in files_dir(spec).rglob("*") if path.is_file())


def play(driver: Driver, folder: Path, spec: HookSpec, actions: list[Action]) -> None:
    driver.play(Scenario([spec], actions), folder)


def test_scalars_keep_their_steps_and_every_value(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    values = [0.5, math.nan, math.inf, -math.inf, -0.0, 1e-30]
    actions: list[Action] = []
    for value in values:
        actions += [BeginStep(), SaveScalar("lr", value)]
    play(driver, tmp_path, spec, actions)

    shown = load(spec).Scalars("scalar/lr")
    assert [event.step for event in shown] == list(range(len(values)))
    np.testing.assert_array_equal([e.value for e in shown], np.array(values, np.float32))


def test_a_loss_is_a_scalar(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    actions: list[Action] = []
    for step in range(4):
        actions += [BeginStep(), Save("loss", np.array([1 / (step + 1)], np.float32))]
    play(driver, tmp_path, replace(spec, save_all=False), actions)

    tags = load(spec).Tags()
    assert tags["scalars"] == ["loss"]
    assert tags["histograms"] == []
    shown = load(spec).Scalars("loss")
    np.testing.assert_array_equal(
        [e.value for e in shown], np.array([1, 1 / 2, 1 / 3, 1 / 4], np.float32)
    )


def test_timestamps_are_kept(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    play(driver, tmp_path, spec, [BeginStep(), SaveScalar("lr", 1.0, timestamp=1234.5)])
    assert load(spec).Scalars("scalar/lr")[0].wall_time == 1234.5


@pytest.mark.parametrize("name", TENSORS)
def test_histograms_count_what_numpy_counts(
    driver: Driver, tmp_path: Path, spec: HookSpec, name: str
) -> None:
    value = TENSORS[name]
    play(driver, tmp_path, spec, [BeginStep(), Save(name, value)])

    ((shown,)) = load(spec).Histograms(f"all/{name}")
    assert shown.step == 0
    check_histogram(shown.histogram_value, value.astype(np.float64).ravel())


def check_histogram(shown: Any, values: Array) -> None:  # noqa: ANN401
    limits = np.array(shown.bucket_limit)
    counts = np.array(shown.bucket)
    assert np.all(np.diff(limits) > 0)
    # The first bucket is empty and its limit begins the second.
    assert counts[0] == 0
    # NumPy closes its last bucket on the right; ours are all half open.
    expected, _ = np.histogram(values, bins=np.append(limits, np.inf))
    np.testing.assert_array_equal(counts[1:], expected[:-1])
    assert counts.sum() == shown.num == values.size
    assert shown.min == values.min()
    assert shown.max == values.max()
    np.testing.assert_allclose(shown.sum, values.sum(), rtol=1e-12, atol=1e-12 * abs(values).sum())
    np.testing.assert_allclose(shown.sum_squares, np.square(values).sum(), rtol=1e-12)


def test_histograms_leave_out_what_is_not_finite(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    value = np.array([1.0, np.nan, -2.0, np.inf, -np.inf, 0.0])
    play(driver, tmp_path, spec, [BeginStep(), Save("x", value)])
    ((shown,)) = load(spec).Histograms("all/x")
    check_histogram(shown.histogram_value, value[np.isfinite(value)])


def test_a_histogram_is_tagged_with_its_collection(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    silent = CollectionSpec("silent", ("^quiet",), save_histogram=False)
    hook = replace(
        spec,
        save_all=False,
        include_collections=("weights", "silent"),
        collections=(silent,),
        form=Form(("mean",)),
    )
    values = np.arange(4.0)
    actions: list[Action] = [BeginStep(), Save("fc.weight:0", values), Save("quiet", values)]
    play(driver, tmp_path, hook, actions)
    assert load(hook).Tags()["histograms"] == ["weights/fc.weight_0"]


def test_each_mode_has_one_file_however_many_steps(
    driver: Driver, tmp_path: Path, spec: HookSpec
) -> None:
    actions: list[Action] = []
    for mode in ("TRAIN", "EVAL", "TRAIN"):
        actions.append(SetMode(mode))
        for _ in range(20):
            actions += [BeginStep(), Save("x", np.arange(3.0)), SaveScalar("lr", 0.1)]
    play(driver, tmp_path, spec, actions)

    assert [path.parent.name for path in files(spec)] == ["EVAL", "TRAIN"]
    assert [e.step for e in load(spec, "EVAL").Scalars("scalar/lr")] == list(range(20, 40))
    assert len(load(spec, "TRAIN").Histograms("all/x")) == 40


def test_no_export_unless_asked_for(driver: Driver, tmp_path: Path, spec: HookSpec) -> None:
    hook = replace(spec, export_tensorboard=False)
    play(driver, tmp_path, hook, [BeginStep(), Save("x", np.arange(3.0))])
    assert not files_dir(hook).exists()
