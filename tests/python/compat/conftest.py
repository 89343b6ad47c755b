"""Runs of either, opened by both, out of the environment of smdebug 1.0."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# Before smdebug is imported: no waiting for a job that has ended, no log.
os.environ["SMDEBUG_TRAINING_END_DELAY_REFRESH"] = "0"
os.environ["SMDEBUG_LOG_LEVEL"] = "off"
os.environ.pop("TRAINING_JOB_NAME", None)

from hypothesis import HealthCheck, settings
from support.driver import Driver, RunReader

# The same cases in every run; SMDEBUG_EXAMPLES=<n> draws n new ones.
_asked = os.environ.get("SMDEBUG_EXAMPLES")
settings.register_profile(
    "compat",
    max_examples=int(_asked or 300),
    derandomize=_asked is None,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("compat")


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    with Driver() as running:
        yield running


@pytest.fixture(scope="session")
def reader() -> Iterator[RunReader]:
    with RunReader() as running:
        yield running
