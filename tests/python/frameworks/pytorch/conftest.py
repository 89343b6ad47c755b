"""Fixtures: a hook in a folder of its own, and the run that it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug.trials import Trial  # noqa: E402
from support.torch_hooks import EVERY_STEP, MakeHook, ReadRun  # noqa: E402


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # The networks are tiny, and other tests run beside these.


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def make_hook(run_dir: Path) -> Iterator[MakeHook]:
    """Hook(...) of the test's folder that saves at every step unless told otherwise."""
    made: list[smd.Hook] = []

    def make(**kwargs: Any) -> smd.Hook:
        kwargs.setdefault("save_config", EVERY_STEP)
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
