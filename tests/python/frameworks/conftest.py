"""Fixtures: a framework's hook in a folder of its own, and the run that it leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import pytest
from smdebug.core.hook import BaseHook
from smdebug.trials import Trial

pytest.register_assert_rewrite("support.fail_open")


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def make_hook(framework: ModuleType, run_dir: Path) -> Iterator[Callable[..., BaseHook]]:
    """Hook(...) of the test's folder that saves at every step unless told otherwise.

    `framework` is the package that a folder of tests is about, such as smdebug.pytorch.
    """
    made: list[BaseHook] = []

    def make(**kwargs: Any) -> BaseHook:
        kwargs.setdefault("save_config", framework.SaveConfig(save_interval=1))
        made.append(framework.Hook(str(run_dir), **kwargs))
        return made[-1]

    yield make
    for hook in made:
        hook.close()
    framework.del_hook()


@pytest.fixture
def read_run(framework: ModuleType, run_dir: Path) -> Callable[[], Trial]:
    """The run of the test's folder, once its hook is closed."""

    def read() -> Trial:
        hook = framework.get_hook()
        if hook is not None:
            hook.close()
        trial: Trial = framework.create_trial(str(run_dir))
        trial.training_end_delay_refresh = 0.01
        return trial

    return read


@pytest.fixture
def environment() -> dict[str, str]:
    """Of a program that is compared with another: on one thread."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}
