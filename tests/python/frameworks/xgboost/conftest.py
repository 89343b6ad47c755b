"""Fixtures: a hook in a folder of its own, and the run that it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xgboost")

import smdebug.xgboost as smd
from smdebug.trials import Trial
from support.xgboost_hooks import EVERY_ROUND, MakeHook, ReadRun


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def make_hook(run_dir: Path) -> Iterator[MakeHook]:
    """Hook(...) of the test's folder that saves at every round unless told otherwise."""
    made: list[smd.Hook] = []

    def make(**kwargs: Any) -> smd.Hook:
        kwargs.setdefault("save_config", EVERY_ROUND)
        made.append(smd.Hook(str(run_dir), **kwargs))
        return made[-1]

    yield make
    for hook in made:
        hook.close()
    smd.del_hook()


@pytest.fixture
def read_run(run_dir: Path) -> ReadRun:
    """The run of the test's folder, once its hook is closed."""

    def read() -> Trial:
        hook = smd.get_hook()
        if hook is not None:
            hook.close()
        trial = smd.create_trial(str(run_dir))
        trial.training_end_delay_refresh = 0.01
        return trial

    return read
