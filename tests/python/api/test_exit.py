"""Programs that end while trials are in use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.native_run import NativeRun

PROGRAM = """
import sys, threading
from smdebug.trials import create_trial

trial = create_trial(sys.argv[1])
trial.wait_for_steps([0])
tensor = trial.tensor("x")
kept = [trial, tensor, tensor.value(0)]
kept.append(kept)
looks = 0
enough = threading.Event()

def look():
    global looks
    while True:
        trial.refresh_data()
        looks += 1
        if looks > 100:
            enough.set()

def wait():
    trial.wait_for_steps([7])

for _ in range(int(sys.argv[2])):
    threading.Thread(target=look, daemon=True).start()
    threading.Thread(target=wait, daemon=True).start()
    enough.wait()
"""


@pytest.mark.parametrize("daemons", [0, 1, 3])
def test_a_program_ends_in_silence(tmp_path: Path, daemons: int) -> None:
    with NativeRun(tmp_path / "run") as run:
        run.save_step({"x": [1.0]})
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "run"), str(daemons)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
