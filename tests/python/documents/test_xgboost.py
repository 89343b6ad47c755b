"""What the public documents show of hooks of XGBoost, and what it must do."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("xgboost")

import smdebug.xgboost as smd
from documents.conftest import Configure
from smdebug.trials import create_trial
from support.log import logged
from support.xgboost_hooks import FEATURES, matrix, train

METRICS = ["train-logloss"]


def saved_by(hook: Any, rounds: int = 1) -> Any:  # noqa: ANN401
    """The run of a short training with a hook."""
    train(hook, rounds=rounds)
    hook.close()
    return create_trial(hook.out_dir)


def collection(name: str, **parameters: object) -> dict[str, object]:
    return {"CollectionName": name, "CollectionParameters": parameters}


def full_hook(out_dir: str, **arguments: Any) -> smd.Hook:  # noqa: ANN401
    data = matrix(40)
    return smd.Hook(
        out_dir,
        hyperparameters={"max_depth": 3, "objective": "binary:logistic"},
        train_data=data,
        validation_data=data,
        **arguments,
    )


@pytest.mark.parametrize(
    "by", ["path", "variable", "hook_from_config", "get_hook", "get_hook by variable"]
)
def test_001_line_60_a_hook_from_a_json_file(
    by: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = configure(CollectionConfigurations=[collection("feature_importance")])
    if "variable" in by:
        monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", path)
    if by == "path":
        hook = smd.Hook.create_from_json_file(json_file_path=path)
    elif by == "hook_from_config":
        hook = smd.Hook.hook_from_config(json_config_path=path)
    elif by == "variable":
        hook = smd.Hook.create_from_json_file()
    else:
        made = smd.get_hook(json_config_path=path) if by == "get_hook" else smd.get_hook()
        assert made is not None
        hook = made
    assert smd.get_hook() is hook
    trial = saved_by(hook)
    assert trial.tensor_names(collection="feature_importance")


def test_001_line_60_without_a_file_there_is_no_hook(
    tmp_path: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(tmp_path / "none.json"))
    assert smd.get_hook() is None
    with pytest.raises(FileNotFoundError):
        smd.Hook.hook_from_config()


def test_001_line_127_all_arguments_of_the_hook(out_dir: str) -> None:
    hook = smd.Hook(
        out_dir,
        export_tensorboard=False,
        tensorboard_dir=None,
        dry_run=False,
        reduction_config=None,
        save_config=None,
        include_regex=None,
        include_collections=None,
        save_all=False,
        include_workers="one",
    )
    trial = saved_by(hook, 11)
    assert trial.tensor_names() == METRICS
    assert trial.steps() == [0, 10]


def test_001_line_127_reductions_are_those_of_the_hook(out_dir: str) -> None:
    form = smd.ReductionConfig(reductions=["min", "max"])
    hook = full_hook(out_dir, include_collections=["predictions", "labels"], reduction_config=form)
    hook.get_collection("labels").reduction_config = smd.ReductionConfig(norms=["l2"])
    trial = saved_by(hook)
    assert trial.tensor("predictions").saved(0) == (None, [("min", False), ("max", False)])
    assert trial.tensor("labels").saved(0) == (None, [("l2", False)])
    assert trial.tensor("train-logloss").value(0).shape == (1,)


def test_001_line_92_reductions_of_the_hook_by_json(configure: Configure) -> None:
    path = configure(
        HookParameters={"reductions": "mean", "save_interval": "2"},
        CollectionConfigurations=[collection("feature_importance"), collection("trees")],
    )
    trial = saved_by(smd.Hook.create_from_json_file(path), 3)
    assert trial.steps() == [0, 2]
    assert trial.tensor("trees/Gain").saved(2) == (None, [("mean", False)])
    # What is one number is saved as it is.
    name = trial.tensor_names(collection="feature_importance")[0]
    assert trial.tensor(name).value(0).shape == (1,)


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("hyperparameters", ["hyperparameters/max_depth", "hyperparameters/objective"]),
        ("predictions", ["predictions"]),
        ("labels", ["labels"]),
        ("average_shap", [f"average_shap/{name}" for name in sorted(FEATURES)]),
        ("full_shap", [f"full_shap/{name}" for name in sorted(FEATURES)]),
        ("metrics", METRICS),
        ("losses", METRICS),
    ],
)
def test_001_line_229_a_built_in_collection(name: str, tensors: list[str], out_dir: str) -> None:
    trial = saved_by(full_hook(out_dir, include_collections=[name]))
    assert trial.tensor_names(collection=name) == tensors
    assert set(trial.tensor_names()) == {*tensors, *METRICS}


@pytest.mark.parametrize(("name", "member"), [("trees", "Gain"), ("feature_importance", "weight")])
def test_001_line_229_a_collection_of_many(name: str, member: str, out_dir: str) -> None:
    trial = saved_by(full_hook(out_dir, include_collections=[name]))
    found = trial.tensor_names(collection=name)
    assert any(tensor.startswith(f"{name}/{member}") for tensor in found)
    assert set(trial.tensor_names()) == {*found, *METRICS}


@pytest.mark.parametrize("by", ["argument", "save_all"])
def test_001_line_229_the_collection_all(by: str, out_dir: str) -> None:
    of_all = {"include_collections": ["all"]} if by == "argument" else {"save_all": True}
    trial = saved_by(full_hook(out_dir, **of_all))
    names = trial.tensor_names(collection="all")
    assert names == trial.tensor_names()
    kinds = {name.partition("/")[0] for name in names}
    assert kinds == {
        *("hyperparameters", "predictions", "labels", "feature_importance", "trees"),
        *("average_shap", "average_shap_signed", "full_shap", "train-logloss"),
    }


def test_001_line_229_the_collection_all_by_json(configure: Configure) -> None:
    path = configure(CollectionConfigurations=[{"CollectionName": "all"}])
    names = saved_by(smd.Hook.create_from_json_file(path)).tensor_names()
    assert {name.partition("/")[0] for name in names} == {
        *("feature_importance", "trees", "train-logloss")
    }


def test_001_line_251_metrics_are_always_saved(out_dir: str) -> None:
    hook = full_hook(out_dir, include_collections=["labels"])
    assert hook.include_collections == ["metrics", "labels"]
    assert saved_by(hook).tensor_names() == ["labels", *METRICS]


@pytest.mark.parametrize("end", [0, "0"])
def test_001_line_261_metrics_are_switched_off(end: object, configure: Configure) -> None:
    path = configure(
        CollectionConfigurations=[collection("metrics", end_step=end), collection("trees")]
    )
    names = saved_by(smd.Hook.create_from_json_file(path)).tensor_names()
    assert names
    assert not set(names) & set(METRICS)


def test_001_line_271_metrics_are_switched_off_in_a_script(out_dir: str) -> None:
    hook = full_hook(out_dir, include_collections=["labels"])
    save_config = hook.get_collection("metrics").save_config
    assert save_config is not None
    save_config.end_step = 0
    assert saved_by(hook).tensor_names() == ["labels"]


@pytest.mark.parametrize("by", ["collection", "parameter", "argument"])
def test_002_line_131_collections_of_other_frameworks(
    by: str, configure: Configure, out_dir: str
) -> None:
    names = ["weights", "gradients", "losses", "biases"]
    if by == "argument":
        hook = smd.Hook(out_dir, include_collections=names)
    elif by == "collection":
        path = configure(CollectionConfigurations=[{"CollectionName": name} for name in names])
        hook = smd.Hook.create_from_json_file(path)
    else:
        path = configure(HookParameters={"include_collections": ",".join(names)})
        hook = smd.Hook.create_from_json_file(path)
    with logged() as said:
        trial = saved_by(hook, 3)
    assert trial.tensor_names() == METRICS
    assert trial.tensor_names(collection="losses") == METRICS
    told = [text for text in said if text.startswith("Collection ")]
    assert sorted(text.split()[1] for text in told) == ["biases", "gradients", "weights"]
    assert all("takes nothing here: only the hooks of pytorch" in text for text in told)


def test_002_line_227_a_regex_that_matches_nothing(configure: Configure) -> None:
    path = configure(
        CollectionConfigurations=[
            collection("custom", include_regex="feature_importance/gian|validation")
        ]
    )
    with logged() as said:
        saved_by(smd.Hook.create_from_json_file(path), 3)
    told = [text for text in said if text.startswith("Collection ")]
    assert len(told) == 1
    assert "Collection custom: no tensor so far matches" in told[0]
    assert told[0].endswith("did you mean 'Gain' or 'gain'?")
