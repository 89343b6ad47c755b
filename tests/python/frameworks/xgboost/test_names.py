"""What each collection holds, by the names that smdebug 1.0 gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from smdebug import SaveConfig
from support.log import logged
from support.xgboost_hooks import FEATURES, MakeHook, ReadRun, matrix, table, train, values

TYPES = ("weight", "gain", "cover", "total_gain", "total_cover")


def test_hyperparameters(make_hook: MakeHook, read_run: ReadRun) -> None:
    settings = {"eta": 0.1, "depth": 3, "silent": True, "name": "x", "metrics": ["auc", "error"]}
    settings |= {"limits": [1, 2.5], "none": None, "ragged": [[1], 2], "deep": {"a": 1}}
    train(make_hook(include_collections=["hyperparameters"], hyperparameters=settings), rounds=1)
    saved = values(read_run(), "hyperparameters", 0)
    expected: dict[str, Any] = {
        **{"eta": [0.1], "depth": [3], "silent": [True], "name": ["x"]},
        **{"metrics": ["auc", "error"], "limits": [1, 2.5], "none": ["None"]},
        **{"ragged": ["[1]", "2"], "deep": ["{'a': 1}"]},
    }
    assert {name: value.tolist() for name, value in saved.items()} == {
        f"hyperparameters/{name}": value for name, value in expected.items()
    }


@pytest.mark.parametrize("evals", ["train", "validation_0", "a.b", "Ünïted"])
@pytest.mark.parametrize("metric", ["rmse", "error@0.3", "aucpr", "logloss", "poisson-nloglik"])
def test_metrics_of_any_name(
    evals: str, metric: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    results: dict[str, Any] = {}
    train(make_hook(), evals=evals, eval_metric=metric, options={"evals_result": results})
    trial = read_run()
    name = f"{evals}-{metric}"
    assert trial.tensor_names(collection="metrics") == [name]
    saved = trial.tensor(name)
    assert saved.value(0).shape == (1,)
    assert saved.value(0).dtype == np.float64
    assert [saved.value(step)[0] for step in saved.steps()] == results[evals][metric]


def test_metrics_of_rankings(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix()
    data.set_group([50] * 4)
    hook = make_hook(include_collections=["losses"])
    metrics = ["ndcg@5", "map@3", "ndcg@5-", "map", "pre@2", "auc"]
    train(hook, data, evals="validation_1", objective="rank:pairwise", eval_metric=metrics)
    trial = read_run()
    names = {f"validation_1-{metric}" for metric in metrics}
    assert set(trial.tensor_names(collection="metrics")) == names
    assert trial.tensor_names(collection="losses") == []


def test_losses_are_metrics_that_should_fall(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["losses"])
    falling = ["rmse", "error@0.3", "logloss", "error"]
    train(hook, eval_metric=[*falling, "auc", "aucpr", "map@3"], evals="validation_0")
    trial = read_run()
    assert set(trial.tensor_names(collection="losses")) == {f"validation_0-{m}" for m in falling}


def test_losses_alone(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["losses"])
    hook.get_collection("metrics").save_config = SaveConfig(end_step=0)
    train(hook, eval_metric=["error", "auc"])
    trial = read_run()
    assert trial.tensor_names() == ["train-error"]
    assert trial.steps() == [0, 1, 2, 3, 4]


def test_own_metrics(make_hook: MakeHook, read_run: ReadRun) -> None:
    def mine(predicted: Any, data: xgb.DMatrix) -> tuple[str, float]:
        return "mine", float(np.abs(predicted - data.get_label()).sum())

    train(make_hook(), options={"custom_metric": mine})
    assert set(read_run().tensor_names()) == {"train-logloss", "train-mine"}


def test_predictions_and_labels(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix(30, seed=1)
    hook = make_hook(include_collections=["predictions", "labels"], validation_data=data)
    booster = train(hook, rounds=3)
    trial = read_run()
    predicted = trial.tensor("predictions").value(2)
    assert predicted.dtype == np.float32
    assert np.array_equal(predicted, booster.predict(data))
    earlier = booster.predict(data, iteration_range=(0, 1))
    assert np.array_equal(trial.tensor("predictions").value(0), earlier)
    assert np.array_equal(trial.tensor("labels").value(2), data.get_label())


def test_predictions_of_classes(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix(40, classes=3)
    hook = make_hook(include_collections=["predictions"], validation_data=data)
    booster = train(hook, data, rounds=2, objective="multi:softprob", num_class=3)
    saved = read_run().tensor("predictions").value(1)
    assert saved.shape == (40, 3)
    assert np.array_equal(saved, booster.predict(data))


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_importance_is_a_share_of_what_xgboost_scores(
    booster: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    model = train(make_hook(include_collections=["feature_importance"]), booster=booster)
    saved = values(read_run(), "feature_importance", 4)
    expected = {}
    for kind in TYPES:
        scores = model.get_score(importance_type=kind)
        for name, score in scores.items():
            expected[f"feature_importance/{kind}/{name}"] = score / sum(scores.values())
    assert {name: value[0] for name, value in saved.items()} == pytest.approx(expected, rel=1e-12)
    assert {(value.shape, value.dtype.name) for value in saved.values()} == {((1,), "float64")}


def test_features_without_names_are_numbered(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix(feature_names=None)
    train(make_hook(include_collections=["average_shap"], train_data=data), data, rounds=1)
    names = read_run().tensor_names(collection="average_shap")
    assert names == [f"average_shap/f{number}" for number in range(len(FEATURES))]


def test_a_model_without_trees_is_told_of_once(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["trees", "feature_importance"])
    with logged() as texts:
        train(hook, booster="gblinear")
    assert len([text for text in texts if "gblinear has no trees" in text]) == 1
    trial = read_run()
    assert trial.tensor_names() == ["train-logloss"]
    assert len(trial.steps()) == 5


def test_what_is_not_given_is_told_of_once(make_hook: MakeHook, read_run: ReadRun) -> None:
    collections = ["hyperparameters", "predictions", "labels", "full_shap", "average_shap"]
    with logged() as texts:
        train(make_hook(include_collections=collections))
    told = [text for text in texts if "give the hook" in text]
    wanted = ("`hyperparameters`", "`validation_data`", "`validation_data` with", "`train_data`")
    assert sorted(text.split("hook ")[1] for text in told) == sorted(
        [*wanted[:2], "`validation_data` with labels", wanted[3]]
    )
    assert read_run().tensor_names() == ["train-logloss"]


def test_labels_that_the_data_does_not_have(make_hook: MakeHook, read_run: ReadRun) -> None:
    features, _ = table(20)
    hook = make_hook(include_collections=["predictions", "labels"], validation_data=features)
    train(hook)
    assert set(read_run().tensor_names()) == {"train-logloss", "predictions"}


def test_regexes_choose_single_tensors(make_hook: MakeHook, read_run: ReadRun) -> None:
    data = matrix()
    train(make_hook(include_regex=["gain/radius$", "full_shap/fa"], train_data=data), data)
    names = set(read_run().tensor_names(collection="default"))
    kinds = ("gain", "total_gain")
    assert names == {"full_shap/fa", *(f"feature_importance/{kind}/radius" for kind in kinds)}


def test_reductions_of_a_collection(make_hook: MakeHook, read_run: ReadRun) -> None:
    from smdebug import ReductionConfig

    data = matrix()
    hook = make_hook(include_collections=["predictions"], validation_data=data)
    hook.get_collection("predictions").reduction_config = ReductionConfig(reductions=["mean"])
    booster = train(hook, data, rounds=1)
    mean = read_run().tensor("predictions").reduction_value(0, "mean")
    assert mean == pytest.approx(booster.predict(data).mean())


@pytest.mark.parametrize("raw", [False, True])
def test_the_reduction_config_of_the_hook(
    raw: bool, make_hook: MakeHook, read_run: ReadRun
) -> None:
    from smdebug import ReductionConfig

    data = matrix()
    hook = make_hook(
        include_collections=["predictions", "labels", "hyperparameters"],
        reduction_config=ReductionConfig(["mean"], norms=["l1"], save_raw_tensor=raw),
        hyperparameters={"eta": 0.3, "objective": "binary:logistic"},
        validation_data=data,
    )
    hook.get_collection("labels").reduction_config = ReductionConfig(save_raw_tensor=True)
    booster = train(hook, data, rounds=1)
    trial = read_run()
    predictions = trial.tensor("predictions")
    assert predictions.reduction_values(0) == pytest.approx(
        {
            ("mean", False): booster.predict(data).mean(dtype=float),
            ("l1", False): booster.predict(data).sum(dtype=float),
        }
    )
    assert (predictions.saved(0)[0] is not None) == raw
    # A collection's own goes first, and what is one number is saved as it is.
    for name in ("labels", "train-logloss"):
        assert (trial.tensor(name).saved(0)[0] is not None, trial.tensor(name).saved(0)[1]) == (
            True,
            [],
        )
    assert trial.tensor("hyperparameters/eta").reduction_value(0, "mean") == 0.3
    # A string has no reductions.
    assert trial.has_tensor("hyperparameters/objective") == raw
