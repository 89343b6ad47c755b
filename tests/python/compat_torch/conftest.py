"""The two packages, each in its own environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from compat_torch.package import Package


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """smdebug 1.0, by the Python that SMDEBUG_REFERENCE_TORCH names."""
    python = os.environ.get("SMDEBUG_REFERENCE_TORCH")
    if python is None:
        pytest.skip("SMDEBUG_REFERENCE_TORCH names no Python that has smdebug 1.0 and PyTorch")
    package = Package(python, tmp_path_factory.mktemp("reference") / "log")
    yield package
    package.close()


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """The package under test."""
    log = tmp_path_factory.mktemp("own") / "log"
    package = Package(sys.executable, log, os.environ.get("PYTHONPATH", ""))
    yield package
    package.close()
