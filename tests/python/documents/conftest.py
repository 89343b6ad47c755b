"""What the tests of the public documents share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

JOB_VARIABLES = (
    "TRAINING_JOB_NAME",
    "SMDEBUG_CONFIG_FILE_PATH",
    "TENSORBOARD_CONFIG_FILE_PATH",
    "USE_SMDEBUG",
    "SMDEBUG_STRICT",
)

# A hook configuration as the SageMaker SDK writes it for a job: the path of the file.
Configure = Callable[..., str]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Outside of SageMaker, and without a hook of an earlier test."""
    from smdebug.core.singleton_utils import del_hook

    for name in JOB_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    del_hook()
    yield
    del_hook()


@pytest.fixture
def out_dir(tmp_path: Path) -> str:
    return str(tmp_path / "mnist_job")


@pytest.fixture
def configure(tmp_path: Path, out_dir: str) -> Configure:
    def write(**document: Any) -> str:  # noqa: ANN401 - as JSON is.
        path = tmp_path / "debughookconfig.json"
        path.write_text(json.dumps({"LocalPath": out_dir, **document}))
        return str(path)

    return write
