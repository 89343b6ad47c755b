"""The guide's Python runs, and so do the examples."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from examples.test_docs import script_of
from smdebug.trials import create_trial
from support.scripts import run_python

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples/xgboost"


@pytest.fixture
def environment() -> dict[str, str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}


def test_the_python_of_the_guide_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    script = tmp_path / "blocks.py"
    script.write_text(script_of(ROOT / "docs/frameworks/xgboost.md"), encoding="utf-8")
    done = run_python([str(script)], environment, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "steps", "tensor", "printed"),
    [
        ("classifier.py", 21, "validation-mlogloss", "smdebug plot"),
        ("goes_wrong.py", 60, "validation-rmse", "Overfit at step"),
    ],
)
def test_examples(
    name: str, steps: int, tensor: str, printed: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    run = tmp_path / "run"
    command = [str(EXAMPLES / name), "--out-dir", str(run), "--steps", str(steps)]
    done = run_python(command, environment, tmp_path)
    assert done.returncode == 0, done.stdout
    assert printed in done.stdout
    assert create_trial(str(run)).has_tensor(tensor)


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text()
    assert all(f'"{path.name}"' in text for path in EXAMPLES.glob("*.py"))
