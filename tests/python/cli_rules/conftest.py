"""`smdebug check` and `smdebug watch` with rules in Python, as users call them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from cli_rules.samples import WriteRule
from support.native_run import make_run


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python and the package that these tests run with."""
    for name in list(os.environ):
        if name.startswith(("SMDEBUG_ACTION", "SMDEBUG_STOP")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SMDEBUG_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six steps, whose `loss` falls below 0.3 from step 3 on."""
    return make_run(tmp_path / "run", steps=6)


@pytest.fixture
def write_rule(tmp_path: Path) -> WriteRule:
    """Writes a file with rules; Rule is imported."""

    def write(text: str) -> Path:
        path = tmp_path / "own.py"
        path.write_text("from smdebug.rules import Rule\n\n" + text, encoding="utf-8")
        return path

    return write
