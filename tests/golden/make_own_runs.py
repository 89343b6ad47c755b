#!/usr/bin/env python3
"""Writes the golden runs of smdebug 2 anew, with what must be read from them.

    PYTHONPATH=tests/python .venv-ref/bin/python tests/golden/make_own_runs.py [NAME...]

What is kept must stay readable for ever. A change of the format gets a run of
its own, beside those that are here. Needs build/release.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from compat.own_runs import check_own_run
from make_reference_runs import EVERY_STEP, WEIGHT, write_expected
from support import model
from support.config import CollectionSpec, Form, HookSpec, Schedule
from support.driver import Driver, RunReader
from support.scenario import Action, BeginStep, EndStep, Save, SaveScalar, Scenario, SetMode

HERE = Path(__file__).resolve().parent

NUMBERS = ("float16", "int8", "uint64", "bool", "complex64")
# Stands for the machine in what each worker writes about itself.
HOST = "golden"


def training(folder: Path) -> Scenario:
    """Two workers: modes, a schedule, reductions with counts, shapes, many types, a
    value of 4 KiB, and scalars that ride."""
    hook = HookSpec(
        str(folder),
        include_collections=("raw", "reduced", "weights"),
        schedules={**EVERY_STEP, "TRAIN": Schedule(save_interval=2)},
        include_workers="all",
        workers=2,
        collections=(
            CollectionSpec("raw", ("^raw/",)),
            CollectionSpec("reduced", ("relu",), form=Form(("mean", "abs_max", "median"))),
            CollectionSpec("weights", ("weight",), form=Form(("std",), save_shape=True)),
        ),
    )
    actions: list[Action] = []
    for rank in range(2):
        actions += [BeginStep(hook=rank), *raw_values(rank), SetMode("TRAIN", hook=rank)]
        for step in range(2):
            actions += [*training_step(rank, step), EndStep(hook=rank)]
        actions += [SetMode("EVAL", hook=rank), *training_step(rank, 0)]
        actions += [EndStep(hook=rank), SaveScalar("late", 42.0 + rank, hook=rank)]
    return Scenario([replace(hook, rank=rank) for rank in range(2)], actions)


def raw_values(rank: int) -> list[Action]:
    """The first has a large value, the second those that are most easily got wrong."""
    if rank == 0:
        return [Save("raw/large", (np.arange(4096) % 251).astype(np.uint8).reshape(64, 64))]
    small = np.arange(6).reshape(2, 3)
    actions: list[Action] = [Save(f"raw/{t}", small.astype(t), hook=rank) for t in NUMBERS]
    texts = np.array(["", "größer"], dtype=object)
    return [
        *actions,
        Save("raw/transposed", WEIGHT.T, hook=rank),
        Save("raw/rank 0", np.array(0.5), hook=rank),
        Save("raw/strings", texts, hook=rank),
    ]


def training_step(rank: int, step: int) -> list[Action]:
    odd = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    return [
        BeginStep(hook=rank),
        Save("fc.weight", WEIGHT + step, hook=rank),
        Save("relu_output_0", odd * (step + 1), hook=rank),
        Save("loss", np.array(1 / (step + 1)), hook=rank),
        SaveScalar("lr", 0.5**step, hook=rank),
    ]


RUNS = {"own_training": training}


def make(name: str, folder: Path, driver: Driver) -> None:
    with tempfile.TemporaryDirectory() as aside:
        driver.play(RUNS[name](folder), Path(aside))
    for ledger in folder.glob("ledger/*.json"):
        content = json.loads(ledger.read_text("utf-8"))
        ledger.write_text(json.dumps({**content, "host": HOST, "pid": 1}), "utf-8")


def main(names: list[str]) -> None:
    with Driver() as driver, RunReader() as reader:
        for name in names or list(RUNS):
            folder = HERE / name / "run"
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(exist_ok=True)
            make(name, folder, driver)
            # Nothing is kept that smdebug 1.0 and the model do not agree on.
            check_own_run(reader, folder, model.play(RUNS[name](folder)))
            write_expected(name, {}, reader.read(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
