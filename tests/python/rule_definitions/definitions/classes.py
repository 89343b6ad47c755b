"""Rules about labels and predictions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from rule_definitions.definitions.run import Array, Pick, Run, Step


def _rounded(value: Array) -> Array:
    return np.floor(value.astype(np.float64) + 0.5).astype(np.int64)


@dataclass
class _Counts:
    labels: Counter[int] = field(default_factory=Counter)
    predicted: Counter[int] = field(default_factory=Counter)
    wrong: Counter[int] = field(default_factory=Counter)


def class_imbalance(
    run: Run,
    pick_labels: Pick,
    pick_predictions: Pick,
    threshold_imbalance: float = 10,
    threshold_misprediction: float = 0.7,
    samples: int = 500,
    argmax: bool = False,
) -> list[int]:
    """A class is rare, or mostly mispredicted, since the beginning of its mode."""
    modes: dict[str, _Counts] = {}
    fired = []
    for number, step in run.items():
        found = _first(step, pick_labels)
        if found is None:
            continue
        labels = _labels(found)
        counts = modes.setdefault(step.mode, _Counts())
        counts.labels.update(labels.tolist())
        scores = _first(step, pick_predictions)
        predictions = None if scores is None else _predictions(scores, argmax)
        if predictions is not None and len(predictions) == len(labels):
            counts.predicted.update(labels.tolist())
            counts.wrong.update(labels[labels != predictions].tolist())
        if counts.labels.total() < samples:
            continue
        sizes = counts.labels.values()
        if max(sizes) / min(sizes) > threshold_imbalance or any(
            counts.wrong[label] / size > threshold_misprediction
            for label, size in counts.predicted.items()
        ):
            fired.append(number)
    return fired


def _first(step: Step, pick: Pick) -> Array | None:
    names = sorted(name for name in step.tensors if pick(name))
    return step.tensors[names[0]] if names else None


def _labels(value: Array) -> Array:
    if value.ndim == 2 and value.shape[1] > 1:
        return np.asarray(np.argmax(value, axis=1))
    return value.astype(np.int64).ravel()


def _predictions(value: Array, argmax: bool) -> Array:
    if argmax:
        return np.asarray(np.argmax(value, axis=-1)).ravel()
    is_real = np.issubdtype(value.dtype, np.floating)
    if is_real and np.all((value >= 0) & (value <= 1)):
        return _rounded(value).ravel()
    return value.astype(np.int64).ravel()


def confusion(
    run: Run,
    category_no: int | None = None,
    min_diag: float = 0.9,
    max_off_diag: float = 0.1,
) -> list[int]:
    """Of what was predicted as a class too little is, or too much is one other class.

    Labels are the tensor `labels`, else those of `labels/...`; predictions likewise.
    """
    fired = []
    for number, step in run.items():
        labels, scores = _joined(step, "labels"), _joined(step, "predictions")
        if not labels or not scores:
            continue
        true = np.concatenate([_rounded(value).ravel() for value in labels])
        predicted = np.concatenate([_category(value) for value in scores])
        known = category_no or 1 + max(true.max(initial=-1), predicted.max(initial=-1))
        matrix = np.zeros((known, known), np.int64)
        for label, prediction in zip(true, predicted):
            if 0 <= label < known and 0 <= prediction < known:
                matrix[label, prediction] += 1
        if not all(
            _is_healthy(matrix[:, i], i, bool(matrix[i].sum()), min_diag, max_off_diag)
            for i in range(known)
        ):
            fired.append(number)
    return fired


def _joined(step: Step, name: str) -> list[Array]:
    if name in step.tensors:
        return [step.tensors[name]]
    names = sorted(other for other in step.tensors if other.startswith(name + "/"))
    return [step.tensors[other] for other in names]


def _category(value: Array) -> Array:
    if value.ndim == 2 and value.shape[1] > 1:
        return np.asarray(np.argmax(value, axis=1))
    return _rounded(value).ravel()


def _is_healthy(
    column: Array, own: int, has_labels: bool, min_diag: float, max_off_diag: float
) -> bool:
    total = column.sum()
    if total == 0:
        return not has_labels or min_diag <= 0
    others = np.delete(column, own)
    return bool(column[own] / total >= min_diag and np.all(others / total <= max_off_diag))
