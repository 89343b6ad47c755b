"""Where smdebug 1.0's reader is at fault, ours is not. One test per fault, which
fails if 1.0 does not have it; docs/compatibility.md lists them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compat.document import read_with_1_0, value_document
from compat.faults import KEY_ERROR, NOT_HERE
from compat.reference_run import (
    ReferenceRun,
    StepFile,
    Write,
    WriteReduction,
    WriteShape,
    WriteValue,
    write_run,
)
from support.config import CollectionSpec
from support.driver import Document, Questions, RunReader
from support.model import Stamp
from support.scenario import Array

ONE = ["worker_0"]
TWO = ["worker_0", "worker_1"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def at(step: int) -> Stamp:
    return Stamp(step, "GLOBAL", step)


def one_step(*writes: Write, write_checksum: bool = False) -> ReferenceRun:
    return ReferenceRun(ONE, [StepFile(at(0), "worker_0", list(writes), write_checksum)])


def read(
    reader: RunReader, folder: Path, run: ReferenceRun, questions: Questions | None = None
) -> tuple[Document, Document]:
    """What ours and what 1.0 says about `run`."""
    write_run(run, folder)
    return reader.read(folder, questions), read_with_1_0(folder, questions)


def entry(document: Document, name: str, step: int = 0, worker: str = "worker_0") -> Document:
    found: Document = document["tensors"][name]["at"]["GLOBAL"][str(step)][worker]
    return found


def test_int8_keeps_its_sign(reader: RunReader, tmp_path: Path) -> None:
    value = np.array([-1, 2], np.int8)
    ours, theirs = read(reader, tmp_path, one_step(WriteValue("x", value)))
    assert entry(theirs, "x")["value"]["dtype"] == "uint8"
    assert entry(ours, "x")["value"] == value_document(value)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint32", "uint64", "complex64"])
def test_every_type_that_1_0_writes_is_read(reader: RunReader, tmp_path: Path, dtype: str) -> None:
    value = np.array([1, 2], dtype)
    ours, theirs = read(reader, tmp_path, one_step(WriteValue("x", value)))
    assert entry(theirs, "x")["value"] == KEY_ERROR
    assert entry(ours, "x")["value"] == value_document(value)


@pytest.mark.parametrize("value", [np.zeros((0, 3), np.float32), np.zeros(0, np.int64)])
def test_a_value_without_elements_is_read(reader: RunReader, tmp_path: Path, value: Array) -> None:
    ours, theirs = read(reader, tmp_path, one_step(WriteValue("x", value)))
    assert "error" in entry(theirs, "x")["value"]
    assert entry(ours, "x")["value"] == value_document(value)
    assert entry(ours, "x")["shape"] == list(value.shape)


def test_a_shape_does_not_hide_the_value(reader: RunReader, tmp_path: Path) -> None:
    run = one_step(WriteShape("x", (2, 3), "X:0"), WriteValue("x", X))
    ours, theirs = read(reader, tmp_path, run)
    assert entry(theirs, "x")["value"] == NOT_HERE
    assert entry(ours, "x")["value"] == value_document(X)
    assert ours["tensors"]["x"]["original_name"] == "X:0"


def test_true_checksums_are_accepted(reader: RunReader, tmp_path: Path) -> None:
    ours, theirs = read(reader, tmp_path, one_step(WriteValue("x", X), write_checksum=True))
    assert "error" in entry(theirs, "x")["value"]
    assert entry(ours, "x")["value"] == value_document(X)


def test_norms_are_those_of_the_elements(reader: RunReader, tmp_path: Path) -> None:
    cube = np.ones((2, 2, 2), np.float32)
    run = one_step(WriteValue("matrix", X), WriteValue("cube", cube))
    ours, theirs = read(reader, tmp_path, run, {"computed": True})
    assert entry(theirs, "matrix")["computed"]["l1"] == 7  # The largest sum of a column.
    assert entry(ours, "matrix")["computed"]["l1"] == 15
    assert entry(theirs, "cube")["computed"]["l1"] == {"error": "ValueError"}
    assert entry(ours, "cube")["computed"]["l1"] == 8


def test_reductions_do_not_overflow_the_type_of_the_tensor(
    reader: RunReader, tmp_path: Path
) -> None:
    large = np.array([60000, 60000], np.float16)
    ours, theirs = read(reader, tmp_path, one_step(WriteValue("x", large)), {"computed": True})
    assert entry(theirs, "x")["computed"]["sum"] == "inf"
    assert entry(ours, "x")["computed"]["sum"] == 120000


def test_a_complex_reduction_is_its_magnitude(reader: RunReader, tmp_path: Path) -> None:
    mean = WriteReduction("z", "mean", np.array([3 + 4j]))
    ours, _ = read(reader, tmp_path, one_step(mean))
    assert entry(ours, "z")["reductions"] == {"mean": 5}


def partial_run(*, ended: bool) -> ReferenceRun:
    """Steps 10 and 11 are of TRAIN; only one of two workers wrote the second."""
    writes: list[Write] = [WriteValue("x", X)]
    first, second = Stamp(10, "TRAIN", 0), Stamp(11, "TRAIN", 1)
    files = [StepFile(first, worker, writes) for worker in TWO]
    return ReferenceRun(TWO, [*files, StepFile(second, "worker_1", writes)], ended=ended)


def test_an_incomplete_step_of_a_mode_is_hidden_in_tensors_too(
    reader: RunReader, tmp_path: Path
) -> None:
    ours, theirs = read(reader, tmp_path, partial_run(ended=False))
    assert ours["steps"]["TRAIN"] == theirs["steps"]["TRAIN"] == {"complete": [0], "all": [0, 1]}
    assert theirs["tensors"]["x"]["steps"]["TRAIN"]["complete"] == [0, 1]
    assert ours["tensors"]["x"]["steps"]["TRAIN"]["complete"] == [0]


def test_a_partial_step_of_a_mode_has_a_state(reader: RunReader, tmp_path: Path) -> None:
    questions = {"passed": [["TRAIN", 1]]}
    ours, theirs = read(reader, tmp_path, partial_run(ended=True), questions)
    assert theirs["answers"]["passed"][0]["state"] == KEY_ERROR
    assert ours["answers"]["passed"][0]["state"] == "AVAILABLE"


def test_there_are_no_tensors_where_there_is_no_step(reader: RunReader, tmp_path: Path) -> None:
    questions = {"names": [{"mode": "EVAL"}, {"mode": "TRAIN", "step": 7}]}
    ours, theirs = read(reader, tmp_path, partial_run(ended=True), questions)
    assert theirs["answers"]["names"] == [KEY_ERROR, KEY_ERROR]
    assert ours["answers"]["names"] == [[], []]


def test_who_saved_a_step_that_is_not_there_is_told_as_for_values(
    reader: RunReader, tmp_path: Path
) -> None:
    questions = {"lookups": [{"tensor": "x", "mode": "TRAIN", "step": 7}]}
    ours, theirs = read(reader, tmp_path, partial_run(ended=False), questions)
    assert theirs["answers"]["lookups"][0]["workers"] == NOT_HERE
    assert ours["answers"]["lookups"][0]["workers"] == {"error": "StepNotYetAvailable"}


def test_inputs_of_a_mode_are_those_of_its_step(reader: RunReader, tmp_path: Path) -> None:
    files = [
        StepFile(Stamp(0, "EVAL", 0), "worker_0", [WriteValue("in_0", X)]),
        StepFile(Stamp(1, "TRAIN", 0), "worker_0", [WriteValue("in_0", -X)]),
    ]
    inputs = [CollectionSpec("inputs", ("^in_",))]
    run = ReferenceRun(ONE, files, {"worker_0": inputs})
    ours, theirs = read(reader, tmp_path, run, {"model": [["inputs", "TRAIN", 0]]})
    assert theirs["answers"]["model"] == [[value_document(X)]]
    assert ours["answers"]["model"] == [[value_document(-X)]]


def test_two_underscores_in_the_path_change_no_name(reader: RunReader, tmp_path: Path) -> None:
    ours, theirs = read(reader, tmp_path / "my__run", one_step(WriteValue("x", X)))
    assert list(theirs["tensors"]["x"]["at"]["GLOBAL"]["0"]) == ["worker/0"]
    assert list(ours["tensors"]["x"]["at"]["GLOBAL"]["0"]) == ours["workers"] == ["worker_0"]


def test_names_that_a_later_worker_lists_are_known(reader: RunReader, tmp_path: Path) -> None:
    collections = {
        worker: [CollectionSpec("mine", tensor_names=(f"x of {worker}",))] for worker in TWO
    }
    files = [StepFile(at(0), w, [WriteValue(f"x of {w}", X)]) for w in TWO]
    run = ReferenceRun(TWO, files, collections)
    ours, theirs = read(reader, tmp_path, run, {"names": [{"collection": "mine"}]})
    assert len(theirs["answers"]["names"][0]) == 1
    assert ours["answers"]["names"] == [["x of worker_0", "x of worker_1"]]


def test_steps_with_gaps_are_given_up_one_by_one(reader: RunReader, tmp_path: Path) -> None:
    files = [StepFile(at(100 * n), "worker_0", [WriteValue("x", X)]) for n in range(8)]
    run = ReferenceRun(TWO, files, ended=False)
    ours, theirs = read(reader, tmp_path, run, {"window": 4})
    # 1.0 counts as if steps were numbered without gaps: 3 is no step at all.
    assert theirs["last_complete_step"] == 3
    assert ours["last_complete_step"] == 300


def test_a_damaged_index_file_hides_nothing_but_itself(reader: RunReader, tmp_path: Path) -> None:
    run = ReferenceRun(ONE, [StepFile(at(s), "worker_0", [WriteValue("x", X)]) for s in (0, 1)])
    write_run(run, tmp_path)
    index = tmp_path / "index/000000000/000000000000_worker_0.json"
    index.write_text(index.read_text()[:-20])
    assert read_with_1_0(tmp_path) == {"error": "IndexReaderException"}
    ours = reader.read(tmp_path)
    assert ours["steps"]["GLOBAL"]["complete"] == [1]
    assert [file for file, _, _ in ours["damage"]] == [str(index.relative_to(tmp_path))]


def test_a_damaged_record_is_told(reader: RunReader, tmp_path: Path) -> None:
    write_run(one_step(WriteValue("x", X), WriteValue("y", X)), tmp_path)
    (file,) = tmp_path.glob("events/*/*.tfevents")
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    file.write_bytes(content)
    ours = reader.read(tmp_path)
    assert entry(read_with_1_0(tmp_path), "x")["value"] == {"error": "NameError"}
    assert entry(ours, "x")["value"] == {"error": "FormatError"}
    assert entry(ours, "y")["value"] == value_document(X)
    assert [(where, tensor) for where, _, tensor in ours["damage"]] == [
        (str(file.relative_to(tmp_path)), "x")
    ]
