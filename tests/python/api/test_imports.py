"""What importing the package costs, and the types that it ships."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("torch", "tensorflow", "mxnet", "xgboost", "pandas", "boto3", "matplotlib")
MODULES = ("smdebug", "smdebug.core.json_config", "smdebug.trials", "smdebug.rules")


@pytest.mark.parametrize("module", MODULES)
def test_importing_loads_no_framework(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_committed_types_of_the_extension_are_current(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "--quiet", "--module", "smdebug._core"]
    subprocess.run([*command, "--output-file", str(fresh)], check=True)
    committed = ROOT / "python/smdebug/_core.pyi"
    assert fresh.read_text() == committed.read_text(), "run tools/gen-stubs"
