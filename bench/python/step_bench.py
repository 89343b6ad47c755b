#!/usr/bin/env python3
"""Measures what a hook adds to a training step of PyTorch; prints one JSON object.

The same file runs where smdebug 2 is installed and where smdebug 1.0 is. Two copies of a model
are trained with the same batch, one of them with a hook. Their steps (forward, loss, backward,
optimizer) alternate, so that what the machine does besides hits both.

Where nothing is saved, single steps alternate, on one thread, since threads that wait for each
other add more noise than is measured. Where something is saved, blocks of steps alternate, and
after each block the process waits until it is idle: a writer in the background slows the hooked
steps down, as it does in training, and not the bare ones. That wait is reported, not counted.

Where in memory a copy lies can change its pace by several percent for as long as it lives, so
each configuration is measured in rounds, with new copies for each, and the lower quartiles of
bare and of hooked times are compared: what else a machine does only slows it down. Files are only
emptied between rounds: ext4 is slow to find room for a new file where others were removed a moment
ago.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("SMDEBUG_LOG_LEVEL", "off")
os.environ.pop("TRAINING_JOB_NAME", None)

import smdebug.pytorch as smd
import torch
from models import MODELS, Job, make_job

Figures = dict[str, float]

STEPS_OF_BLOCK = 10
SAVED_BY_HAND = {f"tensor_{i}": torch.full((1024,), float(i)) for i in range(1000)}  # 4 KiB each.


class Configuration(NamedTuple):
    """What a hook saves, and on what it is measured."""

    name: str
    options: dict[str, Any]
    interval: int = 1
    small: bool = False  # With as little data as the model takes.
    saves: bool = True  # Else nothing is due at the measured steps.
    by_hand: bool = False  # Calls save_tensor() 1000 times a step.


REDUCED = smd.ReductionConfig(reductions=["min", "max", "mean", "std"], norms=["l2"])
PARAMETERS = {"include_collections": ["weights", "gradients", "losses"]}

IDLE = Configuration("idle", PARAMETERS, interval=10**9, small=True, saves=False)
RAW = Configuration("raw", PARAMETERS)
SAVING = (
    Configuration("reductions", {**PARAMETERS, "reduction_config": REDUCED}),
    RAW,
    Configuration("raw_every_10", PARAMETERS, interval=10),
    Configuration("all_every_10", {"save_all": True}, interval=10),
)
BY_HAND = Configuration("save_tensor", {}, small=True, by_hand=True)


def configurations(model: str) -> tuple[Configuration, ...]:
    if model == "modules100":
        return (IDLE, RAW)
    return (IDLE, *SAVING, BY_HAND) if model == "mlp" else (IDLE, *SAVING)


class Training:
    """A copy of a job, of which steps can be timed."""

    def __init__(self, job: Job) -> None:
        self.model = copy.deepcopy(job.model)
        self.loss = copy.deepcopy(job.loss)
        self.inputs, self.targets = job.inputs, job.targets
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.after_step: Callable[[], None] | None = None

    def step(self) -> None:
        self.optimizer.zero_grad()
        loss = self.loss(self.model(self.inputs), self.targets)
        loss.backward()
        self.optimizer.step()
        if self.after_step is not None:
            self.after_step()

    def seconds(self, steps: int) -> float:
        """How long each of `steps` steps took, on average."""
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        return (time.perf_counter() - begin) / steps


def wait_until_idle() -> float:
    """Returns when no thread of this process computes; the seconds that this took."""
    begin = end = time.perf_counter()
    while end - begin < 10:
        busy = time.process_time()
        time.sleep(0.002)
        if time.process_time() - busy < 0.0005:
            break
        end = time.perf_counter()
    return end - begin


def add_hook(training: Training, wanted: Configuration, out_dir: Path) -> Any:  # noqa: ANN401
    hook = smd.Hook(
        out_dir=str(out_dir),
        save_config=smd.SaveConfig(save_interval=wanted.interval),
        **wanted.options,
    )
    hook.register_module(training.model)
    hook.register_loss(training.loss)

    def save_by_hand() -> None:
        for name, value in SAVED_BY_HAND.items():
            hook.save_tensor(name, value)

    if wanted.by_hand:
        training.after_step = save_by_hand
    return hook


def undisturbed(seconds: list[float]) -> float:
    """The lower quartile of times."""
    return statistics.quantiles(seconds, n=4, method="inclusive")[0]


class Measured:
    """Seconds of bare and of hooked steps, pair by pair, and of waits after hooked ones."""

    def __init__(self) -> None:
        self.bare: list[float] = []
        self.hooked: list[float] = []
        self.waits: list[float] = []

    def add_pair(self, bare: Training, hooked: Training, steps: int) -> None:
        """Takes one after the other; which comes first changes each time."""
        for training in (bare, hooked) if len(self.bare) % 2 == 0 else (hooked, bare):
            if training is bare:
                self.bare.append(bare.seconds(steps))
                continue
            self.hooked.append(hooked.seconds(steps))
            if steps > 1:
                self.waits.append(wait_until_idle() / steps)

    def figures(self) -> Figures:
        bare = undisturbed(self.bare)
        added = undisturbed(self.hooked) - bare
        error = self.standard_error()
        return {
            "us": 1e6 * added,
            "us_spread": 1e6 * error,
            "percent": 100 * added / bare,
            "percent_spread": 100 * error / bare,
            "bare_us": 1e6 * bare,
            "waited_percent": 100 * statistics.mean(self.waits) / bare if self.waits else 0.0,
            "pairs": len(self.bare),
        }

    def standard_error(self) -> float:
        """Of what the hook adds, by drawing as many pairs from those measured, many times."""
        draw = random.Random(1)
        pairs = list(zip(self.bare, self.hooked))
        drawn = [draw.choices(pairs, k=len(pairs)) for _ in range(200)]
        return statistics.stdev(
            undisturbed([hooked for _, hooked in some]) - undisturbed([bare for bare, _ in some])
            for some in drawn
        )


def bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check_saved(out_dir: Path, steps: int) -> int:
    """How many records a step has. Fails unless `steps` steps were saved: a hook that does
    nothing costs nothing."""
    index = sorted(out_dir.glob("index/*/*.json"))
    assert len(index) == steps, f"{len(index)} steps were saved, not {steps}"
    return len(json.loads(index[-1].read_text())["tensor_payload"])


def empty_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            os.truncate(path, 0)


def measure_round(
    job: Job, wanted: Configuration, out_dir: Path, seconds: float, measured: Measured
) -> int:
    """Adds pairs of new copies for about `seconds`; tells how many records a saved step has."""
    bare, hooked = Training(job), Training(job)
    hook = add_hook(hooked, wanted, out_dir)
    steps = STEPS_OF_BLOCK if wanted.saves else 1
    # The first step always saves; a whole block leaves the schedule where it was.
    bare.seconds(2)
    hooked.seconds(STEPS_OF_BLOCK)
    wait_until_idle()
    gc.collect()
    before = len(measured.hooked)
    end = time.perf_counter() + seconds
    while len(measured.hooked) < before + 2 or time.perf_counter() < end:
        measured.add_pair(bare, hooked, steps)
    hook.close()
    smd.del_hook()
    trained = STEPS_OF_BLOCK + steps * (len(measured.hooked) - before)
    return check_saved(out_dir, -(-trained // wanted.interval))


def measure(job: Job, wanted: Configuration, folder: Path, seconds: float, rounds: int) -> Figures:
    """Figures of one configuration, from rounds that take about `seconds` together."""
    measured = Measured()
    records, written = 0, 0
    threads = torch.get_num_threads()
    torch.set_num_threads(threads if wanted.saves else 1)
    for _ in range(rounds):
        out_dir = Path(tempfile.mkdtemp(dir=folder)) / "run"
        records = measure_round(job, wanted, out_dir, seconds / rounds, measured)
        written += bytes_under(out_dir)
        empty_files(out_dir)
    torch.set_num_threads(threads)
    figures = measured.figures()
    figures["records"] = records
    if wanted.saves:
        spent = statistics.mean(measured.hooked) + statistics.mean(measured.waits)
        blocks = len(measured.hooked) + rounds
        figures["written_mb_per_second"] = written / 1e6 / (blocks * STEPS_OF_BLOCK * spent)
    return figures


def per_part(figures: Figures, parts: int) -> Figures:
    """The cost of one of `parts` equal parts of what was measured."""
    return {key: figures[key] / parts for key in ("us", "us_spread")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each configuration")
    parser.add_argument("--rounds", type=int, default=6, help="for each configuration")
    parser.add_argument("--only", help="the name of one configuration")
    args = parser.parse_args()
    results: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        for wanted in configurations(args.model):
            if args.only in (None, wanted.name):
                job = make_job(args.model, wanted.small)
                # What costs next to nothing takes longer to be told from noise.
                times = 1 if wanted.saves else 3
                results[f"{args.model}/{wanted.name}"] = measure(
                    job, wanted, Path(folder), times * args.seconds, times * args.rounds
                )
    if "modules100/idle" in results:
        results["modules100/idle_module"] = per_part(results["modules100/idle"], 100)
    if "modules100/raw" in results:
        # Weights, gradients, and the loss.
        results["modules100/raw_tensor"] = per_part(results["modules100/raw"], 201)
    if "mlp/save_tensor" in results:
        results["mlp/save_tensor_each"] = per_part(results["mlp/save_tensor"], len(SAVED_BY_HAND))
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
