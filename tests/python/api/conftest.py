"""What the tests of the package share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

JOB_VARIABLES = (
    "TRAINING_JOB_NAME",
    "SMDEBUG_CONFIG_FILE_PATH",
    "TENSORBOARD_CONFIG_FILE_PATH",
    "SAGEMAKER_ENV_RULE_STOP_SIGNAL_FILE",
    "rule_stop_grace_time_secs",
)


@pytest.fixture(autouse=True)
def _outside_sagemaker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in JOB_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(tmp_path / "run")


@pytest.fixture
def no_torch_hook() -> Iterator[None]:
    """No hook of PyTorch is there before the test, nor after it."""
    import smdebug.pytorch as smd
    import torch

    torch.set_num_threads(1)
    smd.del_hook()
    yield
    smd.del_hook()
