"""Runs of ours, read by our trial and by smdebug 1.0's."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from compat.agreement import check_documents, read_with_both
from compat.faults import entries
from compat.questions import questions_of
from support.driver import Document, RunReader
from support.model import Run, Stamp
from support.truth import Truth

SCALAR = "scalar/"


def check_own_run(reader: RunReader, folder: Path, runs: list[Run]) -> None:
    """Compares what both read, but for scalars, with what the model of each worker
    says. Scalars are where they were saved for ours, and with the file that they
    ride in for 1.0, which compat.opened checks."""
    truth = Truth()
    truth.add_collections(folder)
    for rank, run in enumerate(runs):
        add_run(run, f"worker_{rank}", truth)
    stamps = sorted({step.stamp for run in runs for step in run.steps}, key=lambda s: s.step)
    questions = questions_of(truth, stamps)
    del questions["computed"]
    # What is found by name or by mode may be a scalar.
    del questions["names"]
    ours, theirs = read_with_both(reader, folder, questions)
    scalars = take_scalars(ours)
    take_scalars(theirs)
    for rank, run in enumerate(runs):
        check_scalars(scalars, run, f"worker_{rank}")
    assert set(ours.pop("modes")) - set(theirs.pop("modes")) <= modes_of_riders(runs)
    # 1.0 orders and completes what it read; compat.opened checks that.
    theirs["collections"] = truth.collections["worker_0"]
    for found, given in zip(ours["answers"]["passed"], theirs["answers"]["passed"]):
        # A step at which nothing but scalars was saved is known to ours alone.
        found.update({key: None for key, answer in given.items() if answer is None})
    for _, entry in entries(ours):
        entry.pop("counts", None)
    check_documents(ours, theirs, truth, questions)


def add_run(run: Run, worker: str, truth: Truth) -> None:
    for step in run.steps:
        for name, saved in step.tensors.items():
            key = name, step.stamp.step, worker
            if saved.raw:
                truth.values[key] = saved.value
            if saved.shape:
                truth.shapes[key] = saved.value.shape
                if saved.value.size == 0:
                    truth.values[key] = saved.value
            if saved.reductions:
                numbers = {name: np.array(r.value) for name, r in saved.reductions.items()}
                truth.reductions[key] = numbers


def take_scalars(document: Document) -> Document:
    """The tensors that are scalars, taken out of `document`."""
    tensors = document["tensors"]
    return {name: tensors.pop(name) for name in list(tensors) if name.startswith(SCALAR)}


def modes_of_riders(runs: list[Run]) -> set[str]:
    steps = [step for run in runs for step in run.steps]
    return {scalar.stamp.mode for step in steps for scalar in step.published}


def check_scalars(scalars: Document, run: Run, worker: str) -> None:
    """The last scalar saved at a step is there, in the mode of the step."""
    known: dict[int, Stamp] = {}
    right: dict[str, dict[int, float]] = {}
    for step in run.steps:
        known.setdefault(step.stamp.step, step.stamp)
        for scalar in step.published:
            known.setdefault(scalar.stamp.step, scalar.stamp)
            right.setdefault(scalar.name, {})[scalar.stamp.step] = scalar.value
    assert {name for name in scalars if worker_has(scalars[name], worker)} == set(right)
    for name, values in right.items():
        at = scalars[name]["at"]
        shown = {int(s): by[worker] for s, by in at["GLOBAL"].items() if worker in by}
        assert shown.keys() == values.keys(), (name, shown, values)
        for number, value in values.items():
            got = number_of(shown[number]["value"])
            assert np.array_equal(got, value, equal_nan=True), (name, number, got, value)
            stamp = known[number]
            if stamp.mode != "GLOBAL" and first_of_mode_step(known, stamp) == number:
                by_mode = at[stamp.mode][str(stamp.mode_step)][worker]
                assert by_mode["value"] == shown[number]["value"]
        assert values.keys() <= set(scalars[name]["steps"]["GLOBAL"]["complete"])


def number_of(document: Document) -> float:
    assert document["dtype"] == "float64" and document["shape"] == [1]
    (number,) = struct.unpack("<d", bytes.fromhex(document["bytes"]))
    return float(number)


def worker_has(tensor: Document, worker: str) -> bool:
    return any(worker in by for steps in tensor["at"].values() for by in steps.values())


def first_of_mode_step(known: dict[int, Stamp], stamp: Stamp) -> int:
    """The step over all modes that is meant by a step of a mode: the first known."""
    same = [
        s.step for s in known.values() if (s.mode, s.mode_step) == (stamp.mode, stamp.mode_step)
    ]
    return same[0]
