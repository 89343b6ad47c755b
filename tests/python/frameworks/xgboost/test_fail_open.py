"""Whatever fails in the hook, training ends with the same model and the loss is counted."""

from __future__ import annotations

import ctypes
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import smdebug.xgboost as smd
import xgboost as xgb
from smdebug import _core
from smdebug.core import hook as core_hook
from smdebug.exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError
from support.xgboost_hooks import MakeHook, ReadRun, matrix, train

PARTS = ["_save_metrics", "_save_hyperparameters", "_save_predictions", "_save_labels"]
PARTS += ["_save_importance", "_save_trees", "_save_shap"]


@pytest.fixture(scope="module")
def bare() -> bytes:
    return bytes(train().save_raw())


def model(hook: smd.Hook) -> bytes:
    trained = bytes(train(hook).save_raw())
    hook.close()
    return trained


def everything(make_hook: MakeHook, **settings: Any) -> smd.Hook:
    data = matrix(50)
    settings = {"train_data": data, "validation_data": data, **settings}
    return make_hook(save_all=True, hyperparameters={"eta": 1}, **settings)


class Faulty:
    """The core's hook, of which one call fails."""

    def __init__(self, failing: str, *args: Any) -> None:
        self._failing = failing
        self._hook = _core.Hook(*args)

    def __getattr__(self, name: str) -> Any:
        if name == self._failing:
            raise RuntimeError("injected")
        return getattr(self._hook, name)


class FaultyCore:
    """The extension module, of which one call fails."""

    def __init__(self, failing: str) -> None:
        self._failing = failing

    def __getattr__(self, name: str) -> Any:
        return (
            (lambda *args: Faulty(self._failing, *args)) if name == "Hook" else getattr(_core, name)
        )


CALLS = ["begin_step", "save_items", "save_numbers", "save_importance", "save_as", "save_many"]
CALLS += ["save", "are_due", "due_key", "end_step", "close", "leave_out", "set_mode"]


@pytest.mark.parametrize("call", CALLS)
def test_a_fault_in_a_call_of_the_core(
    call: str, make_hook: MakeHook, bare: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = everything(make_hook)
    monkeypatch.setattr(core_hook, "_core", FaultyCore(call))
    assert model(hook) == bare


BOOSTER_CALLS = {
    "predict": {"predictions", "full_shap", "average_shap"},
    "get_dump": {"trees"},
    "__getitem__": {"trees"},
    "save_config": {"trees", "feature_importance"},
}


def test_xgboost_refuses_to_score_features(
    make_hook: MakeHook, read_run: ReadRun, bare: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: -1)
    monkeypatch.setattr(xgb.core._LIB, "XGBoosterFeatureScore", refuse)
    assert model(everything(make_hook)) == bare
    trial = read_run()
    assert trial.tensor_names(collection="feature_importance") == []
    assert trial.tensor_names(collection="trees")


@pytest.mark.parametrize("call", BOOSTER_CALLS)
def test_a_fault_in_xgboost_costs_only_what_it_is_needed_for(
    call: str,
    make_hook: MakeHook,
    read_run: ReadRun,
    run_dir: Path,
    bare: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if call == "save_config" and int(xgb.__version__.split(".")[0]) < 2:
        pytest.skip("XGBoost 1.7 needs it to train")

    def fail(*args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise RuntimeError("injected")

    hook = everything(make_hook)
    with monkeypatch.context() as patch:
        patch.setattr(xgb.Booster, call, fail)
        booster = train(hook)
    assert bytes(booster.save_raw()) == bare
    trial = read_run()
    kinds = {"metrics", "hyperparameters", "predictions", "labels", "feature_importance"}
    kinds |= {"trees", "full_shap", "average_shap"}
    found = {kind for kind in kinds if trial.tensor_names(collection=kind)}
    assert found == kinds - BOOSTER_CALLS[call]
    assert trial.tensor("train-logloss").steps() == [0, 1, 2, 3, 4]
    ledger = json.loads((run_dir / "ledger/worker_0.json").read_text())
    assert any("injected" in text for text in ledger["messages"].values())


def test_data_that_does_not_fit_the_model(
    make_hook: MakeHook, read_run: ReadRun, bare: bytes
) -> None:
    other = xgb.DMatrix([[1.0, 2.0]], label=[1])
    hook = everything(make_hook, train_data=other, validation_data=matrix(9, feature_names=None))
    assert model(hook) == bare
    trial = read_run()
    assert trial.tensor_names(collection="full_shap") == []
    # Data without names is taken by its columns.
    assert trial.tensor("predictions").value(0).shape == (9,)


def test_a_folder_that_is_removed(make_hook: MakeHook, run_dir: Path, bare: bytes) -> None:
    class Remove(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            del model, evals_log
            if epoch == 1:
                shutil.rmtree(run_dir, ignore_errors=True)
            return False

    booster = train(callbacks=[everything(make_hook), Remove()])
    assert bytes(booster.save_raw()) == bare


def test_a_folder_that_cannot_be_made(make_hook: MakeHook, run_dir: Path, bare: bytes) -> None:
    hook = everything(make_hook)
    run_dir.rmdir()
    run_dir.write_text("a file is in the way")
    assert model(hook) == bare
    assert hook.stats == {}


def test_a_closed_hook_does_nothing(make_hook: MakeHook, bare: bytes) -> None:
    hook = everything(make_hook)
    hook.close()
    assert model(hook) == bare


def test_strict_hooks_raise(make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_STRICT", "1")
    hook = make_hook(include_collections=["full_shap"], train_data=xgb.DMatrix([[1.0, 2.0]]))
    with pytest.raises(xgb.core.XGBoostError):
        train(hook)


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "regex": ({"include_regex": ["("]}, SMDebugValueError, r"\("),
    "save_config": ({"save_config": 5}, SMDebugTypeError, "5"),
    "save_all": ({"save_all": "maybe"}, SMDebugTypeError, "save_all.*maybe"),
    "include_workers": ({"include_workers": "All"}, SMDebugValueError, "include_workers.*All"),
    "rules": ({"rules": ["NoSuchRule"]}, SMDebugError, "NoSuchRule"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_configuration_is_refused_at_once(kind: str, make_hook: MakeHook) -> None:
    arguments, error, text = BAD[kind]
    with pytest.raises(error, match=text):
        make_hook(**arguments)
