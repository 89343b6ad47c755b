"""Both packages, each in its own environment with the same XGBoost 1.7."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest
from compat_xgboost.plans import PLANS

JOB = Path(__file__).with_name("job.py")

Both = Callable[[str], "tuple[Any, Any]"]


def run(python: str, *arguments: str, given: str = "") -> str:
    environment = {**os.environ, "SMDEBUG_LOG_LEVEL": "error"}
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    command = [python, str(JOB), *arguments]
    done = subprocess.run(
        command, env=environment, input=given, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tell(python: str, folder: Path) -> dict[str, Any]:
    (line,) = [x for x in run(python, "tell", str(folder)).splitlines() if x.startswith("told:")]
    told: dict[str, Any] = json.loads(line[5:])
    return told


@pytest.fixture(scope="session")
def reference() -> str:
    """The Python that has smdebug 1.0."""
    python = os.environ.get("SMDEBUG_REFERENCE_XGBOOST")
    if python is None:
        pytest.skip("SMDEBUG_REFERENCE_XGBOOST names no Python that has smdebug 1.0 and XGBoost")
    return python


@pytest.fixture(scope="session")
def both(reference: str, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """What smdebug 1.0 reads in its own run of a plan, and in ours."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("theirs", "ours")}
    for python, folder in zip((reference, sys.executable), folders.values()):
        run(python, "train", str(folder), given=json.dumps(PLANS))
    theirs, ours = (tell(reference, folder) for folder in folders.values())
    # Our reader finds the same in both as that of smdebug 1.0.
    for folder, told in zip(folders.values(), (theirs, ours)):
        own = tell(sys.executable, folder)
        assert {name: set(run["tensors"]) for name, run in own.items()} == {
            name: set(run["tensors"]) for name, run in told.items()
        }
    return lambda plan: (theirs[plan], ours[plan])
