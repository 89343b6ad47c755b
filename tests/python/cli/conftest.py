"""Runs the `smdebug` program on runs of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ["SMDEBUG_LOG_LEVEL"] = "off"
os.environ.pop("TRAINING_JOB_NAME", None)

import hypothesis  # noqa: F401 - pytest's plugin would import it too late, after smdebug.
from support.driver import Driver


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    with Driver() as running:
        yield running
