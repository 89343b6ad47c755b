"""Rules about boosted trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rule_definitions.definitions.run import Array, Pick, Run, mean

_IMPORTANCE = "feature_importance/"


def feature_importance_overweight(
    run: Run, pick: Pick, threshold: float = 0.8, nfeatures: int = 3
) -> list[int]:
    """The largest features have more than threshold of the sum, if there are more of them."""
    features: set[str] = set()
    fired = []
    for number, step in run.items():
        values = {name: mean(v) for name, v in step.tensors.items() if pick(name)}
        features |= {name.split("/")[2] for name in step.tensors if _IMPORTANCE in name}
        total = sum(values.values())
        if len(features) <= nfeatures or total == 0:
            continue
        if sum(sorted(values.values(), reverse=True)[:nfeatures]) / total > threshold:
            fired.append(number)
    return fired


def tree_depth(run: Run, depth: float = 4) -> list[int]:
    """The longest way from a root is above depth; a bound by the largest number if unknown."""
    return [
        number
        for number, step in run.items()
        if "trees/Node" in step.tensors and _depth(step.tensors) > depth
    ]


def _depth(columns: Mapping[str, Array | Sequence[str]]) -> int:
    yes, no = columns.get("trees/Yes"), columns.get("trees/No")
    if yes is None or no is None:
        return int(np.floor(np.log2(max(1, int(np.max(columns["trees/Node"]))))))
    below = dict(zip(columns["trees/ID"], zip(yes, no)))

    def longest(node: str) -> int:
        return max((1 + longest(child) for child in below[node] if child in below), default=0)

    return max(longest(node) for node in below)
