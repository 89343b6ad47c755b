#!/usr/bin/env python3
"""Trains a classifier of three kinds of measurements, and saves what explains it."""

from __future__ import annotations

import argparse

import numpy as np
import smdebug.xgboost as smd
import xgboost as xgb

FEATURES = ["length", "width", "weight", "age", "noise"]


def measure(rows: int, seed: int) -> xgb.DMatrix:
    """Measurements, and which of three kinds each is."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(rows, len(FEATURES)))
    score = table[:, 0] * table[:, 1] + table[:, 2]
    kinds = np.digitize(score, [-0.5, 0.5])
    return xgb.DMatrix(table, label=kinds, feature_names=FEATURES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out-dir", default="runs/classifier")
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    settings = {"objective": "multi:softprob", "num_class": 3, "eta": 0.2, "max_depth": 4}
    train, test = measure(2000, seed=0), measure(500, seed=1)
    hook = smd.Hook(
        out_dir=args.out_dir,
        include_collections=[
            *("hyperparameters", "losses", "predictions", "labels"),
            *("feature_importance", "average_shap", "trees"),
        ],
        hyperparameters=settings,
        train_data=train,
        validation_data=test,
    )
    xgb.train(
        settings,
        train,
        args.steps,
        evals=[(train, "train"), (test, "validation")],
        callbacks=[hook],
        verbose_eval=False,
    )
    hook.close()
    print("Look at it:")
    print(f"  smdebug plot {args.out_dir} validation-mlogloss")
    print(f"  smdebug check {args.out_dir} --rule Confusion --rule CreateXgboostReport")


if __name__ == "__main__":
    main()
