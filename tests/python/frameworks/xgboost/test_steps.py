"""Which rounds are steps, and in what ways XGBoost may run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smdebug.xgboost as smd
import xgboost as xgb
from support.waiting import wait_until
from support.xgboost_hooks import MakeHook, ReadRun, matrix, table, train

NO_ORDER = int(xgb.__version__.split(".")[0]) < 2


def test_every_tenth_round_unless_told_otherwise(run_dir: Path, read_run: ReadRun) -> None:
    hook = smd.Hook(str(run_dir), include_collections=["feature_importance"])
    for schedule in (hook.save_config, hook.get_collection("losses").save_config):
        assert schedule is not None
        assert schedule.get_save_config(smd.modes.GLOBAL).save_interval == 10
    train(hook, rounds=25)
    trial = read_run()
    assert trial.steps() == [0, 10, 20]
    assert not trial.modes()
    names = trial.tensor_names(collection="feature_importance")
    assert names
    assert {trial.tensor(name).steps()[-1] for name in names} == {20}


@pytest.mark.parametrize("own", [{}, {"save_interval": "5"}])
def test_the_same_from_json(own: dict[str, str], tmp_path: Path, read_run: ReadRun) -> None:
    config = {
        "S3OutputPath": "s3://bucket/prefix",
        "LocalPath": str(tmp_path / "run"),
        "HookParameters": own,
        "CollectionConfigurations": [{"CollectionName": "feature_importance"}],
    }
    path = tmp_path / "hook.json"
    path.write_text(json.dumps(config))
    hook = smd.Hook.hook_from_config(str(path))
    assert smd.get_hook() is hook
    train(hook, rounds=11)
    trial = read_run()
    assert trial.steps() == ([0, 5, 10] if own else [0, 10])
    assert trial.tensor_names(collection="feature_importance")


@pytest.mark.skipif(NO_ORDER, reason="XGBoost 1.7 calls callbacks in any order")
def test_files_are_there_when_the_round_is_over(make_hook: MakeHook, run_dir: Path) -> None:
    seen = []

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            del model, epoch, evals_log
            # The hook's own thread writes.
            wait_until(lambda: bool(smd.create_trial(str(run_dir)).tensor_names()))
            seen.append(smd.create_trial(str(run_dir)).steps()[-1])
            return False

    train(callbacks=[make_hook(), Look()], rounds=1)
    assert seen == [0]


def test_the_end_of_a_training_publishes_all_its_rounds(make_hook: MakeHook, run_dir: Path) -> None:
    hook = make_hook(save_all=True, validation_data=matrix(rows=20_000))
    train(hook, rounds=1)
    before = smd.create_trial(str(run_dir))
    for last in (100, 200):
        train(hook, rounds=100)
        # Before a trial asks the writer for what is not there yet.
        assert len(list(run_dir.glob("index/**/*.json"))) == last + 1
        assert smd.create_trial(str(run_dir)).steps() == list(range(last + 1))
        assert before.steps() == list(range(last + 1))


def test_modes(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook()
    hook.set_mode(smd.modes.TRAIN)
    train(hook, rounds=3)
    trial = read_run()
    assert trial.steps(mode=smd.modes.TRAIN) == [0, 1, 2]
    assert list(trial.modes()) == [smd.modes.TRAIN]


def test_a_second_training_goes_on_counting(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["trees"])
    before = train(hook, rounds=3)
    train(hook, rounds=2, options={"xgb_model": before})
    trial = read_run()
    assert trial.steps() == [0, 1, 2, 3, 4]
    assert [set(trial.tensor("trees/Tree").value(s)) for s in range(5)] == [{s} for s in range(5)]


@pytest.mark.parametrize("first", ["hook", "stopping"])
@pytest.mark.parametrize("save_best", [False, True])
def test_early_stopping_loses_no_round(
    first: str, save_best: bool, make_hook: MakeHook, read_run: ReadRun
) -> None:
    def worse(predicted: Any, data: xgb.DMatrix) -> tuple[str, float]:
        del predicted, data
        return "worse", float(next(numbers))

    numbers = iter([5, 4, 6, 7, 8, 9, 10])
    hook = make_hook(include_collections=["trees"])
    stopping = xgb.callback.EarlyStopping(rounds=2, metric_name="worse", save_best=save_best)
    callbacks = [hook, stopping] if first == "hook" else [stopping, hook]
    booster = train(callbacks=callbacks, rounds=20, options={"custom_metric": worse})
    assert booster.num_boosted_rounds() == (2 if save_best else 4)
    trial = read_run()
    metric = trial.tensor("train-worse")
    assert [metric.value(step)[0] for step in metric.steps()] == [5, 4, 6, 7]
    # A model that was cut back has lost the trees of its last round.
    is_cut = first == "stopping" and save_best
    steps = trial.tensor("trees/Tree").steps()
    if NO_ORDER and save_best:
        assert steps in ([0, 1, 2], [0, 1, 2, 3])
    else:
        assert steps == ([0, 1, 2] if is_cut else [0, 1, 2, 3])


def test_cross_validation(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix()
    hook = make_hook(
        include_collections=["feature_importance", "predictions"], validation_data=data
    )
    settings = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    result = xgb.cv(settings, data, 3, nfold=3, as_pandas=False, callbacks=[hook], seed=3)
    trial = read_run()
    assert set(trial.tensor_names(collection="metrics")) == {
        *("train-logloss", "test-logloss", "cv_std/train-logloss", "cv_std/test-logloss")
    }
    assert trial.tensor_names(collection="losses") == ["test-logloss", "train-logloss"]
    for name, ending in (("test-logloss", "mean"), ("cv_std/test-logloss", "std")):
        saved = [trial.tensor(name).value(step)[0] for step in range(3)]
        assert saved == result[f"test-logloss-{ending}"]
    # Of the model of the first fold.
    assert trial.tensor("predictions").value(2).shape == (200,)
    assert trial.tensor_names(collection="feature_importance")


def test_scikit_learn(make_hook: MakeHook, read_run: ReadRun) -> None:
    pytest.importorskip("sklearn")
    features, labels = table()
    hook = make_hook(include_collections=["predictions"], validation_data=(features, labels))
    model = xgb.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1, callbacks=[hook])
    model.fit(features, labels, eval_set=[(features, labels)] * 2, verbose=False)
    trial = read_run()
    names = ["validation_0-logloss", "validation_1-logloss"]
    assert trial.tensor_names(collection="metrics") == names
    assert trial.tensor_names(collection="losses") == names
    predicted = trial.tensor("predictions").value(2)
    assert np.array_equal(predicted, model.predict_proba(features)[:, 1])


def test_a_grid_of_models_does_not_write_into_one_run(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    features, labels = table()
    model = xgb.XGBClassifier(n_estimators=2, n_jobs=1, callbacks=[make_hook()])
    search = selection.GridSearchCV(model, {"max_depth": [1, 2]}, cv=2, refit=False)
    search.fit(features, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert read_run().steps() == []


def test_nothing_is_done_at_idle_rounds(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    for name in ("predict", "get_score", "get_dump", "save_config", "__getitem__"):
        method = getattr(xgb.Booster, name)

        def counted(self: Any, *args: Any, _m: Any = method, **kwargs: Any) -> Any:
            calls.append(_m.__name__)
            return _m(self, *args, **kwargs)

        monkeypatch.setattr(xgb.Booster, name, counted)
    data = matrix()
    schedule = smd.SaveConfig(save_interval=1, start_step=100)
    hook = make_hook(save_all=True, save_config=schedule, train_data=data, validation_data=data)
    train(None, data, rounds=10)
    bare = calls.copy()
    calls.clear()
    train(hook, data, rounds=10)
    assert calls == bare
    assert hook.stats["values_saved"] == 0


def test_scalars_and_tensors_of_the_user(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook()

    class Mine(xgb.callback.TrainingCallback):
        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            del model, evals_log
            hook.save_scalar("epoch", epoch)
            return False

    train(callbacks=[hook, Mine()], rounds=3)
    assert "scalar/epoch" in read_run().tensor_names()


def test_a_block_closes_the_hook_and_rounds_can_be_waited_for(run_dir: Path) -> None:
    seen: list[list[int]] = []

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            del model, evals_log
            hook.end_step()
            hook.save_scalar("mine", epoch, step=10 * epoch + 10)
            assert hook.flush(timeout=60)
            if not NO_ORDER:  # Else the round may not have been saved yet.
                seen.append(smd.create_trial(str(run_dir)).steps())
            return False

    with smd.Hook(str(run_dir), save_config=smd.SaveConfig(save_interval=1)) as hook:
        xgb.train({}, matrix(), 3, evals=[(matrix(), "train")], callbacks=[hook, Look()])
    assert seen == ([] if NO_ORDER else [[0], [0, 1], [0, 1, 2]])
    trial = smd.create_trial(str(run_dir))
    assert trial.tensor("train-rmse").steps() == [0, 1, 2]
    assert trial.tensor("scalar/mine").steps() == [10, 20, 30]
