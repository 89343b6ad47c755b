"""The Python of the documents about XGBoost runs, and so do the examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from smdebug.trials import create_trial
from support.scripts import WarmPython
from support.snippets import ROOT, run_document

EXAMPLES = ROOT / "examples/xgboost"


@pytest.mark.parametrize("document", ["docs/frameworks/xgboost.md", "docs/reports.md"])
def test_the_python_of_a_document_runs(document: str, python: WarmPython, tmp_path: Path) -> None:
    run_document(document, python, tmp_path)


@pytest.mark.parametrize(
    ("name", "steps", "tensor", "printed"),
    [
        ("classifier.py", 21, "validation-mlogloss", "smdebug plot"),
        ("goes_wrong.py", 60, "validation-rmse", "Overfit at step"),
    ],
)
def test_examples(
    name: str, steps: int, tensor: str, printed: str, tmp_path: Path, python: WarmPython
) -> None:
    run = tmp_path / "run"
    command = [str(EXAMPLES / name), "--out-dir", str(run), "--steps", str(steps)]
    done = python.run(command, tmp_path)
    assert done.returncode == 0, done.stdout
    assert printed in done.stdout
    assert create_trial(str(run)).has_tensor(tensor)


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text()
    scripts = [path.name for path in EXAMPLES.glob("*.py")]
    assert scripts
    assert [name for name in scripts if f'"{name}"' not in text] == []
