#!/usr/bin/env python3
"""Measures what a hook adds to a round of XGBoost; prints one JSON object.

The same file runs where smdebug 2 is installed and where smdebug 1.0 is: 10000 rows of 50
features, one thread. A training alternates between bare rounds, in which a callback that does
nothing takes the hook's place, and rounds with the hook, at all of which something is saved. Where
XGBoost itself computes what is saved, predictions and SHAP values, the bare round computes it
too, so that only what the hook adds is left. Rounds alternate in blocks, as in step_bench.py, and
models are new for each turn, since later rounds score more trees.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("SMDEBUG_LOG_LEVEL", "off")
os.environ.pop("TRAINING_JOB_NAME", None)

import numpy as np
import smdebug.xgboost as smd
import xgboost as xgb

ROWS, FEATURES, ROUNDS = 10_000, 50, 30
SETTINGS = {"objective": "binary:logistic", "max_depth": 6, "tree_method": "hist", "nthread": 1}

Compute = Callable[[Any, Any], Any]


class Configuration(NamedTuple):
    """What a hook saves, and what XGBoost computes for it."""

    name: str
    collections: list[str]
    compute: Compute | None = None


def predict(model: Any, data: Any) -> Any:  # noqa: ANN401
    return model.predict(data)


def explain(model: Any, data: Any) -> Any:  # noqa: ANN401
    return model.predict(data, pred_contribs=True)


CONFIGURATIONS = (
    Configuration("metrics", ["metrics"]),
    Configuration("importance", ["metrics", "feature_importance"]),
    Configuration("predictions", ["predictions", "labels"], predict),
    Configuration("average_shap", ["average_shap"], explain),
    Configuration("full_shap", ["full_shap"], explain),
)


class Bare(xgb.callback.TrainingCallback):
    """What is computed without a hook."""

    def __init__(self, compute: Compute | None, data: Any) -> None:  # noqa: ANN401
        self._compute, self._data = compute, data

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ANN401
        del epoch, evals_log
        if self._compute is not None:
            self._compute(model, self._data)
        return False


def make_data() -> Any:  # noqa: ANN401
    random = np.random.default_rng(0)
    table = random.normal(size=(ROWS, FEATURES)).astype(np.float32)
    labels = (table[:, 0] + table[:, 1] * table[:, 2] + random.normal(size=ROWS) > 0).astype(float)
    return xgb.DMatrix(table, label=labels, nthread=1)


def seconds(data: Any, callback: Any, rounds: int) -> float:  # noqa: ANN401
    """How long a round takes, on average."""
    begin = time.perf_counter()
    xgb.train(
        SETTINGS,
        data,
        rounds,
        evals=[(data, "train")],
        callbacks=[callback],
        verbose_eval=False,
    )
    return (time.perf_counter() - begin) / rounds


def bytes_of_events(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.tfevents"))


def measure(wanted: Configuration, folder: Path, turns: int, rounds: int) -> dict[str, float]:
    data = make_data()
    bare: list[float] = []
    hooked: list[float] = []
    written = 0
    for turn in range(turns):
        out_dir = Path(tempfile.mkdtemp(dir=folder)) / "run"
        hook = smd.Hook(
            out_dir=str(out_dir),
            save_config=smd.SaveConfig(save_interval=1),
            include_collections=wanted.collections,
            train_data=data,
            validation_data=data,
        )
        seconds(data, hook, 2)  # The first round makes the folder of the run.
        for is_hooked in (False, True) if turn % 2 == 0 else (True, False):
            if is_hooked:
                hooked.append(seconds(data, hook, rounds))
            else:
                bare.append(seconds(data, Bare(wanted.compute, data), rounds))
        hook.close()
        smd.del_hook()
        steps = len(list(out_dir.glob("index/*/*.json")))
        # A second training of 1.0 writes over the steps of the first.
        assert rounds <= steps <= rounds + 2, f"{steps} rounds were saved, not {rounds}"
        written = bytes_of_events(out_dir) // steps
    best = min(bare)
    added = statistics.median(hooked) - statistics.median(bare)
    return {
        "percent": 100 * added / statistics.median(bare),
        "percent_spread": 100 * statistics.pstdev(hooked) / best / max(1, turns) ** 0.5,
        "us": 1e6 * added,
        "bare_us": 1e6 * statistics.median(bare),
        "bytes_per_round": written,
        # How many times the bytes of one matrix of SHAP values.
        "matrices": written / (ROWS * (FEATURES + 1) * 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    parser.add_argument("--turns", type=int, default=7, help="pairs of trainings to measure")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each training")
    parser.add_argument("--only", help="the name of one configuration")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        for wanted in CONFIGURATIONS:
            if args.only in (None, wanted.name):
                # 1.0 writes a matrix for each feature.
                rounds = min(args.rounds, 5) if wanted.compute is explain else args.rounds
                figures = measure(wanted, Path(folder), args.turns, rounds)
                results[f"xgboost/{wanted.name}"] = figures
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
