"""One of several processes that train a model together: RANK and MASTER_PORT are variables.

    python -m support.xgboost_job FOLDER

Process 0 also runs XGBoost's tracker. Trains thrice: without a hook, with one that saves one
worker, and with one that saves all. Writes FOLDER/<kind>.model.<rank>, and the runs to
FOLDER/<kind>.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import smdebug.xgboost as smd
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

from support.xgboost_hooks import EVERY_ROUND, matrix, table, train

PROCESSES = 2


def start_tracker(port: int) -> dict[str, Any]:
    """Starts XGBoost's tracker; what tells processes where it is."""
    if int(xgb.__version__.split(".")[0]) < 2:
        old = RabitTracker("127.0.0.1", PROCESSES, port=port)
        old.start(PROCESSES)
        threading.Thread(target=old.join, daemon=True).start()
        return dict(old.worker_envs())
    tracker = RabitTracker(PROCESSES, "127.0.0.1", port=port)
    tracker.start()
    threading.Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


def train_once(folder: str, kind: str) -> None:
    rank = collective.get_rank()
    hooks = []
    if kind != "none":
        hook = smd.Hook(
            f"{folder}/{kind}",
            save_config=EVERY_ROUND,
            include_workers=kind,
            include_collections=["feature_importance", "predictions", "average_shap"],
            train_data=table(40, seed=9),
            validation_data=table(40, seed=9),
        )
        hooks = [hook]
    booster = train(data=matrix(seed=rank), rounds=4, callbacks=hooks)
    for hook in hooks:
        hook.close()
    Path(f"{folder}/{kind}.model.{rank}").write_bytes(booster.save_raw())


def main(folder: str) -> None:
    rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
    if rank == 0:
        arguments = start_tracker(port)
    elif int(xgb.__version__.split(".")[0]) < 2:
        arguments = {"DMLC_TRACKER_URI": "127.0.0.1", "DMLC_TRACKER_PORT": port}
        arguments |= {"DMLC_NUM_WORKER": PROCESSES}
    else:
        arguments = {"dmlc_tracker_uri": "127.0.0.1", "dmlc_tracker_port": port}
    with collective.CommunicatorContext(**arguments, dmlc_retry=100):
        for kind in ("none", "one", "all"):
            train_once(folder, kind)


if __name__ == "__main__":
    main(*sys.argv[1:])
