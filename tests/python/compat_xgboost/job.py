"""Trains with a hook, or tells what a run holds; runs with smdebug 1.0 and with ours alike.

python job.py train PLAN RUN
python job.py tell RUN      # prints {name: {step: [dtype, shape, values]}} as JSON
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

warnings.simplefilter("ignore")

import smdebug.xgboost as smd  # noqa: E402
import xgboost as xgb  # noqa: E402


def table(plan: dict[str, Any]) -> xgb.DMatrix:
    random = np.random.default_rng(3)
    names = plan["features"]
    features = random.normal(size=(60, len(names))).astype(np.float32)
    classes = plan["settings"].get("num_class", 2)
    score = features[:, 0] + features[:, 1] * features[:, 2]
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return xgb.DMatrix(features, label=labels, feature_names=names)


def train(plan: dict[str, Any], run: str) -> None:
    data = table(plan)
    options = dict(plan["hook"])
    if "save_interval" in options:
        options["save_config"] = smd.SaveConfig(save_interval=options.pop("save_interval"))
    hook = smd.Hook(out_dir=run, train_data=data, validation_data=data, **options)
    settings = {"nthread": 1, "max_depth": 3, "seed": 1, **plan["settings"]}
    if plan.get("cv"):
        xgb.cv(settings, data, plan["rounds"], nfold=3, callbacks=[hook], as_pandas=False)
    else:
        evals = [(data, name) for name in plan["evals"]]
        xgb.train(settings, data, plan["rounds"], evals=evals, callbacks=[hook], verbose_eval=False)
    hook.close()


def tell(run: str) -> dict[str, Any]:
    """Type, shape and values of each tensor by step, and the names in each collection."""
    trial = smd.create_trial(run)
    told: dict[str, Any] = {}
    for name in trial.tensor_names():
        tensor = trial.tensor(name)
        told[name] = {}
        for step in tensor.steps():
            value = np.asarray(tensor.value(step))
            kind = "text" if value.dtype.kind == "U" else value.dtype.name
            told[name][str(step)] = [kind, list(value.shape), value.ravel().tolist()]
    collections = {
        name: sorted(trial.tensor_names(collection=name)) for name in trial.collections()
    }
    return {"tensors": told, "collections": collections}


def main(command: str, folder: str) -> None:
    if command == "train":
        for name, plan in json.load(sys.stdin).items():
            train(plan, f"{folder}/{name}")
    else:
        told = {path.name: tell(str(path)) for path in Path(folder).iterdir()}
        print("told:" + json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
