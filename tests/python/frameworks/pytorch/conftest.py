"""Fixtures of the tests that train with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from support.scripts import TORCH, WarmPython

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # The networks are tiny, and other tests run beside these.


@pytest.fixture(scope="session")
def python() -> Iterator[WarmPython]:
    """Runs scripts."""
    with WarmPython(*TORCH) as python:
        yield python


@pytest.fixture
def framework() -> ModuleType:
    import smdebug.pytorch

    return smdebug.pytorch
