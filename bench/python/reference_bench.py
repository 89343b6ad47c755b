#!/usr/bin/env python3
"""Measures smdebug 1.0 without a framework; prints one JSON object.

Runs in .venv-ref, with tests/python on PYTHONPATH. Goes through
smdebug.core.hook.BaseHook, the class that every framework's hook of 1.0 derives
from: a step is begun as its PyTorch hook begins one, and each tensor takes the
whole way that a framework's tensor takes (due check, reductions, histogram, raw
record). Only the framework itself is missing.

Keys are those of bench/rows.py; values are per second, in the unit of the row.
Each is the best of several runs, since whatever disturbs a run slows it down.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("SMDEBUG_LOG_LEVEL", "off")
os.environ.pop("TRAINING_JOB_NAME", None)

import numpy as np
from judge import judge_rate
from smdebug.core.reduction_config import ALLOWED_NORMS, ALLOWED_REDUCTIONS, ReductionConfig
from smdebug.core.reductions import get_numpy_reduction
from smdebug.core.tfevent.summary import _get_default_bins, histogram_summary
from smdebug.trials import create_trial
from support.reference_run import Hook

KIB, MIB = 1 << 10, 1 << 20
Array = np.ndarray[Any, np.dtype[Any]]


def best_rate(work: Callable[[], float], runs: int) -> float:
    """The highest amount per second of `runs` runs; work() returns its amount."""
    best = 0.0
    for _ in range(runs):
        begin = time.perf_counter()
        amount = work()
        best = max(best, amount / (time.perf_counter() - begin))
    return best


def tensors_of(count: int, size: int) -> dict[str, Array]:
    rng = np.random.default_rng(1)
    return {f"tensor_{i}": rng.standard_normal(size // 4).astype(np.float32) for i in range(count)}


def raw_rate(folder: Path, count: int, size: int, steps: int, amount: float) -> float:
    tensors = tensors_of(count, size)
    best = 0.0
    for _ in range(4):  # The first run warms up, as Google Benchmark does for ours.
        out_dir = tempfile.mkdtemp(dir=folder)
        begin = time.perf_counter()
        Hook(out_dir, save_all=True).save_steps([tensors] * steps)
        best = max(best, amount * steps / (time.perf_counter() - begin))
        shutil.rmtree(out_dir)
    return best


def scalar_rate(folder: Path, steps: int) -> float:
    def work() -> float:
        hook = Hook(tempfile.mkdtemp(dir=folder), save_all=True)
        for step in range(steps):
            hook.begin_step()
            hook.save_scalar("loss", 1.0 / (step + 1))
        hook._close_writers()
        return steps

    return best_rate(work, runs=3)


def reduction_rate(size: int, runs: int) -> float:
    """Bytes of tensor per second that get all 18 reductions, computed alone.
    Rank 1, since for matrices 1.0's l2 is the largest singular value."""
    (value,) = tensors_of(1, size).values()

    def work() -> float:
        for names in (ALLOWED_REDUCTIONS, ALLOWED_NORMS):
            for name in names:
                get_numpy_reduction(name, value, abs=False)
                get_numpy_reduction(name, value, abs=True)
        return value.nbytes

    return best_rate(work, runs)


def histogram_rate(size: int, runs: int) -> float:
    """Bytes of tensor per second that become a histogram, computed alone."""
    (value,) = tensors_of(1, size).values()
    bins = _get_default_bins()

    def work() -> float:
        histogram_summary("x", value, bins)
        return value.nbytes

    return best_rate(work, runs)


def tensorboard_rate(folder: Path, count: int, size: int, steps: int) -> float:
    """Bytes of tensor per second that reach TensorBoard as histograms, with one
    reduction each instead of the raw values."""
    tensors = tensors_of(count, size)

    def work() -> float:
        hook = Hook(
            tempfile.mkdtemp(dir=folder),
            save_all=True,
            export_tensorboard=True,
            reduction_config=ReductionConfig(reductions=["max"]),
        )
        hook.save_steps([tensors] * steps)
        return count * size * steps

    return best_rate(work, runs=3)


def resident_megabytes() -> float:
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return float(fields["RssAnon"].split()[0]) / 1e3


def read_rates(runs: Path) -> dict[str, float]:
    """Reads the runs that bench/trial_bench.cc has written and read."""
    before = resident_megabytes()
    begin = time.perf_counter()
    trial = create_trial(str(runs / "10000x20"))
    assert len(trial.steps()) == 10_000
    assert len(trial.tensor_names()) == 20
    # The trial sleeps for a second when it finds that the job has ended.
    opened = time.perf_counter() - begin - 1.0
    grown = resident_megabytes() - before

    begin = time.perf_counter()
    values = trial.tensor("layer7.weight").values()
    valued = time.perf_counter() - begin
    assert len(values) == 10_000

    large = create_trial(str(runs / "100x1MiB"))
    names = large.tensor_names()

    def read_large() -> float:
        for name in names:
            value = large.tensor(name).value(2)
            assert value.nbytes == MIB and value[-1] == 1.5
        return len(names) * MIB

    return {
        "open_10000x20": 200_000 / opened,
        "open_memory": grown,
        "values": len(values) / valued,
        "read_100x1MiB": best_rate(read_large, runs=3),
    }


def write_live(out_dir: str, closed: Any, steps: int) -> None:  # noqa: ANN401
    """Steps at random moments; closed[step] is when its files were there."""
    rng = np.random.default_rng(1)
    tensors = tensors_of(20, 64)
    hook = Hook(out_dir, save_all=True)
    for step in range(steps):
        hook.begin_step()
        for name, value in tensors.items():
            hook._save_for_tensor(name, value)
        hook._close_writers()
        if step == 0:
            hook.export_collections()
        closed[step] = time.monotonic()
        time.sleep(rng.uniform(0.2, 2.0))


def live_latencies(folder: Path, steps: int) -> dict[str, float]:
    """Milliseconds from files closed to step seen, two processes."""
    out_dir = tempfile.mkdtemp(dir=folder) + "/run"
    closed = multiprocessing.Array("d", steps)
    writer = multiprocessing.Process(target=write_live, args=(out_dir, closed, steps))
    writer.start()
    trial = create_trial(out_dir)
    latencies = []
    for step in range(steps):
        trial.wait_for_steps([step])
        trial.dynamic_refresh = True  # wait_for_steps() leaves it off.
        latencies.append(1e3 * (time.monotonic() - closed[step]))
    writer.join()
    return {
        "live_median": float(np.percentile(latencies, 50)),
        "live_p99": float(np.percentile(latencies, 99)),
    }


def measure(folder: Path, runs: Path | None) -> dict[str, float]:
    rates = {
        "raw_100x1MiB": raw_rate(folder, 100, MIB, steps=20, amount=100 * MIB),
        "raw_1000x4KiB": raw_rate(folder, 1000, 4 * KIB, steps=3, amount=1000),
        "scalar_per_step": scalar_rate(folder, steps=200),
        "reductions_1MiB": reduction_rate(MIB, runs=20),
        "reductions_64MiB": reduction_rate(64 * MIB, runs=3),
        "histogram_4KiB": histogram_rate(4 * KIB, runs=100),
        "histogram_64MiB": histogram_rate(64 * MIB, runs=3),
        "tensorboard_1000x4KiB": tensorboard_rate(folder, 1000, 4 * KIB, steps=1),
        "tensorboard_64MiB": tensorboard_rate(folder, 1, 64 * MIB, steps=1),
        **live_latencies(folder, steps=20),
    }
    if runs is not None and runs.exists():
        rates.update(read_rates(runs))
        rates.update({"judge_50x4KiB": judge_rate(runs / "gradients", steps=200)})
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    parser.add_argument(
        "--runs", type=Path, help="runs of bench/trial_bench.cc and rules_bench.cc, to be read"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        print(json.dumps(measure(Path(folder), args.runs), indent=2))


if __name__ == "__main__":
    main()
