"""A run as the restated definitions see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Pick = Callable[[str], bool]


@dataclass(frozen=True)
class Step:
    """One saved step."""

    tensors: Mapping[str, Array]
    mode: str = "GLOBAL"
    mode_step: int = 0


Run = Mapping[int, Step]
"""The steps by their global number, in order."""


def each(run: Run, pick: Pick) -> Iterator[tuple[int, Step, str, Array]]:
    """The tensors that are looked at, step by step, by name."""
    for number, step in run.items():
        for name in sorted(step.tensors):
            if pick(name):
                yield number, step, name, step.tensors[name]


def is_training(step: Step) -> bool:
    """Whether the step is of training, or was saved without a mode."""
    return step.mode in ("TRAIN", "GLOBAL")


def mean(value: Array) -> float:
    """In double precision; NaN if there is nothing."""
    return float(np.mean(value, dtype=np.float64)) if value.size else np.nan


def variance(value: Array) -> float:
    """That of the population, in double precision; NaN if a value is not finite."""
    with np.errstate(invalid="ignore"):
        return float(np.var(value, dtype=np.float64)) if value.size else np.nan
