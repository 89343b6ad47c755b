"""Runs that are judged by another run, or by the time: twins of a training, and stalled jobs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from support.native_run import NativeRun

END_MARKER = "training_job_end.ts"
HOURS = 3600.0


def descend(seed: int, out_dir: Path, rounding: float = 0.0) -> None:
    """Least squares by gradient descent; the seed tells the data and the first weights.

    `rounding` is by how much of its size each gradient is off, as on other hardware.
    """
    random = np.random.default_rng(seed)
    inputs, weights = random.normal(size=(64, 8)), random.normal(size=8)
    targets = inputs @ random.normal(size=8)
    off = np.random.default_rng(0)
    with NativeRun(out_dir) as run:
        for _ in range(20):
            error = inputs @ weights - targets
            gradient = inputs.T @ error / len(error)
            gradient *= 1 + rounding * off.normal(size=8)
            run.save_step({"weight": weights.copy(), "loss": np.mean(error**2)})
            weights -= 0.1 * gradient


def end(out_dir: Path, hours_ago: float, is_over: bool) -> None:
    """Makes a finished run one whose last file is that old, and that may not have ended."""
    if not is_over:
        (out_dir / END_MARKER).unlink()
    then = time.time() - hours_ago * HOURS
    for path in out_dir.rglob("*"):
        os.utime(path, (then, then))


def stalled(seed: int, out_dir: Path) -> None:
    """A job that has not ended and has saved nothing for two hours."""
    descend(seed, out_dir)
    end(out_dir, hours_ago=2, is_over=False)


def under_way(seed: int, out_dir: Path) -> None:
    """A job that has not ended and saved something a moment ago."""
    descend(seed, out_dir)
    end(out_dir, hours_ago=0, is_over=False)


def over(seed: int, out_dir: Path) -> None:
    """A job that ended two hours ago."""
    descend(seed, out_dir)
    end(out_dir, hours_ago=2, is_over=True)


def other_seed(seed: int, out_dir: Path) -> None:
    """A training that should be that of the seed and is another one."""
    descend(seed + 1000, out_dir)


def same_seed(seed: int, out_dir: Path) -> None:
    """The same training once more."""
    descend(seed, out_dir)


def other_hardware(seed: int, out_dir: Path) -> None:
    """The same training where sums are rounded in another way."""
    descend(seed, out_dir, rounding=1e-4)
