"""SHAP values: computed once a round, stored once, and averaged by magnitude."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from smdebug import SaveConfig
from support.xgboost_hooks import FEATURES, MakeHook, ReadRun, matrix, train, values


def event_bytes(run_dir: Path) -> int:
    return sum(path.stat().st_size for path in run_dir.glob("events/**/*.tfevents"))


@pytest.mark.parametrize("rows", [3, 2000])
def test_every_name_has_the_matrix_and_its_bytes_are_stored_once(
    rows: int, make_hook: MakeHook, read_run: ReadRun, run_dir: Path
) -> None:
    data = matrix(rows)
    hook = make_hook(include_collections=["full_shap"], train_data=data)
    hook.get_collection("metrics").save_config = SaveConfig(end_step=0)
    booster = train(hook, matrix(2000), rounds=1)
    trial = read_run()
    shap = booster.predict(data, pred_contribs=True)
    assert trial.tensor_names() == [f"full_shap/{name}" for name in sorted(FEATURES)]
    for name in trial.tensor_names():
        saved = trial.tensor(name).value(0)
        assert saved.dtype == np.float32
        assert np.array_equal(saved, shap)
    assert shap.nbytes < event_bytes(run_dir) < 1.05 * shap.nbytes + 200


def test_averages_are_of_magnitudes_and_signed_ones_have_their_own_name(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    data = matrix()
    hook = make_hook(include_collections=["average_shap", "average_shap_signed"], train_data=data)
    booster = train(hook, data, rounds=2)
    trial = read_run()
    shap = booster.predict(data, pred_contribs=True).astype(np.float64)
    for kind, expected in (("average_shap", np.abs(shap)), ("average_shap_signed", shap)):
        saved = values(trial, kind, 1)
        assert set(saved) == {f"{kind}/{name}" for name in FEATURES}
        for name, average in zip(FEATURES, expected.mean(axis=0)):
            value = saved[f"{kind}/{name}"]
            assert (value.shape, value.dtype.name) == ((1,), "float32")
            assert value[0] == pytest.approx(average, rel=1e-5, abs=1e-9)


def test_of_classes(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix(60, classes=3)
    hook = make_hook(include_collections=["full_shap", "average_shap"], train_data=data)
    booster = train(hook, data, rounds=1, objective="multi:softmax", num_class=3)
    trial = read_run()
    shap = booster.predict(data, pred_contribs=True)
    assert shap.shape == (60, 3, len(FEATURES) + 1)
    assert np.array_equal(trial.tensor("full_shap/fa").value(0), shap)
    expected = np.abs(shap[:, :, FEATURES.index("fa")]).mean()
    assert trial.tensor("average_shap/fa").value(0)[0] == pytest.approx(expected, rel=1e-5)


def test_the_bias_comes_only_with_everything(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix(50)
    train(make_hook(save_all=True, train_data=data), data, rounds=1)
    names = read_run().tensor_names(regex="bias$")
    assert names == ["average_shap/bias", "average_shap_signed/bias", "full_shap/bias"]


def test_shap_values_are_computed_once_a_round_and_only_if_due(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    predict = xgb.Booster.predict

    def counted(self: xgb.Booster, *args: Any, **kwargs: Any) -> Any:
        computed.append(kwargs.get("pred_contribs", False))
        return predict(self, *args, **kwargs)

    monkeypatch.setattr(xgb.Booster, "predict", counted)
    data = matrix(50)
    hook = make_hook(include_collections=["full_shap", "average_shap"], train_data=data)
    hook.get_collection("full_shap").save_config = SaveConfig(save_interval=2)
    hook.get_collection("average_shap").save_config = SaveConfig(save_interval=4)
    train(hook, data, rounds=8)
    assert computed == [True] * 4
