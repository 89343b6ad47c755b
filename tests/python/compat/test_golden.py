"""The golden runs hold what the scripts that made them say."""

from __future__ import annotations

import json
from pathlib import Path

import make_own_runs
import make_reference_runs
import pytest
from compat.own_runs import check_own_run
from support import model
from support.driver import Document, RunReader

FOLDER = Path(make_reference_runs.__file__).parent


def expected_of(name: str) -> Document:
    expected: Document = json.loads((FOLDER / name / "expected.json").read_text("utf-8"))
    return expected


@pytest.mark.parametrize("name", make_reference_runs.RUNS)
def test_smdebug_1_0_reads_its_golden_runs_as_expected(
    reader: RunReader, tmp_path: Path, name: str
) -> None:
    expected = expected_of(name)
    truth, stamps = make_reference_runs.RUNS[name](tmp_path)
    questions = make_reference_runs.golden_questions(truth, stamps)
    assert questions == expected["questions"]
    for folder in (FOLDER / name / "run", tmp_path):
        right = make_reference_runs.right_document(folder, truth, questions)
        assert right == expected["document"]
        assert reader.read(folder, questions) == expected["document"]


@pytest.mark.parametrize("name", make_own_runs.RUNS)
def test_smdebug_1_0_reads_our_golden_runs_as_the_model_says(reader: RunReader, name: str) -> None:
    folder = FOLDER / name / "run"
    check_own_run(reader, folder, model.play(make_own_runs.RUNS[name](folder)))
    assert reader.read(folder) == expected_of(name)["document"]
