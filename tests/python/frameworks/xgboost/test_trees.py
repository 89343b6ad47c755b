"""The trees of a round are those that the round has added, as trees_to_dataframe() has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from smdebug.trials import Trial
from support.xgboost_hooks import MakeHook, ReadRun, matrix, table, train

TEXTS = ("ID", "Feature", "Yes", "No", "Missing")
NUMBERS = ("Tree", "Node", "Split", "Gain", "Cover")


def check_trees(booster: xgb.Booster, trial: Trial, rounds: int, per_round: int) -> None:
    """Whether the trees of all rounds together are those of the model."""
    pytest.importorskip("pandas")
    frame = booster.trees_to_dataframe()
    for step in range(rounds):
        wanted = frame[frame["Tree"] // per_round == step]
        saved = {
            name: trial.tensor(f"trees/{name}").value(step)
            for name in (*TEXTS, *NUMBERS, "Category")
        }
        for name in NUMBERS:
            assert np.array_equal(saved[name], wanted[name].to_numpy(), equal_nan=True), name
        for name in TEXTS:
            assert saved[name].tolist() == wanted[name].fillna("nan").tolist(), name
        texts = [",".join(c) if isinstance(c, list) else "nan" for c in wanted["Category"]]
        assert saved["Category"].tolist() == texts
    assert len(frame) == sum(len(trial.tensor("trees/ID").value(s)) for s in range(rounds))


@pytest.mark.parametrize(
    ("settings", "per_round"),
    [
        ({}, 1),
        ({"booster": "dart", "rate_drop": 0.5}, 1),
        ({"objective": "multi:softprob", "num_class": 3}, 3),
        ({"num_parallel_tree": 4, "subsample": 0.5}, 4),
        ({"objective": "multi:softmax", "num_class": 3, "num_parallel_tree": 2}, 6),
    ],
)
def test_all_trees_of_the_round(
    settings: dict[str, Any], per_round: int, make_hook: MakeHook, read_run: ReadRun
) -> None:
    data = matrix(classes=settings.get("num_class", 2))
    booster = train(make_hook(include_collections=["trees"]), data, rounds=4, **settings)
    check_trees(booster, read_run(), 4, per_round)


def test_types(make_hook: MakeHook, read_run: ReadRun) -> None:
    train(make_hook(include_collections=["trees"]), rounds=1)
    trial = read_run()
    names = trial.tensor_names(collection="trees")
    kinds = {name: trial.tensor(name).value(0).dtype.kind for name in names}
    assert {name.split("/")[1]: kind for name, kind in kinds.items()} == {
        **dict.fromkeys([*TEXTS, "Category"], "U"),
        **{"Tree": "i", "Node": "i", "Split": "f", "Gain": "f", "Cover": "f"},
    }


def test_categories(make_hook: MakeHook, read_run: ReadRun) -> None:
    random = np.random.default_rng(1)
    colours = random.integers(0, 12, 300)
    features = np.column_stack([colours, random.normal(size=300)])
    labels = np.isin(colours, [1, 4, 7]).astype(np.float32) + 0.1 * features[:, 1]
    data = xgb.DMatrix(
        features,
        label=labels,
        feature_names=["colour", "size"],
        feature_types=["c", "q"],
        enable_categorical=True,
    )
    settings: dict[str, Any] = {"objective": "reg:squarederror", "tree_method": "hist"}
    settings["max_cat_to_onehot"] = 2
    booster = train(make_hook(include_collections=["trees"]), data, rounds=3, **settings)
    trial = read_run()
    assert trial.tensor("trees/Feature").value(0)[0] == "colour"
    assert "," in trial.tensor("trees/Category").value(0)[0]
    check_trees(booster, trial, 3, 1)


def test_names_with_marks_and_yes_or_no_features(make_hook: MakeHook, read_run: ReadRun) -> None:
    names = ["a:b", "c,d=e", "f g", "h{i}", "yes", "plain"]
    features, labels = table()
    features[:, 4] = labels
    data = xgb.DMatrix(
        features, label=labels, feature_names=names, feature_types=["q"] * 4 + ["i", "q"]
    )
    train(make_hook(include_collections=["trees"]), data, rounds=2, max_depth=5)
    trial = read_run()
    assert trial.tensor("trees/Feature").value(0)[0] == "yes"
    assert np.isnan(trial.tensor("trees/Split").value(0)[0])
    found = {str(name) for name in trial.tensor("trees/Feature").value(1)}
    assert found <= {*names, "Leaf"}


def test_continued_training_numbers_trees_as_the_model_does(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    before = train(rounds=3)
    hook = make_hook(include_collections=["trees"])
    train(hook, rounds=2, options={"xgb_model": before})
    trial = read_run()
    assert trial.steps() == [0, 1]
    assert [set(trial.tensor("trees/Tree").value(step)) for step in (0, 1)] == [{3}, {4}]


def test_trees_of_several_outputs(make_hook: MakeHook, read_run: ReadRun) -> None:
    if int(xgb.__version__.split(".")[0]) < 3:
        pytest.skip("XGBoost 3 is the first to tell of them")
    features, labels = table()
    data = xgb.DMatrix(features, label=np.column_stack([labels, 1 - labels]))
    settings = {"objective": "reg:squarederror", "multi_strategy": "multi_output_tree"}
    train(make_hook(include_collections=["trees"]), data, rounds=2, tree_method="hist", **settings)
    trial = read_run()
    assert set(trial.tensor("trees/Tree").value(1)) == {1}
    assert "Leaf" in trial.tensor("trees/Feature").value(1)
