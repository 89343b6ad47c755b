"""Loads exported files with TensorBoard, out of its own environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.driver import Driver


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    with Driver() as running:
        yield running
