"""Kinds of runs of smdebug 1.0 that are too particular to be drawn at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compat.agreement import check_agreement
from compat.document import read_with_1_0
from compat.faults import NOT_HERE
from compat.questions import questions_of
from compat.reference_run import (
    ReferenceRun,
    StepFile,
    Write,
    WriteReduction,
    WriteValue,
    write_run,
)
from smdebug.core.writer import FileWriter
from support.config import CollectionSpec
from support.driver import Document, Questions, RunReader
from support.model import Stamp

ONE = ["worker_0"]
THREE = ["worker_0", "worker_1", "worker_2"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def at(step: int) -> Stamp:
    return Stamp(step, "GLOBAL", step)


def steps_of(worker: str, steps: range) -> list[StepFile]:
    return [StepFile(at(step), worker, [WriteValue("x", X + step)]) for step in steps]


def agree(
    reader: RunReader, folder: Path, run: ReferenceRun, questions: Questions | None = None
) -> Document:
    """Writes `run`, checks that both read the same, and returns it."""
    write_run(run, folder)
    truth = run.truth(folder)
    asked = questions_of(truth, list(dict.fromkeys(file.stamp for file in run.files)))
    return check_agreement(reader, folder, truth, {**asked, **(questions or {})})[0]


@pytest.mark.parametrize("window", [2, 4, 5, 10, 30])
def test_steps_that_a_dead_worker_never_writes_are_given_up_alike(
    reader: RunReader, tmp_path: Path, window: int
) -> None:
    files = [file for worker in THREE for file in steps_of(worker, range(3))]
    run = ReferenceRun(THREE, files + steps_of("worker_2", range(3, 33)), ended=False)
    ours = agree(reader, tmp_path, run, {"window": window})
    assert 32 - window <= ours["last_complete_step"] <= 32 - window // 2
    assert ours["steps"]["GLOBAL"]["all"] == list(range(33))


@pytest.mark.parametrize(
    "begin_and_end", [(2, None), (None, 3), (1, 4), (0, 1), (3, 1000), (50, 60)]
)
@pytest.mark.parametrize("ended", [True, False])
def test_a_range_of_steps_is_read_alike(
    reader: RunReader, tmp_path: Path, begin_and_end: tuple[int | None, int | None], ended: bool
) -> None:
    files = [file for worker in THREE[:2] for file in steps_of(worker, range(5))]
    run = ReferenceRun(THREE[:2], files + steps_of("worker_0", range(998, 1002)), ended=ended)
    sides = zip(("begin_step", "end_step"), begin_and_end)
    agree(reader, tmp_path, run, {side: step for side, step in sides if step is not None})


@pytest.mark.parametrize("later_file", [True, False])
def test_a_missing_event_file_is_a_missing_tensor(
    reader: RunReader, tmp_path: Path, later_file: bool
) -> None:
    run = ReferenceRun(ONE, steps_of("worker_0", range(2)), ended=not later_file)
    write_run(run, tmp_path)
    lost = 0 if later_file else 1
    (file,) = tmp_path.glob(f"events/{lost:012}/*.tfevents")
    file.unlink()
    ours, theirs = reader.read(tmp_path), read_with_1_0(tmp_path)
    for document in (ours, theirs):
        steps = document["tensors"]["x"]["at"]["GLOBAL"]
        assert steps[str(lost)]["worker_0"]["value"] == NOT_HERE
        assert steps[str(1 - lost)]["worker_0"]["value"]["dtype"] == "float32"
    assert [where for where, _, _ in ours["damage"]] == [str(file.relative_to(tmp_path))]


@pytest.mark.parametrize("present", [[], ONE])
def test_a_job_that_ended_without_its_collections_does_not_open(
    reader: RunReader, tmp_path: Path, present: list[str]
) -> None:
    write_run(ReferenceRun(THREE, steps_of("worker_0", range(1))), tmp_path)
    for worker in set(THREE) - set(present):
        (tmp_path / f"collections/000000000/{worker}_collections.json").unlink()
    missing = {"error": "MissingCollectionFiles"}
    assert reader.read(tmp_path, {"wait_for_run": True}) == missing
    assert read_with_1_0(tmp_path) == missing


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_files_that_a_killed_job_left_half_written_are_ignored(
    reader: RunReader, tmp_path: Path
) -> None:
    writer = FileWriter(str(tmp_path), "worker_0", 2)
    writer.write_tensor(X, "x")
    writer.flush()
    assert list(tmp_path.rglob("*.tmp"))
    run = ReferenceRun(ONE, steps_of("worker_0", range(2)), ended=False)
    assert agree(reader, tmp_path, run)["steps"]["GLOBAL"]["all"] == [0, 1]
    writer.close()


def test_inputs_labels_and_predictions_are_found_alike(reader: RunReader, tmp_path: Path) -> None:
    names = ["in_10", "in_2", "in_0", "labels_0", "x/labels_1", "predictions", "other"]
    writes = [WriteValue(name, np.array([float(n)])) for n, name in enumerate(names)]
    files = [StepFile(at(0), "worker_0", list(writes))]
    run = ReferenceRun(ONE, files, {"worker_0": [CollectionSpec("inputs", ("^in_",))]})
    asked = [[what, "GLOBAL", 0] for what in ("inputs", "labels", "predictions")]
    ours = agree(reader, tmp_path, run, {"model": asked})
    assert [len(values) for values in ours["answers"]["model"]] == [3, 2, 1]


def test_the_last_of_several_values_of_one_name_counts(reader: RunReader, tmp_path: Path) -> None:
    twice: list[Write] = [
        *(WriteValue("x", X + more) for more in range(3)),
        *(WriteReduction("x", "mean", np.array(mean)) for mean in (1.0, 2.0)),
    ]
    agree(reader, tmp_path, ReferenceRun(ONE, [StepFile(at(0), "worker_0", twice)]))


def test_a_regex_and_a_collection_at_once_are_refused(reader: RunReader, tmp_path: Path) -> None:
    run = ReferenceRun(ONE, steps_of("worker_0", range(1)))
    write_run(run, tmp_path)
    both = {"names": [{"regex": ["x"], "collection": "weights"}]}
    assert reader.read(tmp_path, both)["answers"]["names"] == [{"error": "ConfigError"}]
    assert read_with_1_0(tmp_path, both)["answers"]["names"] == [{"error": "ValueError"}]
