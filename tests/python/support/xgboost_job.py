"""One of several processes that train a model together: RANK, JOB, PORT come as variables.

    python -m support.xgboost_job RUN include_workers

Process 0 also runs XGBoost's tracker. Writes the model to RUN.model.<rank>.
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


def main(run: str, include_workers: str) -> None:
    rank, port = int(os.environ["RANK"]), int(os.environ["JOB_PORT"])
    if rank == 0:
        arguments = start_tracker(port)
    elif int(xgb.__version__.split(".")[0]) < 2:
        arguments = {"DMLC_TRACKER_URI": "127.0.0.1", "DMLC_TRACKER_PORT": port}
        arguments |= {"DMLC_NUM_WORKER": PROCESSES}
    else:
        arguments = {"dmlc_tracker_uri": "127.0.0.1", "dmlc_tracker_port": port}
    with collective.CommunicatorContext(**arguments, dmlc_retry=100):
        data = matrix(seed=collective.get_rank())
        hooks = []
        if include_workers != "none":
            hook = smd.Hook(
                run,
                save_config=EVERY_ROUND,
                include_workers=include_workers,
                include_collections=["feature_importance", "predictions", "average_shap"],
                train_data=table(40, seed=9),
                validation_data=table(40, seed=9),
            )
            hooks = [hook]
        booster = train(data=data, rounds=4, callbacks=hooks)
        for hook in hooks:
            hook.close()
        Path(f"{run}.model.{collective.get_rank()}").write_bytes(booster.save_raw())


if __name__ == "__main__":
    main(*sys.argv[1:])
