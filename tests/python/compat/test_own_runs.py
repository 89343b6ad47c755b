"""Kinds of runs of ours that both readers must agree on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compat.document import read_with_1_0
from compat.own_runs import check_own_run, number_of
from support import model
from support.config import MODES, Form, HookSpec, Schedule
from support.driver import Driver, RunReader
from support.scenario import Action, BeginStep, EndStep, Save, SaveScalar, Scenario, SetMode

EVERY_STEP = dict.fromkeys(MODES, Schedule(save_interval=1))


@pytest.fixture
def spec(tmp_path: Path) -> HookSpec:
    return HookSpec(str(tmp_path / "run"), save_all=True, schedules=EVERY_STEP)


def check(driver: Driver, reader: RunReader, folder: Path, scenario: Scenario) -> None:
    driver.play(scenario, folder)
    check_own_run(reader, Path(scenario.hooks[0].out_dir), model.play(scenario))


def test_large_tensors_have_padding_that_1_0_skips(
    driver: Driver, reader: RunReader, tmp_path: Path, spec: HookSpec
) -> None:
    actions: list[Action] = [BeginStep()]
    for size in (4095, 4096, 4097, 20_003):
        # Names of all lengths, so that contents begin at all places.
        for letters in range(1, 9):
            value = np.arange(size).astype(np.uint8)
            actions.append(Save("x" * letters + str(size), value))
        for dtype in ("float16", "float32", "float64", "complex128", "bool"):
            actions.append(Save(f"{dtype}/{size}", (np.arange(size) % 999).astype(dtype)))
    check(driver, reader, tmp_path, Scenario([spec], actions))


@pytest.mark.parametrize("form", [None, Form(("mean", "abs_l2", "median"), save_shape=True)])
def test_several_workers_agree(
    driver: Driver, reader: RunReader, tmp_path: Path, spec: HookSpec, form: Form | None
) -> None:
    shared = replace(spec, include_workers="all", workers=3, form=form)
    actions: list[Action] = []
    for step in range(6):
        for rank in range(3):
            actions += [
                SetMode("EVAL" if step % 3 == 2 else "TRAIN", hook=rank),
                BeginStep(hook=rank),
                Save("x", np.array([[step, rank]], np.float32), hook=rank),
                SaveScalar("lr", step + rank / 10, hook=rank),
            ]
    scenario = Scenario([replace(shared, rank=rank) for rank in range(3)], actions)
    check(driver, reader, tmp_path, scenario)


def test_scalars_are_at_their_own_steps_for_ours_and_at_those_with_files_for_1_0(
    driver: Driver, reader: RunReader, tmp_path: Path, spec: HookSpec
) -> None:
    hook = replace(spec, schedules=dict.fromkeys(MODES, Schedule(save_interval=3)))
    actions: list[Action] = []
    for step in range(8):
        actions += [BeginStep(), Save("loss", np.array(0.5)), SaveScalar("lr", float(step))]
        actions += [EndStep(), SaveScalar("late", 10.0 * step)]
    check(driver, reader, tmp_path, Scenario([hook], actions))
    ours, theirs = (read(Path(hook.out_dir))["tensors"] for read in (reader.read, read_with_1_0))
    assert ours["scalar/lr"]["steps"]["GLOBAL"]["complete"] == list(range(8))
    assert theirs["scalar/lr"]["steps"]["GLOBAL"]["complete"] == [0, 3, 6, 7]
    shown = ours["scalar/late"]["at"]["GLOBAL"]
    assert {int(s): number_of(by["worker_0"]["value"]) for s, by in shown.items()} == {
        step: 10.0 * step for step in range(8)
    }
