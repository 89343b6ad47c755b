"""Trials, tensors and exceptions in other processes."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smdebug import exceptions
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import Tensor
from smdebug.trials import Trial, create_trial
from support.native_run import NativeRun, make_run
from support.waiting import LIMIT


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return create_trial(make_run(tmp_path / "run"), name="mine", range_steps=(1, None))


def through_pickle(thing: object) -> Any:  # noqa: ANN401
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
def test_a_copy_opens_the_run_anew(trial: Trial, copied: Callable[[Trial], Trial]) -> None:
    trial.dynamic_refresh = False
    trial.training_end_delay_refresh = 0.5
    trial.note = "kept"  # type: ignore[attr-defined]
    other = copied(trial)
    assert other == trial
    assert type(other) is type(trial)
    assert other.steps() == [1, 2, 3, 4]
    assert not other.dynamic_refresh
    assert other.training_end_delay_refresh == 0.5
    assert other.note == "kept"  # type: ignore[attr-defined]
    other.dynamic_refresh = True
    assert not trial.dynamic_refresh


def test_a_pickled_tensor_opens_its_trial_anew(trial: Trial) -> None:
    trial.steps()
    tensor = through_pickle(trial.tensor("fc.weight"))
    assert isinstance(tensor, Tensor)
    assert tensor.trial == trial
    np.testing.assert_array_equal(tensor.value(3), trial.tensor("fc.weight").value(3))


def test_values_can_be_pickled(trial: Trial) -> None:
    value = trial.tensor("fc.weight").value(2)
    np.testing.assert_array_equal(through_pickle(value), value)


def test_a_relative_path_is_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    text = pickle.dumps(create_trial("run"))
    monkeypatch.chdir("/")
    assert pickle.loads(text).steps() == [0, 1, 2, 3, 4]


def last_loss(trial: Trial) -> float:
    return float(trial.tensor("loss").value(trial.steps()[-1]))


def weight_at(tensor: Tensor) -> float:
    return float(tensor.value(2)[1, 2])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read(trial: Trial, method: str) -> None:
    trial.steps()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(last_loss, [trial] * 4) == [0.2] * 4
        assert pool.map(weight_at, [trial.tensor("fc.weight")] * 2) == [10.0] * 2


def exit_code_of_child(check: Callable[[], bool]) -> int:
    """Forks; the child leaves without a word to pytest, or is killed if it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(int(LIMIT))
        code = 1
        try:
            code = 0 if check() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_reads_on_while_threads_of_the_parent_read(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": [0.0]})
        trial = create_trial(tmp_path / "run")
        trial.wait_for_steps([0])
        tensor = trial.tensor("x")
        done = threading.Event()

        def hold_the_locks() -> None:
            while not done.is_set():
                trial.refresh_data()

        def read_in_child() -> bool:
            return (
                trial.steps()[0] == 0
                and tensor.value(0)[0] == 0
                and trial.tensor_names() == ["x"]
                and not trial.loaded_all_steps
            )

        readers = [threading.Thread(target=hold_the_locks) for _ in range(3)]
        for reader in readers:
            reader.start()
        codes = [exit_code_of_child(read_in_child) for _ in range(20)]
        done.set()
        for reader in readers:
            reader.join()
        assert codes == [0] * 20
        run.save_step({"x": [1.0]})
        trial.wait_for_steps([1])
        assert tensor.value(1)[0] == 1


def test_a_forked_child_sees_new_steps(tmp_path: Path) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": [0.0]})
        trial = create_trial(tmp_path / "run")
        trial.wait_for_steps([0])
        there, go = os.pipe()

        def wait_for_more() -> bool:
            os.read(there, 1)
            trial.wait_for_steps([1])
            return bool(trial.tensor("x").value(1)[0] == 1)

        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if wait_for_more() else 2
            finally:
                os._exit(code)
        run.save_step({"x": [1.0]})
        os.write(go, b".")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.close(there)
        os.close(go)


ERRORS = [
    exceptions.StepNotYetAvailable(3, ModeKeys.TRAIN),
    exceptions.StepUnavailable(3, ModeKeys.EVAL),
    exceptions.TensorUnavailableForStep("x", 3, ModeKeys.GLOBAL, True),
    exceptions.ShapeUnavailableForStep("x", 3),
    exceptions.TensorUnavailable("x"),
    exceptions.InvalidWorker("w"),
    exceptions.NoMoreData(3, ModeKeys.GLOBAL, 2),
    exceptions.NoMoreProfilerData(17),
    exceptions.MissingCollectionFiles(),
    exceptions.IndexReaderException("torn"),
    exceptions.RuleEvaluationConditionMet("R", 3, True),
    exceptions.InsufficientInformationForRuleInvocation("R", "why"),
    exceptions.InvalidCollectionConfiguration("c"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_exceptions_keep_their_fields(error: exceptions.SMDebugError) -> None:
    other = through_pickle(error)
    assert type(other) is type(error)
    assert vars(other) == vars(error)
    assert str(other) == str(error)
    assert str(error)
