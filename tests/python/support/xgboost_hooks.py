"""What tests of the XGBoost hook share: types of fixtures, data, and a training."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import smdebug.xgboost as smd
import xgboost as xgb
from numpy.typing import NDArray
from smdebug.trials import Trial

MakeHook = Callable[..., smd.Hook]
ReadRun = Callable[[], Trial]
Array = NDArray[Any]

EVERY_ROUND = smd.SaveConfig(save_interval=1)

# Of those that end in b, i, a or s, smdebug 1.0 loses the SHAP values.
FEATURES = ["radius", "fa", "ab", "phi", "plain", "bias_2"]


def table(rows: int = 200, classes: int = 2, seed: int = 0) -> tuple[Array, Array]:
    """Features, and labels that follow from some of them."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, len(FEATURES))).astype(np.float32)
    score = features[:, 0] + 0.5 * features[:, 1] * features[:, 2]
    edges = np.quantile(score, np.arange(1, classes) / classes)
    return features, np.digitize(score, edges).astype(np.float32)


def matrix(rows: int = 200, classes: int = 2, seed: int = 0, **options: Any) -> xgb.DMatrix:
    """The same for XGBoost."""
    features, labels = table(rows, classes, seed)
    options.setdefault("feature_names", FEATURES)
    return xgb.DMatrix(features, label=labels, **options)


def train(
    hook: Any = None,
    data: xgb.DMatrix | None = None,
    rounds: int = 5,
    evals: str = "train",
    **settings: Any,
) -> xgb.Booster:
    """A small model; `settings` are XGBoost's, except `callbacks` and `options` of train()."""
    options = settings.pop("options", {})
    callbacks = settings.pop("callbacks", [] if hook is None else [hook])
    data = matrix() if data is None else data
    settings.setdefault("objective", "binary:logistic")
    if settings.get("booster") != "gblinear":
        settings.setdefault("max_depth", 3)
    settings = {"nthread": 1, "seed": 7, **settings}
    return xgb.train(
        settings,
        data,
        rounds,
        evals=[(data, evals)],
        callbacks=callbacks,
        verbose_eval=False,
        **options,
    )


def values(trial: Trial, collection: str, step: int) -> dict[str, Array]:
    """What a collection holds at a step, by name."""
    names = trial.tensor_names(collection=collection, step=step)
    return {name: trial.tensor(name).value(step) for name in names}
