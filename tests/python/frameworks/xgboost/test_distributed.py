"""Jobs of several processes: over XGBoost's collective, and over Dask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.xgboost as smd
from smdebug.exceptions import NoMoreData
from smdebug.trials import Trial
from support.scripts import WarmPython, run_job
from support.xgboost_hooks import EVERY_ROUND, FEATURES, table

PROCESSES = 2


def open_run(run: Path) -> Trial:
    trial = smd.create_trial(str(run))
    trial.training_end_delay_refresh = 0.01
    with pytest.raises(NoMoreData):
        trial.wait_for_steps([1000])  # The run was ended properly.
    return trial


def test_one_or_all_workers_over_the_collective(python: WarmPython, tmp_path: Path) -> None:
    run_job(python, ["-m", "support.xgboost_job", str(tmp_path)], tmp_path, PROCESSES)
    bare = (tmp_path / "none.model.0").read_bytes()
    for include_workers, workers in (("one", ["worker_0"]), ("all", ["worker_0", "worker_1"])):
        for rank in range(PROCESSES):
            assert (tmp_path / f"{include_workers}.model.{rank}").read_bytes() == bare
        trial = open_run(tmp_path / include_workers)
        assert sorted(trial.workers()) == workers
        assert trial.steps() == [0, 1, 2, 3]
        for name in ("train-logloss", "predictions", "average_shap/radius"):
            assert sorted(trial.tensor(name).workers(3)) == workers
        values = [trial.tensor("predictions").value(3, worker=worker) for worker in workers]
        assert all(np.array_equal(value, values[0]) for value in values)


@pytest.mark.filterwarnings("default")
def test_one_or_all_workers_over_dask(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")
    xgboost_dask = pytest.importorskip("xgboost.dask")
    features, labels = table(400)
    settings: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    cluster = distributed.LocalCluster(
        n_workers=PROCESSES, threads_per_worker=1, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        data = xgboost_dask.DaskDMatrix(
            client,
            array.from_array(features, chunks=(200, len(FEATURES))),
            array.from_array(labels, chunks=200),
            feature_names=FEATURES,
        )
        for include_workers, workers in (("one", ["worker_0"]), ("all", ["worker_0", "worker_1"])):
            hook = smd.Hook(
                str(tmp_path / include_workers),
                save_config=EVERY_ROUND,
                include_workers=include_workers,
                include_collections=["predictions", "feature_importance"],
                validation_data=(features[:30], labels[:30]),
            )
            rarely = smd.SaveConfig(save_interval=2)
            hook.get_collection("feature_importance").save_config = rarely
            result = xgboost_dask.train(
                client, settings, data, 4, evals=[(data, "train")], callbacks=[hook]
            )
            hook.close()  # It went to the workers, which have ended the run.
            check_dask_run(tmp_path / include_workers, workers, result["history"])


def check_dask_run(run: Path, workers: list[str], history: dict[str, Any]) -> None:
    trial = open_run(run)
    assert sorted(trial.workers()) == workers
    assert trial.steps() == [0, 1, 2, 3]
    metric = trial.tensor("train-logloss")
    assert [metric.value(step)[0] for step in range(4)] == history["train"]["logloss"]
    assert trial.tensor("predictions").value(3).shape == (30,)
    names = trial.tensor_names(collection="feature_importance")
    assert names
    assert all(set(trial.tensor(name).steps()) <= {0, 2} for name in names)
