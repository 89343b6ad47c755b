"""What both hooks are tried with."""

from __future__ import annotations

import copy
from typing import Any

EVERYTHING = [
    *("hyperparameters", "metrics", "losses", "predictions", "labels", "feature_importance"),
    *("trees", "full_shap", "average_shap"),
]

PLAN: dict[str, Any] = {
    "features": ["one", "two", "three", "four"],
    "settings": {"objective": "binary:logistic"},
    "rounds": 4,
    "evals": ["train", "test"],
    "hook": {"save_interval": 1, "include_collections": EVERYTHING},
}


def plan(**changes: Any) -> dict[str, Any]:
    made = copy.deepcopy(PLAN)
    for key, value in changes.items():
        if isinstance(value, dict):
            made[key] = {**made[key], **value}
        else:
            made[key] = value
    return made


HYPERPARAMETERS = {"eta": 0.3, "depth": 3, "name": "x", "list": [1, 2], "on": True}

PLANS: dict[str, dict[str, Any]] = {
    "everything": plan(hook={"hyperparameters": HYPERPARAMETERS}),
    "defaults": {**plan(rounds=12), "hook": {}},
    "everything by default": {**plan(), "hook": {"save_all": True, "save_interval": 2}},
    "dart": plan(settings={"booster": "dart"}),
    "rmse": plan(settings={"objective": "reg:squarederror", "eval_metric": ["rmse", "mae"]}),
    "auc": plan(settings={"eval_metric": ["auc", "logloss"]}),
    "averages": plan(hook={"include_collections": ["average_shap", "average_shap_signed"]}),
    "names of metrics": plan(
        evals=["validation_0", "test"],
        settings={"eval_metric": ["error@0.3", "aucpr", "logloss"]},
    ),
    "names of features": plan(features=["fa", "radius", "ab", "phi", "plain"]),
    "classes": plan(settings={"objective": "multi:softprob", "num_class": 3}),
    "folds": {**plan(hook={"include_collections": []}), "cv": True},
    "regex": plan(hook={"include_collections": [], "include_regex": ["gain/one", "logloss"]}),
}
