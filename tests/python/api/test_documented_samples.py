"""The calls that the public documents of smdebug 1.0 show, run as they stand there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import smdebug  # noqa: E402
import smdebug.pytorch as smd  # noqa: E402
from smdebug.rules import Rule  # noqa: E402
from smdebug.rules.rule_invoker import invoke_rule  # noqa: E402
from smdebug.trials import create_trial  # noqa: E402
from support.torch_nets import Net, fit  # noqa: E402

SCHEDULES = {
    "default": ({}, [0, 500, 1000]),
    "every": ({"save_interval": 1}, list(range(1001))),
    "end 200": ({"save_interval": 100, "end_step": 200}, [0, 100]),
    "end 201": ({"save_interval": 100, "end_step": 201}, [0, 100, 200]),
    "start 150": ({"save_interval": 100, "start_step": 150}, list(range(200, 1001, 100))),
    "steps": ({"save_steps": [3, 7]}, [0, 3, 7, 500, 1000]),
}
REDUCTIONS = ["min", "max", "median", "mean", "std", "variance", "sum", "prod", "l1", "l2"]


@pytest.fixture(autouse=True)
def _torch() -> Iterator[None]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    smd.del_hook()


@pytest.fixture
def out_dir(tmp_path: Path) -> str:
    return str(tmp_path / "mnist_job")


def configured(tmp_path: Path, **document: Any) -> smd.Hook:  # noqa: ANN401
    path = tmp_path / "debughookconfig.json"
    path.write_text(json.dumps({"LocalPath": str(tmp_path / "mnist_job"), **document}))
    return smd.Hook.create_from_json_file(json_file_path=str(path))


def collection(name: str, **parameters: object) -> dict[str, object]:
    return {"CollectionName": name, "CollectionParameters": parameters}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    arguments, expected = SCHEDULES[name]
    schedule = smdebug.SaveConfig(**arguments)  # type: ignore[arg-type]
    mode = schedule.get_save_config(smdebug.modes.GLOBAL)
    assert [step for step in range(1001) if mode.should_save_step(step)] == expected


def test_schedules_by_mode() -> None:
    schedule = smdebug.SaveConfig(
        mode_save_configs={
            smdebug.modes.TRAIN: smdebug.SaveConfigMode(save_interval=1),
            smdebug.modes.EVAL: smdebug.SaveConfigMode(save_interval=2),
            smdebug.modes.PREDICT: smdebug.SaveConfigMode(save_interval=3),
            smdebug.modes.GLOBAL: smdebug.SaveConfigMode(save_interval=4),
        }
    )
    assert [schedule.get_save_config(mode).save_interval for mode in smdebug.modes] == [1, 2, 3, 4]


def test_all_arguments_of_the_configurations_and_the_hook(out_dir: str) -> None:
    save_config = smdebug.SaveConfig(
        mode_save_configs=None, save_interval=100, start_step=0, end_step=None, save_steps=None
    )
    reduction_config = smdebug.ReductionConfig(
        reductions=None, abs_reductions=None, norms=None, abs_norms=None, save_raw_tensor=False
    )
    hook = smd.Hook(
        out_dir,
        export_tensorboard=False,
        tensorboard_dir=None,
        dry_run=False,
        reduction_config=reduction_config,
        save_config=save_config,
        include_regex=None,
        include_collections=None,
        save_all=False,
        include_workers="one",
    )
    fit(hook, Net(), 1)
    hook.close()
    assert create_trial(out_dir).tensor_names() == ["CrossEntropyLoss_output_0"]


def test_the_glossary(out_dir: str) -> None:
    hook = smd.Hook(
        out_dir=out_dir,
        save_config=smd.SaveConfig(save_interval=10),
        reduction_config=smd.ReductionConfig(reductions=["min", "max", "mean"], norms=["l1"]),
        include_collections=["weights"],
    )
    assert hook.get_collection("losses").name == "losses"
    hook.set_mode(smd.modes.TRAIN)
    fit(hook, Net(), 1)
    hook.close()
    trial = smd.create_trial(out_dir=out_dir)
    found = trial.tensor("Net_fc.weight").reduction_values(0, mode=smd.modes.TRAIN)
    assert set(found) == {("min", False), ("max", False), ("mean", False), ("l1", False)}


def test_reductions_of_the_example(out_dir: str) -> None:
    hook = smd.Hook(
        out_dir,
        save_config=smd.SaveConfig(save_interval=1),
        include_collections=["biases"],
        reduction_config=smd.ReductionConfig(
            reductions=["std", "variance"], abs_reductions=["mean"], norms=["l1"]
        ),
    )
    fit(hook, Net(), 1)
    hook.close()
    found = create_trial(out_dir).tensor("Net_fc.bias").reduction_values(0)
    assert set(found) == {("std", False), ("variance", False), ("mean", True), ("l1", False)}


@pytest.mark.parametrize("prefix", ["", "abs_"])
def test_every_reduction_by_json(prefix: str, tmp_path: Path, out_dir: str) -> None:
    texts = ",".join(prefix + name for name in REDUCTIONS)
    hook = configured(tmp_path, CollectionConfigurations=[collection("weights", reductions=texts)])
    fit(hook, Net(), 1)
    hook.close()
    found = create_trial(out_dir).tensor("Net_fc.weight").reduction_values(0)
    assert set(found) == {(name, bool(prefix)) for name in REDUCTIONS}


def test_custom_activations(tmp_path: Path, out_dir: str) -> None:
    parameters = {
        "include_regex": "relu|tanh",
        "reductions": "mean,variance,max,abs_mean,abs_variance,abs_max",
    }
    hook = configured(
        tmp_path,
        CollectionConfigurations=[collection("custom_activations_collection", **parameters)],
    )
    fit(hook, Net(), 1)
    hook.close()
    trial = create_trial(out_dir)
    names = trial.tensor_names(collection="custom_activations_collection")
    assert "relu_output_1" in names
    assert len(trial.tensor("relu_output_0").reduction_values(0)) == 6


def test_hook_parameters_count_unless_a_collection_has_its_own(
    tmp_path: Path, out_dir: str
) -> None:
    hook = configured(
        tmp_path,
        HookParameters={"save_interval": "10"},
        CollectionConfigurations=[
            collection("collection_name_1", include_regex="fc_output"),
            collection("collection_name_2", include_regex="relu_output", save_interval="20"),
        ],
    )
    fit(hook, Net(), 31)
    hook.close()
    trial = create_trial(out_dir)
    assert trial.tensor("fc_output_0").steps() == [0, 10, 20, 30]
    assert trial.tensor("relu_output_0").steps() == [0, 20]


def test_a_collection_with_start_and_end(tmp_path: Path, out_dir: str) -> None:
    parameters = {
        "include_regex": "relu",
        "save_interval": "20",
        "start_step": "5",
        "end_step": "100",
    }
    hook = configured(
        tmp_path, CollectionConfigurations=[collection("custom_relu_collection", **parameters)]
    )
    fit(hook, Net(), 110)
    hook.close()
    assert create_trial(out_dir).tensor("relu_output_0").steps() == [20, 40, 60, 80]


def test_losses_by_mode(tmp_path: Path) -> None:
    hook = configured(
        tmp_path,
        CollectionConfigurations=[
            collection("losses", **{"train.save_interval": "100", "eval.save_interval": "10"})
        ],
    )
    schedule = hook.get_collection("losses").save_config
    assert schedule is not None
    assert schedule.get_save_config(smd.modes.TRAIN).save_interval == 100
    assert schedule.get_save_config(smd.modes.EVAL).save_interval == 10


@pytest.mark.parametrize("end", [0, "0"])
def test_a_default_collection_is_switched_off_by_json(
    end: object, tmp_path: Path, out_dir: str
) -> None:
    hook = configured(
        tmp_path,
        CollectionConfigurations=[collection("losses", end_step=end), collection("biases")],
    )
    fit(hook, Net(), 1)
    hook.close()
    assert create_trial(out_dir).tensor_names() == ["Net_child.lin.bias", "Net_fc.bias"]


def test_built_in_collections(tmp_path: Path, out_dir: str) -> None:
    names = ["weights", "gradients", "losses", "biases"]
    hook = configured(tmp_path, CollectionConfigurations=[{"CollectionName": n} for n in names])
    fit(hook, Net(), 1)
    hook.close()
    trial = create_trial(out_dir)
    assert all(trial.tensor_names(collection=name) for name in names)


class CustomGradientRule(Rule):
    """Fires where the mean of the gradients is small."""

    def __init__(self, base_trial: Any, threshold: float = 10.0) -> None:  # noqa: ANN401
        super().__init__(base_trial)
        self.threshold = float(threshold)

    def invoke_at_step(self, step: int) -> bool:
        return any(
            abs(self.base_trial.tensor(name).reduction_value(step, "mean", abs=True))
            < self.threshold
            for name in self.base_trial.tensor_names(collection="gradients")
        )


def test_a_custom_rule(out_dir: str) -> None:
    hook = smd.Hook(
        out_dir, include_collections=["gradients"], save_config=smd.SaveConfig(save_interval=1)
    )
    fit(hook, Net(), 3)
    hook.close()
    trial = create_trial(out_dir)
    assert CustomGradientRule(trial, threshold=20.0).invoke_at_step(0)
    with pytest.raises(smdebug.exceptions.RuleEvaluationConditionMet):
        invoke_rule(CustomGradientRule(trial, threshold=20.0), raise_eval_cond=True)
    invoke_rule(CustomGradientRule(trial, threshold=0.0), end_step=3, raise_eval_cond=True)
