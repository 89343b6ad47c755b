"""Fixtures of the tests that train with XGBoost."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from support.scripts import WarmPython

pytest.importorskip("xgboost")


@pytest.fixture(scope="session")
def python() -> Iterator[WarmPython]:
    """Runs scripts."""
    with WarmPython("xgboost") as python:
        yield python


@pytest.fixture
def framework() -> ModuleType:
    import smdebug.xgboost

    return smdebug.xgboost
