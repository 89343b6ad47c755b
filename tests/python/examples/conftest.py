"""The environment of examples and of what the documents print."""

from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("torch")


@pytest.fixture
def environment() -> dict[str, str]:
    """One thread for each process, and the package that these tests import."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
