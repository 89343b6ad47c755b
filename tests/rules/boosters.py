"""Boosted trees in NumPy, saved by the names that XGBoost's hook gives."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.native_run import NativeRun

Array = NDArray[Any]


@dataclasses.dataclass
class Node:
    """A split, or a leaf where `feature` is None."""

    value: float
    feature: int | None = None
    split: float = np.nan
    children: tuple[int, int] = (-1, -1)


def grow(data: Array, residual: Array, max_depth: int, least_gain: float) -> list[Node]:
    """A regression tree; its nodes are numbered level by level."""
    nodes: list[Node] = []
    level = [np.arange(len(residual))]
    for depth in range(max_depth + 1):
        below: list[Array] = []
        first = len(nodes) + len(level)
        for rows in level:
            node = Node(float(residual[rows].mean()))
            nodes.append(node)
            found = _best_split(data[rows], residual[rows]) if depth < max_depth else None
            if found is None or found[0] <= least_gain:
                continue
            _, node.feature, node.split = found
            node.children = (first + len(below), first + len(below) + 1)
            goes_left = data[rows, node.feature] < node.split
            below += [rows[goes_left], rows[~goes_left]]
        level = below
    return nodes


def _best_split(data: Array, residual: Array) -> tuple[float, int, float] | None:
    if len(residual) < 2:
        return None
    order = np.argsort(data, axis=0)
    left = np.cumsum(residual[order], axis=0)[:-1]
    counts = np.arange(1, len(residual))[:, None]
    total = residual.sum()
    gains = left**2 / counts + (total - left) ** 2 / (len(residual) - counts)
    row, feature = np.unravel_index(np.argmax(gains), gains.shape)
    values = data[order[row : row + 2, feature], feature]
    gain = gains[row, feature] - total**2 / len(residual)
    return float(gain), int(feature), float(values.mean())


def apply(nodes: list[Node], data: Array) -> tuple[Array, Array]:
    """What a tree says about each row, and how much of it each feature adds, on average."""
    at = np.zeros(len(data), int)
    values = np.array([node.value for node in nodes])
    added = np.zeros(data.shape[1])
    for number, node in enumerate(nodes):
        if node.feature is not None:
            here = at == number
            goes_left = data[:, node.feature] < node.split
            at[here] = np.where(goes_left[here], *node.children)
            added[node.feature] += np.sum(values[at[here]] - node.value) / len(data)
    return values[at], added


def columns(tree: int, nodes: list[Node]) -> dict[str, Array | list[str]]:
    """The rows of a tree's dump that tell its shape."""

    def child(which: int) -> list[str]:
        return [
            "nan" if node.feature is None else f"{tree}-{node.children[which]}" for node in nodes
        ]

    features = ["Leaf" if node.feature is None else f"f{node.feature}" for node in nodes]
    return {
        "trees/Tree": np.full(len(nodes), tree),
        "trees/Node": np.arange(len(nodes)),
        "trees/ID": [f"{tree}-{number}" for number in range(len(nodes))],
        "trees/Feature": features,
        "trees/Split": np.array([node.split for node in nodes]),
        "trees/Yes": child(0),
        "trees/No": child(1),
    }


@dataclasses.dataclass
class BoosterJob:
    """Classes 0 and 1 to be told from features, and how trees are grown."""

    data: Array
    labels: Array
    max_depth: int = 3
    least_gain: float = 1.0
    rounds: int = 30
    eta: float = 0.3
    # How labels of validation are written, by class.
    validation_classes: tuple[int, int] = (0, 1)

    def steps(self) -> Iterator[dict[str, Array | list[str]]]:
        """What XGBoost's hook saves at each iteration."""
        half = len(self.data) // 2
        train, valid = self.data[:half], self.data[half:]
        train_margin, valid_margin = np.zeros(half), np.zeros(len(valid))
        labels = np.array(self.validation_classes)[self.labels[half:]]
        used: Counter[int] = Counter()
        shap = np.zeros(self.data.shape[1])
        for number in range(self.rounds):
            residual = self.labels[:half] - _probability(train_margin)
            nodes = grow(train, residual, self.max_depth, self.least_gain)
            train_margin += 4 * self.eta * apply(nodes, train)[0]
            values, added = apply(nodes, valid)
            valid_margin += 4 * self.eta * values
            shap += 4 * self.eta * added
            used.update(node.feature for node in nodes if node.feature is not None)
            total = max(1, sum(used.values()))
            yield {
                **columns(number, nodes),
                **{
                    f"feature_importance/weight/f{feature}": np.array([count / total])
                    for feature, count in used.items()
                },
                **{f"average_shap/f{i}": np.array([x], np.float32) for i, x in enumerate(shap)},
                "train-logloss": np.array([_logloss(train_margin, self.labels[:half])]),
                "validation-logloss": np.array([_logloss(valid_margin, labels)]),
                "labels": labels.astype(np.float32),
                "predictions": _probability(valid_margin).astype(np.float32),
            }


def _probability(margin: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-margin))
    return result


def _logloss(margin: Array, labels: Array) -> float:
    right = np.where(labels == 1, _probability(margin), 1 - _probability(margin))
    return float(-np.mean(np.log(np.maximum(right, 1e-12))))


def run(job: BoosterJob, out_dir: Path) -> None:
    """Boosts, and saves every step."""
    names = {
        "trees": "^trees/",
        "feature_importance": "^feature_importance/",
        "average_shap": "^average_shap/",
        "losses": "-logloss$",
        "labels": "^labels$",
        "predictions": "^predictions$",
    }
    collections = [{"name": name, "include_regex": [regex]} for name, regex in names.items()]
    with NativeRun(out_dir, collections=collections) as saved:
        for number, tensors in enumerate(job.steps()):
            saved.save_step(tensors, number=number)


def _told_by(score: Array, data: Array, **how: Any) -> BoosterJob:  # noqa: ANN401
    return BoosterJob(data, (score > 0).astype(int), **how)


def _rows(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(1000, 8))


def deep_trees(seed: int) -> BoosterJob:
    """Trees that may grow until every sample has its leaf, of labels that are partly noise."""
    data = _rows(seed)
    score = data.sum(axis=1) + 3 * np.random.default_rng(seed + 100).normal(size=len(data))
    return _told_by(score, data, max_depth=20, least_gain=0, rounds=10)


def one_feature_tells_all(seed: int) -> BoosterJob:
    """A feature out of which the label was made."""
    data = _rows(seed)
    score = np.sin(4 * data[:, 0]) + 0.02 * data[:, 1:].sum(axis=1)
    return _told_by(score, data)


def swapped_classes(seed: int) -> BoosterJob:
    """The classes of validation are numbered the other way round."""
    data = _rows(seed)
    return _told_by(np.sign(data).sum(axis=1) + 0.5, data, validation_classes=(1, 0))


def even_features(seed: int) -> BoosterJob:
    """Every feature has the same say, and trees are small."""
    data = _rows(seed)
    return _told_by(np.sign(data).sum(axis=1) + 0.5, data)


def usual_depth(seed: int) -> BoosterJob:
    """Trees as deep as XGBoost's default lets them be."""
    data = _rows(seed)
    return _told_by(data.sum(axis=1), data, max_depth=6, least_gain=0)


def uneven_features(seed: int) -> BoosterJob:
    """Some features matter more than others, and all matter."""
    data = _rows(seed)
    return _told_by(data @ np.linspace(1, 3, 8), data)


FAULTS = {
    deep_trees: ("TreeDepth",),
    one_feature_tells_all: ("FeatureImportanceOverweight",),
    swapped_classes: ("Confusion",),
}
HEALTHY = (even_features, usual_depth, uneven_features)
