"""Rules that look at one tensor of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from rule_definitions.definitions.run import Array, Pick, Run, each, mean, variance


def _any_tensor(run: Run, pick: Pick, is_bad: Callable[[Array], bool]) -> list[int]:
    return sorted({number for number, _, _, value in each(run, pick) if is_bad(value)})


def vanishing_gradient(run: Run, pick: Pick, threshold: float = 1e-7) -> list[int]:
    """Mean magnitude below the threshold."""
    return _any_tensor(run, pick, lambda g: mean(np.abs(g)) < threshold)


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
        run, pick, lambda x: variance(x) > max_threshold or variance(x) < min_threshold
    )


def nlp_sequence_ratio(
    run: Run, pick: Pick, tokens: Mapping[float, float] | None = None
) -> list[int]:
    """More than so many percent of the values are a token."""
    limits = {0: 50} if tokens is None else tokens
    return _any_tensor(
        run,
        pick,
        lambda x: any(100 * mean(x == token) > limit for token, limit in limits.items()),
    )


def check_input_images(
    run: Run,
    pick: Pick,
    threshold_mean: float = 0.2,
    threshold_samples: int = 500,
    channel: int = 1,
) -> list[int]:
    """The mean of a channel over all images so far is far from 0."""
    seen: dict[str, list[Array]] = {}
    fired = set()
    for number, _, name, value in each(run, pick):
        batches = seen.setdefault(name, [])
        batches.append(value.astype(np.float64))
        images = np.concatenate(batches)
        if len(images) < threshold_samples:
            continue
        channels = np.moveaxis(images, channel, 0) if images.ndim > channel else images[None]
        if any(abs(mean(values)) > threshold_mean for values in channels):
            fired.add(number)
    return sorted(fired)
