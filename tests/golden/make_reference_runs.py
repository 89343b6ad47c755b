#!/usr/bin/env python3
"""Writes the golden runs of smdebug 1.0 anew, with what must be read from them.

    PYTHONPATH=tests/python .venv-ref/bin/python tests/golden/make_reference_runs.py [NAME...]

README.md tells what each holds. What is kept was written by smdebug 1.0.34; a
run is made again only to add to it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from compat.document import read_with_1_0
from compat.faults import put_right
from compat.questions import questions_of
from compat.reference_hook import play_with_1_0
from compat.reference_run import (
    ReferenceRun,
    StepFile,
    Write,
    WriteReduction,
    WriteShape,
    WriteValue,
    write_run,
)
from support.config import BUILT_IN, MODES, RAW, CollectionSpec, Form, HookSpec, Schedule
from support.driver import Document, Questions
from support.model import Stamp
from support.scenario import Action, Array, BeginStep, EndStep, Save, SaveScalar, Scenario, SetMode
from support.truth import Truth

HERE = Path(__file__).resolve().parent

NUMBERS = (
    *("float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
    *("int64", "uint64", "bool", "complex64", "complex128"),
)
EVERY_STEP = dict.fromkeys(MODES, Schedule(save_interval=1))
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


def limits_of(dtype: str) -> Array:
    """The values of a type that are most easily got wrong."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return np.array([np.iinfo(kind).min, 0, 1, np.iinfo(kind).max], kind)
    if kind.kind == "b":
        return np.array([False, True])
    limits = np.finfo(kind)
    numbers = [0.0, -0.0, 1.5, limits.tiny, limits.max, np.inf, -np.inf, np.nan]
    return np.array(numbers, limits.dtype).astype(kind)


def make_dtypes(folder: Path) -> tuple[Truth, list[Stamp]]:
    """Every type that 1.0 can write, of rank 0 and 1; some of rank 3 and without
    elements."""
    writes: list[Write] = []
    for dtype in NUMBERS:
        limits = limits_of(dtype)
        writes += [
            WriteValue(f"{dtype}/limits", limits),
            WriteValue(f"{dtype}/rank 0", np.array(limits[1])),
        ]
    for dtype in ("float32", "int64", "bool"):
        writes += [
            WriteValue(f"{dtype}/rank 3", np.arange(4).reshape(2, 1, 2).astype(dtype)),
            WriteValue(f"{dtype}/empty", np.zeros((2, 0, 3), dtype)),
        ]
    texts = np.array(["", "text", "größer", "x" * 200], dtype=object)
    writes += [WriteValue("strings", texts), WriteValue("strings/empty", texts[:0])]
    stamp = Stamp(0, "GLOBAL", 0)
    run = ReferenceRun(["worker_0"], [StepFile(stamp, "worker_0", writes)])
    write_run(run, folder)
    return run.truth(folder), [stamp]


def make_devices(folder: Path) -> tuple[Truth, list[Stamp]]:
    """Two devices of TensorFlow's mirrored strategy. The job is still running; the
    last step is incomplete. Steps pass from one index folder into the next."""
    workers = [f"_job-worker_replica-0_task-0_device-GPU-{n}" for n in (0, 1)]
    stamps = [
        Stamp(998, "TRAIN", 498),
        Stamp(999, "EVAL", 500),
        Stamp(1000, "TRAIN", 499),
        Stamp(1003, "TRAIN", 502),
    ]
    files = []
    for stamp in stamps:
        for number, worker in enumerate(workers):
            value = WEIGHT * (number + 1) + stamp.step
            writes: list[Write] = [
                WriteShape("dense/kernel:0", value.shape, "model/dense/kernel/Read:0"),
                WriteReduction("dense/kernel:0", "mean", np.float32(value.mean()).reshape(1)),
                WriteReduction("dense/kernel:0", "abs_l2", np.array(np.linalg.norm(value))),
            ]
            if stamp.mode == "EVAL":
                writes.append(WriteValue("accuracy", np.array([0.25 * (number + 1)])))
            files.append(StepFile(stamp, worker, writes))
    del files[-1]
    names = [CollectionSpec("weights", ("kernel",), (f"seen by {n}",), RAW) for n in (0, 1)]
    collections = {worker: [spec] for worker, spec in zip(workers, names)}
    run = ReferenceRun(workers, files, collections, ended=False)
    write_run(run, folder)
    return run.truth(folder), stamps


def make_training(folder: Path) -> tuple[Truth, list[Stamp]]:
    """A hook over training, evaluation and prediction, with schedules, reductions,
    shapes beside values, and scalars."""
    hook = HookSpec(
        str(folder),
        include_collections=("weights", "gradients", "activations"),
        schedules={**EVERY_STEP, "TRAIN": Schedule(save_interval=2)},
        collections=(
            CollectionSpec(
                "weights", tuple(BUILT_IN["weights"]), form=Form(("l2",), True, save_shape=True)
            ),
            CollectionSpec("activations", ("relu",), form=Form(("mean", "abs_max", "std"))),
            CollectionSpec("gradients", tuple(BUILT_IN["gradients"]), form=Form(save_shape=True)),
        ),
    )
    actions: list[Action] = []
    for mode, steps in (("TRAIN", 3), ("EVAL", 1), ("TRAIN", 1), ("PREDICT", 1)):
        actions.append(SetMode(mode))
        for step in range(steps):
            actions += [
                BeginStep(),
                Save("fc.weight", WEIGHT + step),
                Save("gradient/fc.weight", -WEIGHT),
                Save("relu_output_0", np.maximum(WEIGHT[0] - step, 0)),
                Save("CrossEntropyLoss_output_0", np.array(1 / (step + 1))),
                SaveScalar("lr", 0.5**step),
                EndStep(),
            ]
    truth, stamps = play_with_1_0(Scenario([hook], actions))
    truth.add_collections(folder)
    return truth, stamps


RUNS = {
    "reference_dtypes": make_dtypes,
    "reference_devices": make_devices,
    "reference_training": make_training,
}


def right_document(folder: Path, truth: Truth, questions: Questions) -> Document:
    """What must be read from the run in `folder`, by 1.0 with its faults put right."""
    return put_right(read_with_1_0(folder, questions), truth, questions)


def golden_questions(truth: Truth, stamps: list[Stamp]) -> Questions:
    """A few; tests/python/compat asks all of them. What is computed depends on the
    machine, in the last bits, and is not asked for."""
    return {"passed": questions_of(truth, stamps)["passed"]}


def write_expected(name: str, questions: Questions, document: Document) -> None:
    expected = {"questions": questions, "document": document}
    text = json.dumps(expected, sort_keys=True, separators=(",", ":"))
    (HERE / name / "expected.json").write_text(text + "\n", "utf-8")


def main(names: list[str]) -> None:
    for name in names or list(RUNS):
        folder = HERE / name / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(exist_ok=True)
        truth, stamps = RUNS[name](folder)
        questions = golden_questions(truth, stamps)
        write_expected(name, questions, right_document(folder, truth, questions))


if __name__ == "__main__":
    main(sys.argv[1:])
