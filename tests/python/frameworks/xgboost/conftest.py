"""Fixtures of the tests that train with XGBoost."""

from __future__ import annotations

from types import ModuleType

import pytest

pytest.importorskip("xgboost")


@pytest.fixture
def framework() -> ModuleType:
    import smdebug.xgboost

    return smdebug.xgboost
