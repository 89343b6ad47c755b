"""How a run is opened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from smdebug.exceptions import (
    SMDebugNotImplementedError,
    SMDebugRuntimeError,
    SMDebugTypeError,
    SMDebugValueError,
)
from smdebug.trials import LocalTrial, S3Trial, create_trial
from support.native_run import make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "first", steps=1)


def test_the_name_is_the_last_part_of_the_path(run: Path) -> None:
    assert create_trial(f"  {run} ").name == "first"
    assert create_trial(f"{run}/").name == "first"
    assert create_trial(run, name="mine").name == "mine"
    assert isinstance(create_trial(run), LocalTrial)


def test_the_path_is_kept_as_it_was_given(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parent)
    monkeypatch.setenv("HOME", str(run.parent))
    assert create_trial("first").path == "first"
    assert create_trial("~/first").path == str(run)
    assert create_trial(f"file://{run}").steps() == [0]


def test_out_dir_is_another_word_for_the_path(run: Path) -> None:
    assert create_trial(out_dir=str(run)).steps() == [0]
    with pytest.raises(SMDebugTypeError):
        create_trial(run, out_dir=run)
    with pytest.raises(SMDebugTypeError):
        create_trial()


def test_all_arguments_of_1_0_are_taken(run: Path) -> None:
    trial = LocalTrial("n", str(run), None, False, True, True, True)
    assert trial.cache
    assert trial.tensor("loss").cache
    with pytest.raises(SMDebugNotImplementedError):
        create_trial(run, index_mode=False)


def test_what_is_not_there_yet_says_so(run: Path) -> None:
    with pytest.raises(SMDebugNotImplementedError, match="profiler"):
        create_trial(run, profiler=True)
    with pytest.raises(SMDebugValueError, match="s3://bucket/some/prefix/"):
        create_trial("s3://bucket/some/prefix")
    with pytest.raises(SMDebugValueError, match="s3://bucket/"):
        S3Trial("name", "bucket", "")


def test_an_option_of_the_environment_that_is_not_allowed(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW", "some")
    with pytest.raises(SMDebugValueError, match="SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW"):
        create_trial(run)


def test_a_file_is_no_run(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.touch()
    with pytest.raises(SMDebugRuntimeError, match=r"train\.py: is a file; give the folder"):
        create_trial(script)


WAITS = {
    "for a run": "create_trial(path + '/never')",
    "for a step": "create_trial(path + '/live').wait_for_steps([7])",
}


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends_a_wait(tmp_path: Path, wait: str) -> None:
    collections = tmp_path / "live/collections/000000000/worker_0_collections.json"
    collections.parent.mkdir(parents=True)
    collections.write_text('{"collections": {}, "_meta": {"num_workers": 1}}')
    # A job in the background of a shell is started with the signal ignored.
    program = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from smdebug.trials import create_trial
path = sys.argv[1]
try:
    print("ready", flush=True)
    {WAITS[wait]}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    # The log says what is waited for.
    assert out.splitlines()[-1:] == ["interrupted"]


def test_ctrl_c_while_the_log_is_written_ends_a_wait(tmp_path: Path) -> None:
    program = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from smdebug.core.logger import get_logger
from smdebug.trials import create_trial
get_logger().addFilter(lambda record: signal.raise_signal(signal.SIGINT))
try:
    create_trial(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""
    told = subprocess.check_output(
        [sys.executable, "-c", program, str(tmp_path / "never")],
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
    )
    assert told == "interrupted\n"
