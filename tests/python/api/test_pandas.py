"""Runs as tables."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import InvalidWorker
from smdebug.trials import create_trial
from support.log import logged
from support.native_run import NativeRun, make_run


def test_a_trial_is_a_long_table(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    table = create_trial(make_run(tmp_path / "run", steps=3)).to_pandas()
    assert list(table.columns) == ["step", "mode", "mode_step", "worker", "tensor", "value"]
    assert len(table) == 9
    losses = table[table.tensor == "loss"]
    assert losses.step.tolist() == [0, 1, 2]
    assert losses["mode"].tolist() == ["TRAIN", "TRAIN", "EVAL"]
    assert losses.mode_step.tolist() == [0, 1, 0]
    assert losses.worker.unique().tolist() == ["worker_0"]
    assert losses.value.tolist() == [1, 1 / 2, 1 / 3]
    assert table[table.tensor == "fc.weight"].value.isna().all()


def test_a_table_of_what_matches_nothing_is_told_of(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    trial = create_trial(make_run(tmp_path / "run"))
    with logged() as texts:
        assert trial.to_pandas(collection="lossse").empty
        assert trial.to_pandas(regex="^fc.wieght").empty
    assert [text[text.index("did you") :] for text in texts] == [
        "did you mean 'losses'?",
        "did you mean 'weight'?",
    ]


def test_tables_of_some_tensors_modes_and_reductions(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    trial = create_trial(make_run(tmp_path / "run", steps=3))
    table = trial.to_pandas(mode=ModeKeys.EVAL, regex="^fc", reductions=["max", "abs_mean"])
    assert table.to_dict("records") == [
        {
            "step": 2,
            "mode": "EVAL",
            "mode_step": 0,
            "worker": "worker_0",
            "tensor": "fc.weight",
            "value": pytest.approx(math.nan, nan_ok=True),
            "max": 10.0,
            "abs_mean": 5.0,
        }
    ]
    assert len(trial.to_pandas(collection="losses")) == 3
    assert len(trial.to_pandas(regex="nothing")) == 0


def test_saved_reductions_are_columns(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    config = {"reductions": "min,abs_max", "save_raw_tensor": False}
    folder = tmp_path / "run"
    first = NativeRun(folder, "worker_0", 2, reduction_config=config)
    second = NativeRun(folder, "worker_1", 2, reduction_config=config)
    with first, second:
        first.save_step({"x": np.array([-3.0, 2.0])})
        second.save_step({"x": np.array([-5.0, 7.0])})
    x = create_trial(folder).tensor("x")
    table = x.to_pandas(reductions=["std"])
    assert table["worker"].tolist() == ["worker_0", "worker_1"]
    assert table["min"].tolist() == [-3, -5]
    assert table["abs_max"].tolist() == [3, 7]
    assert table["std"].isna().all()
    assert x.to_pandas(worker="worker_1")["min"].tolist() == [-5]
    with pytest.raises(InvalidWorker):
        x.to_pandas(worker="worker_7")


def test_without_pandas_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = create_trial(make_run(tmp_path / "run"))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        trial.to_pandas()
