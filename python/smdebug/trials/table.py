"""Runs as tables of pandas.

There is one row for each step, worker and tensor, with the columns

- `step`, over all modes; `mode`, by name; `mode_step`, within the mode;
- `worker` and `tensor`, by name;
- `value`: that of a tensor with one element, of a complex one its magnitude; NaN
  for any other;
- one column for each reduction, such as `mean` or `abs_max`, that was saved for any
  of the tensors or was asked for; NaN where there is none.

Incomplete steps are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from smdebug.core.modes import ModeKeys
from smdebug.exceptions import TensorUnavailableForStep

if TYPE_CHECKING:
    import pandas

    from smdebug.trials.tensor import Tensor

_KEYS = ["step", "mode", "mode_step", "worker", "tensor", "value"]


def make(
    tensors: Iterable[Tensor],
    mode: ModeKeys,
    worker: str | None,
    reductions: Iterable[str] | None,
) -> pandas.DataFrame:
    """The table of some tensors, of one worker or of all."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    asked = list(reductions or ())
    rows = [row for tensor in tensors for row in _rows(tensor, mode, worker, asked)]
    rows.sort(key=lambda row: (row["step"], row["tensor"], row["worker"]))
    names = {name for row in rows for name in row}.difference(_KEYS, asked)
    return pandas.DataFrame(rows, columns=[*_KEYS, *asked, *sorted(names)])


def number(value: np.ndarray[Any, np.dtype[Any]]) -> float:
    """The only element as a float; NaN for anything else."""
    if value.size != 1 or value.dtype.kind in "USO":
        return float("nan")
    element = value.reshape(())[()]
    return float(abs(element)) if value.dtype.kind == "c" else float(element)


def _rows(
    tensor: Tensor, mode: ModeKeys, worker: str | None, asked: list[str]
) -> Iterator[dict[str, Any]]:
    trial = tensor.trial
    for step in tensor.steps(mode):
        overall = trial.global_step(mode, step)
        assert overall is not None
        found = trial.mode(overall)
        for name in [worker] if worker else tensor.workers(step, mode):
            yield {
                "step": overall,
                "mode": found and found.name,
                "mode_step": trial.mode_step(overall),
                "worker": name,
                "tensor": tensor.name,
                **_numbers(tensor, step, mode, name, asked),
            }


def _numbers(
    tensor: Tensor, step: int, mode: ModeKeys, worker: str, asked: list[str]
) -> dict[str, float]:
    value_bytes, _ = tensor.saved(step, mode, worker)
    has_value = value_bytes is not None
    numbers = {"value": number(tensor.value(step, mode, worker)) if has_value else float("nan")}
    for (name, of_abs), value in tensor.reduction_values(step, mode, worker).items():
        numbers[f"abs_{name}" if of_abs else name] = number(value)
    for name in asked:
        if name not in numbers:
            numbers[name] = _computed(tensor, step, mode, worker, name)
    return numbers


def _computed(tensor: Tensor, step: int, mode: ModeKeys, worker: str, name: str) -> float:
    try:
        return float(np.ravel(tensor.reduction_value(step, name, mode, worker))[0])
    except TensorUnavailableForStep:
        return float("nan")
