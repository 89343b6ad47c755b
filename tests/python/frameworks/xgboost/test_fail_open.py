"""Whatever fails in the hook, training ends with the same model and the loss is counted."""

from __future__ import annotations

import copy
import ctypes
import pickle
from pathlib import Path
from typing import Any, ClassVar

import pytest
import smdebug.xgboost as smd
import xgboost as xgb
from smdebug.core.hook import BaseHook
from smdebug.exceptions import SMDebugTypeError
from support.fail_open import AtStep, Core, FailOpen, Wrong, ledger_of
from support.xgboost_hooks import MakeHook, ReadRun, matrix, train


class _AtStep(xgb.callback.TrainingCallback):
    """Calls after a round what comes after the hook, though XGBoost 1.7 knows no order."""

    def __init__(self, at_step: AtStep) -> None:
        super().__init__()
        self.at_step = at_step
        self.ended = -1

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        del model, evals_log
        if epoch > 0:
            self.at_step(epoch - 1)
        self.ended = epoch
        return False

    def after_training(self, model: Any) -> Any:
        self.at_step(self.ended)
        return model


def everything(make_hook: MakeHook, **settings: Any) -> smd.Hook:
    data = matrix(50)
    settings = {"train_data": data, "validation_data": data, **settings}
    return make_hook(save_all=True, hyperparameters={"eta": 1}, **settings)


def model(hook: BaseHook | None, at_step: AtStep | None = None) -> bytes:
    callbacks = [] if hook is None else [hook]
    booster = train(callbacks=callbacks + ([] if at_step is None else [_AtStep(at_step)]))
    if hook is not None:
        hook.close()
    return bytes(booster.save_raw())


@pytest.fixture(scope="module")
def bare() -> bytes:
    return model(None)


class TestFailOpen(FailOpen):
    steps = 5
    core_calls = (
        *("Hook", "TensorNames", "XgboostImportance", "xgboost_trees", "built_in_collections"),
        *("unusable_collections", "Hook.add_hints"),
        *("Hook.begin_step", "Hook.are_due", "Hook.due_key", "Hook.end_step"),
        *("Hook.save", "Hook.save_as", "Hook.save_importance", "Hook.save_items"),
        *("Hook.save_many", "Hook.save_numbers", "Hook.set_mode", "Hook.leave_out", "Hook.close"),
        "Hook.flush",
    )

    wrong: ClassVar[Wrong] = {
        "hyperparameters": ({"hyperparameters": "eta"}, SMDebugTypeError, "hyperparameters.*dict"),
    }

    @pytest.fixture
    def make_full_hook(self, make_hook: MakeHook) -> MakeHook:
        return lambda: everything(make_hook)

    def train(self, hook: BaseHook | None, at_step: AtStep | None = None) -> object:
        return model(hook, at_step)


KINDS = {
    *("metrics", "hyperparameters", "predictions", "labels", "feature_importance"),
    *("trees", "full_shap", "average_shap"),
}


def kinds_of(read_run: ReadRun) -> set[str]:
    """Which collections of a run hold something."""
    trial = read_run()
    return {kind for kind in KINDS if trial.tensor_names(collection=kind)}


# What a part of a round asks of the core, and what is lost with it.
PARTS = {
    "Hook.save": {"predictions", "labels"},
    "Hook.save_as": {"full_shap", "average_shap"},
    "Hook.save_importance": {"feature_importance"},
    "Hook.save_items": {"average_shap"},
    "Hook.save_many": {"hyperparameters", "trees"},
    "Hook.save_numbers": {"metrics"},
    "xgboost_trees": {"trees"},
    "XgboostImportance": {"feature_importance"},
}


@pytest.mark.parametrize("call", PARTS)
def test_a_part_that_fails_costs_no_other(
    call: str, make_hook: MakeHook, read_run: ReadRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = everything(make_hook)
    with monkeypatch.context() as patch:
        Core(call).install(patch)
        model(hook)
    assert kinds_of(read_run) == KINDS - PARTS[call]


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
    assert kinds_of(read_run) == KINDS - BOOSTER_CALLS[call]
    assert trial.tensor("train-logloss").steps() == [0, 1, 2, 3, 4]
    assert any("injected" in text for text in ledger_of(run_dir)["messages"].values())


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


def test_what_xgboost_refuses_is_raised_by_a_strict_hook(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_STRICT", "1")
    hook = make_hook(include_collections=["full_shap"], train_data=xgb.DMatrix([[1.0, 2.0]]))
    with pytest.raises(xgb.core.XGBoostError):
        train(hook)


@pytest.mark.parametrize("begun", [False, True])
def test_a_copied_hook_answers_as_the_hook_does(begun: bool, make_hook: MakeHook) -> None:
    hook = make_hook(include_collections=["trees"], hyperparameters={"eta": 0.3})
    if begun:
        train(hook, rounds=1)
    copies = [copy.copy(hook), copy.deepcopy(hook)]
    if begun:  # One that has not begun goes to the workers of a cluster.
        copies.append(pickle.loads(pickle.dumps(hook)))
    for twin in copies:
        for name in ("out_dir", "include_collections", "save_config", "hyperparameters"):
            assert getattr(twin, name) == getattr(hook, name)
        assert twin.get_collections().keys() == hook.get_collections().keys()
        assert (twin.train_data, twin.validation_data) == (None, None)
        assert twin.step == -1
        assert model(twin) == model(None)
        assert set(twin.stats.values()) == {0}
