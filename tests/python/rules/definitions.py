"""The documented definitions of rules, restated over plain numpy arrays.

A run maps each global step to its mode and its tensors, in order. Each function gives the
steps at which the rule fires. `pick` tells which tensors are looked at.
"""

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


def _each(run: Run, pick: Pick) -> Iterator[tuple[int, Step, str, Array]]:
    for number, step in run.items():
        for name in sorted(step.tensors):
            if pick(name):
                yield number, step, name, step.tensors[name]


def _is_training(step: Step) -> bool:
    return step.mode in ("TRAIN", "GLOBAL")


def _any_tensor(run: Run, pick: Pick, is_bad: Callable[[Array], bool]) -> list[int]:
    return sorted({number for number, _, _, value in _each(run, pick) if is_bad(value)})


def vanishing_gradient(run: Run, pick: Pick, threshold: float = 1e-7) -> list[int]:
    """Mean magnitude below the threshold."""
    return _any_tensor(run, pick, lambda g: bool(np.mean(np.abs(g)) < threshold))


def exploding_tensor(run: Run, pick: Pick, only_nan: bool = False) -> list[int]:
    """NaN, or infinities unless only_nan."""

    def is_bad(value: Array) -> bool:
        if not np.issubdtype(value.dtype, np.floating):
            return False
        return bool(np.isnan(value).any() or (not only_nan and np.isinf(value).any()))

    return _any_tensor(run, pick, is_bad)


def all_zero(run: Run, pick: Pick, threshold: float = 100) -> list[int]:
    """At least so many percent zeros."""
    return _any_tensor(
        run, pick, lambda x: bool(x.size and 100 * np.sum(x == 0) / x.size >= threshold)
    )


def tensor_variance(
    run: Run,
    pick: Pick,
    max_threshold: float = np.inf,
    min_threshold: float = -np.inf,
) -> list[int]:
    """The population's variance outside the limits."""
    return _any_tensor(
        run, pick, lambda x: bool(np.var(x) > max_threshold or np.var(x) < min_threshold)
    )


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
    for number, step, name, value in _each(run, pick):
        if not _is_training(step):
            continue
        values = past.setdefault(name, [])
        values.append(value)
        last = values[-num_steps:]
        if len(last) == num_steps and all(
            a.shape == b.shape and np.allclose(a, b, rtol, atol, equal_nan)
            for a, b in zip(last, last[1:])
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
    for number, step, name, value in _each(run, pick):
        if not _is_training(step):
            continue
        seen = past.setdefault((step.mode, name), [])
        if num_steps is None:
            earlier = seen[-1:]
        else:
            earlier = [item for item in seen if item[0] >= step.mode_step - num_steps][:1]
        for _, before in earlier:
            norm = np.linalg.norm(before)
            if norm == 0:
                continue
            ratio = np.linalg.norm(value - before) / (norm + epsilon)
            if ratio > large_threshold or ratio < small_threshold:
                fired.add(number)
        seen.append((step.mode_step, value))
    return sorted(fired)


def inactive_units(
    run: Run,
    pick: Pick,
    is_active: Callable[[str, Array], Array],
    threshold_inactivity: float = 1,
    threshold_layer: float = 50,
) -> list[int]:
    """DeadRelu and SaturatedActivation: too many units are hardly active."""
    waiting: dict[tuple[str, str], list[Array]] = {}
    fired = set()
    for number, step, name, value in _each(run, pick):
        active = is_active(name, value).reshape(value.shape[0], -1)
        key = (step.mode, name)
        batches = [active] if len(active) >= 8 else [*waiting.get(key, []), active]
        if sum(len(batch) for batch in batches) < 8:
            waiting[key] = batches
            continue
        waiting[key] = []
        activity = 100 * np.mean(np.concatenate(batches), axis=0)
        if 100 * np.mean(activity < threshold_inactivity) > threshold_layer:
            fired.add(number)
    return sorted(fired)


def nlp_sequence_ratio(
    run: Run, pick: Pick, tokens: Mapping[float, float] | None = None
) -> list[int]:
    """More than so many percent of the values are a token."""
    limits = {0: 50} if tokens is None else tokens
    return _any_tensor(
        run,
        pick,
        lambda x: any(100 * np.mean(x == token) > limit for token, limit in limits.items()),
    )


def overtraining(
    run: Run,
    pick: Pick,
    patience_train: int = 5,
    patience_validation: int = 10,
    delta: float = 0.01,
) -> list[int]:
    """Neither phase has found a better loss for as long as its patience."""
    best = {"training": np.inf, "validation": np.inf}
    since = {"training": 0, "validation": 0}
    seen = {"training": 0, "validation": 0}
    fired = []
    for number, step in run.items():
        losses = [float(np.mean(value)) for name, value in step.tensors.items() if pick(name)]
        if not losses or step.mode == "PREDICT":
            continue
        phase = "validation" if step.mode == "EVAL" else "training"
        loss = float(np.mean(losses))
        seen[phase] += 1
        if best[phase] - loss > delta:
            best[phase] = loss
            since[phase] = 0
        else:
            since[phase] += 1
        done = seen["validation"] == 0 or since["validation"] >= patience_validation
        if since["training"] >= patience_train and done:
            fired.append(number)
    return fired


def feature_importance_overweight(
    run: Run, pick: Pick, threshold: float = 0.8, nfeatures: int = 3
) -> list[int]:
    """The largest features have more than threshold of the sum."""
    names: set[str] = set()
    fired = []
    for number, step in run.items():
        values = {name: float(np.mean(v)) for name, v in step.tensors.items() if pick(name)}
        names |= set(values)
        total = sum(values.values())
        if len(names) <= nfeatures or total == 0:
            continue
        if sum(sorted(values.values(), reverse=True)[:nfeatures]) / total > threshold:
            fired.append(number)
    return fired


def tree_depth(run: Run, depth: float = 4) -> list[int]:
    """Where only node numbers are saved: the lower bound of the depth is above."""
    return _any_tensor(
        run,
        lambda name: name == "trees/Node",
        lambda node: bool(np.floor(np.log2(max(1, int(np.max(node))))) > depth),
    )
