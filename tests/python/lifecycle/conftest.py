"""Scripts that train with a hook, run as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.scripts import RunScript, StartScript

pytest.importorskip("torch")

SUPPORT = Path(__file__).resolve().parent.parent

# What every script starts with.
HEAD = """
import os, sys
import torch
from torch import nn
import smdebug.pytorch as smd
torch.set_num_threads(1)
run = sys.argv[1]
def make_hook(**kwargs):
    kwargs.setdefault("save_config", smd.SaveConfig(save_interval=1))
    return smd.Hook(run, **kwargs)
"""


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def start_script(tmp_path: Path, run_dir: Path) -> StartScript:
    """Starts a script with the run's folder as its argument."""

    def start(text: str, **environment: str) -> subprocess.Popen[str]:
        path = tmp_path / "script.py"
        path.write_text(HEAD + text)
        return subprocess.Popen(
            [sys.executable, str(path), str(run_dir)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), *sys.path])}
            | environment,
        )

    return start


@pytest.fixture
def run_script(start_script: StartScript) -> RunScript:
    """Runs a script to its end."""

    def run(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with start_script(text, **environment) as process:
            output, _ = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, output)

    return run
