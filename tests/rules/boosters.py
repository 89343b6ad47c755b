"""Boosters of XGBoost that go wrong, and that go well."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Callable

import numpy as np
import smdebug.xgboost as smd
import xgboost as xgb
from numpy.typing import NDArray

Array = NDArray[Any]
ROWS = 1000


@dataclasses.dataclass
class BoosterJob:
    """Data, of which the second half is for validation, and how trees are boosted."""

    features: Array
    labels: Array
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    rounds: int = 30
    # Rows to train on; half of all if it is not given.
    train_rows: int | None = None
    # What the labels of validation are, if they are not right.
    validation_labels: Array | None = None


def run(job: BoosterJob, out_dir: Path) -> None:
    """Boosts, and saves every round."""
    half = len(job.labels) // 2
    rows = job.train_rows or half
    labels = job.labels if job.validation_labels is None else job.validation_labels
    train = xgb.DMatrix(job.features[:rows], job.labels[:rows])
    validation = xgb.DMatrix(job.features[half:], labels[half:])
    hook = smd.Hook(
        str(out_dir),
        save_config=smd.SaveConfig(save_interval=1),
        include_collections=[
            "losses",
            "predictions",
            "labels",
            "feature_importance",
            "average_shap",
            "trees",
        ],
        train_data=train,
        validation_data=validation,
    )
    # It tells which features there are.
    hook.get_collection("average_shap").save_config = smd.SaveConfig(save_interval=10)
    settings = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, **job.settings}
    xgb.train(
        settings,
        train,
        job.rounds,
        evals=[(train, "train"), (validation, "validation")],
        callbacks=[hook],
        verbose_eval=False,
    )
    hook.close()
    smd.del_hook()


def _rows(seed: int, rows: int = ROWS, columns: int = 8) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


def _noise(seed: int, rows: int = ROWS) -> Array:
    return np.random.default_rng(seed + 100).normal(size=rows)


def _two(score: Array) -> Array:
    return (score > 0).astype(np.float32)


def _many(score: Array, parts: list[float]) -> Array:
    """Classes of those parts of the rows, by the size of the score."""
    edges = np.quantile(score, np.cumsum(parts)[:-1])
    return np.digitize(score, edges).astype(np.float32)


# What goes wrong.


def deep_trees(seed: int) -> BoosterJob:
    """Trees that may grow until every sample has its leaf, of labels that are partly noise."""
    data = _rows(seed)
    settings = {"max_depth": 20, "min_child_weight": 0, "lambda": 0}
    return BoosterJob(data, _two(data.sum(axis=1) + 3 * _noise(seed)), settings, rounds=10)


def one_feature_tells_all(seed: int) -> BoosterJob:
    """A feature out of which the label was made."""
    data = _rows(seed)
    return BoosterJob(data, _two(np.sin(4 * data[:, 0]) + 0.02 * data[:, 1:].sum(axis=1)))


def swapped_classes(seed: int) -> BoosterJob:
    """The classes of validation are numbered the other way round."""
    data = _rows(seed)
    labels = _two(np.sign(data).sum(axis=1) + 0.5)
    return BoosterJob(data, labels, validation_labels=1 - labels)


def rare_class(seed: int) -> BoosterJob:
    """Of one class there is next to nothing."""
    data = _rows(seed)
    labels = _many(data.sum(axis=1) + 0.3 * _noise(seed), [0.495, 0.495, 0.01])
    return BoosterJob(data, labels, {"objective": "multi:softprob", "num_class": 3})


def sixty_samples(seed: int) -> BoosterJob:
    """Sixty samples are learned by heart."""
    data = _rows(seed)
    labels = _two(data.sum(axis=1) + 2 * _noise(seed))
    return BoosterJob(data, labels, {"eta": 0.3, "max_depth": 6}, rounds=60, train_rows=60)


def no_learning_rate(seed: int) -> BoosterJob:
    """A learning rate of zero."""
    data = _rows(seed)
    return BoosterJob(data, _two(data.sum(axis=1)), {"eta": 0}, rounds=40)


def lost_labels(seed: int) -> BoosterJob:
    """All labels of validation are zero: their column was not there."""
    data = _rows(seed)
    labels = _two(data.sum(axis=1))
    return BoosterJob(data, labels, validation_labels=np.zeros_like(labels))


# What goes well.


def even_features(seed: int) -> BoosterJob:
    """Every feature has the same say, and trees are small."""
    data = _rows(seed)
    return BoosterJob(data, _two(np.sign(data).sum(axis=1) + 0.5))


def usual_depth(seed: int) -> BoosterJob:
    """Trees as deep as XGBoost's default lets them be."""
    data = _rows(seed, rows=6000)
    return BoosterJob(data, _two(data.sum(axis=1)), {"max_depth": 6, "eta": 0.1})


def uneven_features(seed: int) -> BoosterJob:
    """Some features matter more than others, and all matter."""
    data = _rows(seed, rows=4000)
    return BoosterJob(data, _two(data @ np.linspace(1, 3, 8)), {"eta": 0.1})


def three_classes(seed: int) -> BoosterJob:
    """Classes of somewhat different size."""
    data = _rows(seed, rows=6000)
    labels = _many(data.sum(axis=1), [0.5, 0.3, 0.2])
    settings = {"objective": "multi:softprob", "num_class": 3, "eta": 0.1}
    return BoosterJob(data, labels, settings)


def uncertain_task(seed: int) -> BoosterJob:
    """Labels that are mostly noise, boosted with care."""
    data = _rows(seed, rows=6000)
    labels = _two(data.sum(axis=1) + 6 * _noise(seed, 6000))
    return BoosterJob(data, labels, {"eta": 0.05, "max_depth": 2}, rounds=40)


def easy_task(seed: int) -> BoosterJob:
    """Several features tell the same, and each tells all: the losses are soon near zero."""
    sign = np.random.default_rng(seed).choice([-1.0, 1.0], size=(ROWS, 1))
    data = (sign * 3 + 0.3 * _rows(seed + 50)).astype(np.float32)
    return BoosterJob(data, _two(sign[:, 0]), {"colsample_bynode": 0.25, "seed": seed})


def subsampled(seed: int) -> BoosterJob:
    """Each tree sees a tenth of the rows, so that the loss jumps."""
    data = _rows(seed, rows=4000)
    settings = {"eta": 0.1, "subsample": 0.1, "seed": seed}
    return BoosterJob(data, _two(data.sum(axis=1) + _noise(seed, 4000)), settings, rounds=40)


FAULTS: dict[Callable[[int], BoosterJob], tuple[str, ...]] = {
    deep_trees: ("TreeDepth",),
    one_feature_tells_all: ("FeatureImportanceOverweight",),
    swapped_classes: ("Confusion",),
    rare_class: ("ClassImbalance",),
    sixty_samples: ("Overfit", "Overtraining"),
    no_learning_rate: ("LossNotDecreasing",),
    lost_labels: ("AllZero",),
}
HEALTHY: tuple[Callable[[int], BoosterJob], ...] = (
    even_features,
    usual_depth,
    uneven_features,
    three_classes,
    uncertain_task,
    easy_task,
    subsampled,
)
