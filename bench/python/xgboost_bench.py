#!/usr/bin/env python3
"""Measures what a hook adds to a round of XGBoost; prints one JSON object.

The same file runs where smdebug 2 is installed and where smdebug 1.0 is: 10000 rows of 50
features, one thread. Rounds of one training alternate between bare ones, in which nothing takes
the hook's place, and ones with the hook, at all of which something is saved. Where XGBoost itself
computes what is saved, predictions and SHAP values, the bare round computes it too, so that only
what the hook adds is left. Which rounds have the hook changes from training to training: each
training grows the same trees, so that a round with the hook is compared with the same round without
it. The first two rounds are not measured: they make the run's folder.
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


class Alternating(xgb.callback.TrainingCallback):
    """Calls a hook in every other round, and times the rounds."""

    def __init__(
        self,
        hook: Any,  # noqa: ANN401
        compute: Compute | None,
        data: Any,  # noqa: ANN401
        turn: int,
    ) -> None:
        self._hook, self._compute, self._data = hook, compute, data
        self._turn = turn
        self._last = 0.0
        self.seconds: list[float] = []

    def before_training(self, model: Any) -> Any:  # noqa: ANN401
        return self._hook.before_training(model)

    def after_training(self, model: Any) -> Any:  # noqa: ANN401
        return self._hook.after_training(model)

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ANN401
        if self.is_hooked(epoch):
            self._hook.before_iteration(model, epoch, evals_log)
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ANN401
        if self.is_hooked(epoch):
            self._hook.after_iteration(model, epoch, evals_log)
        elif self._compute is not None:
            self._compute(model, self._data)
        now = time.perf_counter()
        self.seconds.append(now - self._last)
        self._last = now
        return False

    def is_hooked(self, epoch: int) -> bool:
        return (epoch + self._turn) % 2 == 0


def make_data() -> Any:  # noqa: ANN401
    random = np.random.default_rng(0)
    table = random.normal(size=(ROWS, FEATURES)).astype(np.float32)
    labels = (table[:, 0] + table[:, 1] * table[:, 2] + random.normal(size=ROWS) > 0).astype(float)
    return xgb.DMatrix(table, label=labels, nthread=1)


def train(data: Any, callback: Any, rounds: int) -> None:  # noqa: ANN401
    xgb.train(
        SETTINGS,
        data,
        rounds,
        evals=[(data, "train")],
        callbacks=[callback],
        verbose_eval=False,
    )


def bytes_of_events(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.tfevents"))


def measure(wanted: Configuration, folder: Path, turns: int, rounds: int) -> dict[str, float]:
    data = make_data()
    # The times of each round: without the hook, and with it.
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in range(rounds)]
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
        callback = Alternating(hook, wanted.compute, data, turn)
        train(data, callback, rounds)
        hook.close()
        smd.del_hook()
        for epoch, seconds in enumerate(callback.seconds):
            times[epoch][callback.is_hooked(epoch)].append(seconds)
        steps = len(list(out_dir.glob("index/*/*.json")))
        # 1.0 saves the last round too.
        assert rounds // 2 <= steps <= rounds // 2 + 1, f"{steps} of {rounds} rounds were saved"
        written = bytes_of_events(out_dir) // steps
    pairs = [tuple(map(statistics.median, pair)) for pair in times[2:]]
    bare = statistics.mean(without for without, _ in pairs)
    added = [hooked - without for without, hooked in pairs]
    error = statistics.stdev(added) / len(added) ** 0.5
    return {
        "percent": 100 * statistics.mean(added) / bare,
        "percent_spread": 100 * error / bare,
        "us": 1e6 * statistics.mean(added),
        "bare_us": 1e6 * bare,
        "bytes_per_round": written,
        # How many times the bytes of one matrix of SHAP values.
        "matrices": written / (ROWS * (FEATURES + 1) * 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    parser.add_argument("--turns", type=int, default=20, help="trainings to measure, at least 2")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each training")
    parser.add_argument("--only", help="the name of one configuration")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        for wanted in CONFIGURATIONS:
            if args.only in (None, wanted.name):
                # 1.0 writes a matrix for each feature.
                rounds = min(args.rounds, 8) if wanted.compute is explain else args.rounds
                figures = measure(wanted, Path(folder), args.turns, rounds)
                results[f"xgboost/{wanted.name}"] = figures
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
