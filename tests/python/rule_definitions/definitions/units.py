"""Rules that count the units of a layer which are hardly active."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rule_definitions.definitions.run import Array, Pick, Run, each

ENOUGH_SAMPLES = 8


def _inactive_units(
    run: Run,
    pick: Pick,
    is_active: Callable[[str, Array], Array],
    threshold_inactivity: float,
    threshold_layer: float,
) -> list[int]:
    waiting: dict[tuple[str, str], list[Array]] = {}
    fired = set()
    for number, step, name, value in each(run, pick):
        if value.ndim == 0 or value.size == 0:
            continue
        active = is_active(name, value).reshape(value.shape[0], -1)
        key = (step.mode, name)
        is_enough = len(active) >= ENOUGH_SAMPLES
        batches = [active] if is_enough else [*waiting.get(key, []), active]
        if sum(len(batch) for batch in batches) < ENOUGH_SAMPLES:
            waiting[key] = batches
            continue
        waiting[key] = []
        activity = 100 * np.mean(np.concatenate(batches), axis=0)
        if 100 * np.mean(activity < threshold_inactivity) > threshold_layer:
            fired.add(number)
    return sorted(fired)


def dead_relu(
    run: Run, pick: Pick, threshold_inactivity: float = 1, threshold_layer: float = 50
) -> list[int]:
    """Too many units are hardly ever above zero."""
    return _inactive_units(
        run,
        lambda name: pick(name) and "gradient" not in name,
        lambda _, value: np.asarray(value > 0),
        threshold_inactivity,
        threshold_layer,
    )


def saturated_activation(
    run: Run,
    pick: Pick,
    tanh: tuple[float, float] = (-9.4999, 9.4999),
    sigmoid: tuple[float, float] = (-23, 16.99999),
    threshold_inactivity: float = 1,
    threshold_layer: float = 50,
) -> list[int]:
    """Too many units hardly ever get an input where the function is not flat."""

    def is_active(name: str, value: Array) -> Array:
        low, high = tanh if "tanh" in name.lower() else sigmoid
        return np.asarray((value > low) & (value < high))

    return _inactive_units(
        run,
        lambda name: pick(name) and ("tanh" in name.lower() or "sigmoid" in name.lower()),
        is_active,
        threshold_inactivity,
        threshold_layer,
    )
