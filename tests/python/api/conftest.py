"""What the tests of the package share."""

from __future__ import annotations

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
