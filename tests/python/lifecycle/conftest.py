"""Scripts that train with a hook, run as a user runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from support.scripts import TORCH, RunScript, Script, StartScript, WarmPython

pytest.importorskip("torch")

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


@pytest.fixture(scope="session")
def python() -> Iterator[WarmPython]:
    with WarmPython(*TORCH) as python:
        yield python


@pytest.fixture
def start_script(tmp_path: Path, run_dir: Path, python: WarmPython) -> StartScript:
    """Starts a script with the run's folder as its argument."""

    def start(text: str) -> Script:
        path = tmp_path / "script.py"
        path.write_text(HEAD + text)
        return python.start([str(path), str(run_dir)], tmp_path)

    return start


@pytest.fixture
def run_script(start_script: StartScript) -> RunScript:
    """Runs a script to its end."""

    def run(text: str) -> CompletedProcess[str]:
        return start_script(text).finish()

    return run
