"""Rules that compare a tensor with what it was, or is elsewhere."""

from __future__ import annotations

import numpy as np
from rule_definitions.definitions.run import Array, Pick, Run, each, is_training


def _are_close(a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol, atol, equal_nan))


def unchanged_tensor(
    run: Run,
    pick: Pick,
    num_steps: int = 3,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> list[int]:
    """The last num_steps training values are close, each to the one before."""
    past: dict[str, list[Array]] = {}
    fired = set()
    for number, step, name, value in each(run, pick):
        if not is_training(step):
            continue
        values = past.setdefault(name, [])
        values.append(value)
        last = values[-num_steps:]
        if len(last) == num_steps and all(
            _are_close(a, b, rtol, atol, equal_nan) for a, b in zip(last, last[1:])
        ):
            fired.add(number)
    return sorted(fired)


def weight_update_ratio(
    run: Run,
    pick: Pick,
    num_steps: int | None = None,
    large_threshold: float = 10,
    small_threshold: float = 1e-8,
    epsilon: float = 1e-9,
) -> list[int]:
    """The length of the change over that of the earlier weight."""
    past: dict[tuple[str, str], list[tuple[int, Array]]] = {}
    fired = set()
    for number, step, name, value in each(run, pick):
        if not is_training(step):
            continue
        seen = past.setdefault((step.mode, name), [])
        if num_steps is None:
            earlier = seen[-1:]
        else:
            earlier = [item for item in seen if item[0] >= step.mode_step - num_steps][:1]
        for _, before in earlier:
            norm = np.linalg.norm(before)
            if norm == 0 or before.size != value.size:
                continue
            ratio = np.linalg.norm(value.ravel() - before.ravel()) / (norm + epsilon)
            if ratio > large_threshold or ratio < small_threshold:
                fired.add(number)
        seen.append((step.mode_step, value))
    return sorted(fired)


def similar_across_runs(run: Run, pick: Pick, other: Run) -> list[int]:
    """A tensor that both runs have at a step is not the same."""
    fired = set()
    for number, _, name, value in each(run, pick):
        theirs = other[number].tensors.get(name) if number in other else None
        if theirs is not None and not _are_close(theirs, value, 1e-5, 1e-8, equal_nan=True):
            fired.add(number)
    return sorted(fired)
