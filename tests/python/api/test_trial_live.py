"""Trials of runs that are still being written."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from smdebug.analysis.utils import no_refresh
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import StepState
from smdebug.exceptions import NoMoreData, StepNotYetAvailable, StepUnavailable
from smdebug.trials import create_trial
from support.native_run import NativeRun
from support.waiting import LIMIT, wait_until


def test_a_trial_can_be_opened_before_the_run(tmp_path: Path) -> None:
    def write() -> None:
        with NativeRun(tmp_path / "run") as run:
            run.save_step({"x": [1.0]})

    writer = threading.Thread(target=write)
    writer.start()
    trial = create_trial(tmp_path / "run")
    trial.wait_for_steps([0])
    writer.join()
    assert trial.tensor("x").value(0) == [1.0]


def test_steps_are_waited_for_while_they_are_written(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": [0]})
        trial = create_trial(tmp_path / "run")

        def write() -> None:
            for step in range(1, 20):
                run.save_step({"x": [step]})

        writer = threading.Thread(target=write)
        writer.start()
        for step in range(20):
            trial.wait_for_steps([step])
            assert trial.tensor("x").value(step)[0] == step
        writer.join()
        assert trial.has_passed_step(20) is StepState.NOT_YET_AVAILABLE
        with pytest.raises(StepNotYetAvailable) as caught:
            trial.tensor("x").value(20)
        assert (caught.value.step, caught.value.mode) == (20, ModeKeys.GLOBAL)
        assert not trial.loaded_all_steps
    assert trial.steps() == list(range(20))
    assert trial.loaded_all_steps


def test_waiting_ends_where_nothing_can_come(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        for step in (0, 4, 8):
            run.save_step({"x": [step]}, ModeKeys.TRAIN, number=step)
    trial = create_trial(tmp_path / "run")
    trial.wait_for_steps([0, 4])
    with pytest.raises(StepUnavailable) as skipped:
        trial.wait_for_steps([0, 5])
    assert skipped.value.step == 5
    with pytest.raises(NoMoreData) as ended:
        trial.wait_for_steps(range(8, 10))
    assert (ended.value.step, ended.value.mode, ended.value.last_step) == (9, ModeKeys.GLOBAL, 8)
    with pytest.raises(NoMoreData) as none:
        trial.wait_for_steps([0], mode=ModeKeys.EVAL)
    assert (none.value.mode, none.value.last_step) == (ModeKeys.EVAL, -1)


def test_without_refresh_nothing_moves(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": [0]})
        trial = create_trial(tmp_path / "run")
        other = create_trial(tmp_path / "run")
        trial.wait_for_steps([0])
        with no_refresh(trial):
            run.save_step({"x": [1]})
            other.wait_for_steps([1])
            assert trial.steps() == [0]
            trial.refresh_data()
            assert trial.steps() == [0, 1]
            run.save_step({"x": [2]})
            # Who waits looks, all the same.
            trial.wait_for_steps([2])
        assert trial.dynamic_refresh


def test_a_step_is_complete_when_all_workers_wrote_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with NativeRun(folder, "worker_0", 2) as one, NativeRun(folder, "worker_1", 2) as two:
        one.save_step({"x": [1]})
        two.save_step({"x": [2]})
        trial = create_trial(folder)
        trial.wait_for_steps([0])
        one.save_step({"x": [3]})
        seen = create_trial(folder)
        wait_until(lambda: seen.steps(show_incomplete_steps=True) == [0, 1])
        assert seen.steps() == [0]
        assert seen.last_complete_step == 0
        assert seen.workers() == ["worker_0", "worker_1"]
        tensor = seen.tensor("x")
        assert tensor.steps() == [0]
        assert tensor.steps(show_incomplete_steps=True) == [0, 1]
        assert tensor.value(0, worker="worker_1") == [2]
        assert tensor.workers(1) == ["worker_0"]


def test_threads_share_a_trial(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": np.zeros(1000)})
        trial = create_trial(tmp_path / "run")
        failures: list[BaseException] = []

        def read() -> None:
            try:
                for step in range(30):
                    trial.wait_for_steps([step])
                    assert trial.tensor("x").value(step)[-1] == step
            except BaseException as error:
                failures.append(error)

        readers = [threading.Thread(target=read, daemon=True) for _ in range(4)]
        for reader in readers:
            reader.start()
        for step in range(1, 30):
            run.save_step({"x": np.full(1000, float(step))})
        for reader in readers:
            reader.join(LIMIT)
            assert not reader.is_alive()
    assert failures == []
