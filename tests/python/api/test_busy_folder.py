"""Of two jobs that want one folder, the second learns it from the constructor of its hook.

The hooks are of no framework: each job is a process of its own, and starts sooner without one.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MAKE = """
import sys
from smdebug.core.hook import BaseHook
from smdebug.exceptions import SMDebugRuntimeError
try:
    hook = BaseHook(sys.argv[1], save_all=True)
except SMDebugRuntimeError as error:
    print("refused:", error, flush=True)
    sys.exit(3)
"""
STEP = """
hook.save_tensor("one", [1.0])
hook._begin_step()
"""
WAIT = """
import os
print("there", os.getpid(), flush=True)
sys.stdin.read()
"""


def _start(script: str, run: Path, **environment: str) -> subprocess.Popen[str]:
    """Starts a script from a shell of its own, as one job is started beside another."""
    return subprocess.Popen(
        ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", script, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


@contextmanager
def _there(script: str, run: Path, **environment: str) -> Iterator[int]:
    """A script that waits at its end; yields its process id."""
    process = _start(script + WAIT, run, **environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        while line and not line.startswith("there "):
            line = process.stdout.readline()
        yield int(line.split()[1])
    finally:
        process.communicate()


def _outcome(script: str, run: Path, **environment: str) -> tuple[int, str]:
    process = _start(script, run, **environment)
    output, _ = process.communicate()
    return process.returncode, output


@pytest.mark.parametrize("begun", ["", STEP], ids=["before its first step", "after its first step"])
def test_a_second_job_is_refused_at_once(begun: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with _there(MAKE + begun, run) as pid:
        code, output = _outcome(MAKE, run)
    assert (code, output.split(". ")[0]) == (
        3,
        f"refused: {run} is being written by process {pid} on {socket.gethostname()} (as worker_0)",
    )


def test_a_folder_is_free_when_the_first_job_is_gone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with _there(MAKE, run) as pid:
        os.kill(pid, signal.SIGKILL)
    assert _outcome(MAKE + "hook._abandon()", run) == (0, "")
    with _there(MAKE + "hook._abandon()", run):
        assert _outcome(MAKE + "hook._abandon()", run) == (0, "")


@pytest.mark.parametrize(
    "environment",
    [
        {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"},
        {"TORCHELASTIC_RUN_ID": "job-7"},
        {"SMDEBUG_JOB_ID": "mine"},
    ],
    ids=["torchrun", "a named torchrun", "a named job"],
)
def test_workers_of_one_job_get_in(environment: dict[str, str], tmp_path: Path) -> None:
    """Their hooks are made before the process group is, so that none knows its rank."""
    run = tmp_path / "run"
    with _there(MAKE, run, **environment):
        assert _outcome(MAKE + "hook._abandon()", run, **environment) == (0, "")


START_WORKER = """
import subprocess
worker = [sys.executable, "-c", os.environ["WORKER"], sys.argv[1]]
sys.exit(subprocess.run(worker).returncode)
"""


def test_a_process_that_a_job_starts_gets_in(tmp_path: Path) -> None:
    worker = MAKE + "hook._abandon()"
    script = MAKE + "import os\n" + START_WORKER
    assert _outcome(script, tmp_path / "run", WORKER=worker) == (0, "")


FORK_AND_START = """
import multiprocessing
def work():
    BaseHook(sys.argv[1], save_all=True)._abandon()
workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
hook._abandon()
sys.exit(sum(worker.exitcode for worker in workers))
"""


def test_forked_workers_get_in(tmp_path: Path) -> None:
    assert _outcome(MAKE + FORK_AND_START, tmp_path / "run") == (0, "")


FORK_AND_END = """
import os
child = os.fork()
if child == 0:
    sys.stdin.read()
    os._exit(0)
hook._abandon()
"""


def test_children_that_were_forked_do_not_keep_the_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with _there(MAKE + FORK_AND_END, run):
        assert _outcome(MAKE + "hook._abandon()", run) == (0, "")
