"""Programs on the library of this Python's XGBoost, and on that of the system, built once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.driver import program

xgboost = pytest.importorskip("xgboost")

ROOT = Path(__file__).resolve().parents[4]
HEADER = Path("/usr/include/xgboost/c_api.h")


def build(name: str, *library: Path) -> Path:
    if not HEADER.exists():
        pytest.skip("XGBoost's C API has no header here; install libxgboost-dev")
    work = ROOT / "build" / name
    command = [ROOT / "tests/xgboost_cpp/run", program("smdebug").parents[1], work, *library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return work / "bin"


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the programs of tests/xgboost_cpp/project on this Python's library."""
    (library,) = Path(xgboost.__file__).parent.rglob("libxgboost.so")
    return build(f"xgboost-{xgboost.__version__}", library)


@pytest.fixture(scope="session")
def programs_of_system() -> Path:
    """The same on the library that came with the header."""
    return build("xgboost-of-system")
