"""The interpreter of examples and of what the documents print."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.scripts import TORCH, WarmPython

pytest.importorskip("torch")


@pytest.fixture(scope="session")
def python() -> Iterator[WarmPython]:
    with WarmPython(*TORCH) as python:
        yield python
