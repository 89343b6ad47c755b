"""What the public documents show of hooks of PyTorch, and what it must do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import smdebug  # noqa: E402
import smdebug.pytorch as smd  # noqa: E402
from documents.conftest import Configure  # noqa: E402
from smdebug.exceptions import SMDebugError  # noqa: E402
from smdebug.trials import create_trial  # noqa: E402
from support.log import logged  # noqa: E402
from support.torch_nets import Net, fit  # noqa: E402
from torch import nn  # noqa: E402

REDUCTIONS = ["min", "max", "median", "mean", "std", "variance", "sum", "prod", "l1", "l2"]
EVERY = smd.SaveConfig(save_interval=1)


@pytest.fixture(autouse=True)
def _torch() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def collection(name: str, **parameters: object) -> dict[str, object]:
    """What a CollectionConfig(name, parameters) is in a job's configuration."""
    return {"CollectionName": name, "CollectionParameters": parameters}


def saved_by(hook: Any, steps: int = 1, net: nn.Module | None = None) -> Any:  # noqa: ANN401
    """The run of a short training with a hook."""
    fit(hook, Net() if net is None else net, steps)
    hook.close()
    return create_trial(hook.out_dir)


def tall(width: int = 12) -> nn.Sequential:
    """Layers that are called 0, 1, 2, ..., 10, 11."""
    return nn.Sequential(*(nn.Linear(4, 4) for _ in range(width - 1)), nn.Linear(4, 3))


# 001: the API of saving.


def test_001_line_26_the_glossary(out_dir: str) -> None:
    hook = smd.Hook(out_dir=out_dir, include_collections=["weights"])
    train_mode = smd.modes.TRAIN
    hook.set_mode(train_mode)
    found = hook.get_collection("losses")
    save_config = smd.SaveConfig(save_interval=10)
    reduction_config = smd.ReductionConfig(reductions=["min", "max", "mean"], norms=["l1"])
    hook.get_collection("weights").save_config = save_config
    hook.get_collection("weights").reduction_config = reduction_config
    fit(hook, Net(), 11)
    hook.close()
    assert found.name == "losses"
    trial = smd.create_trial(out_dir=out_dir)
    assert trial.steps(mode=train_mode) == [0, 10]
    weight = trial.tensor("Net_fc.weight")
    assert set(weight.reduction_values(10, mode=train_mode)) == {
        *(("min", False), ("max", False), ("mean", False), ("l1", False))
    }
    assert trial.tensor("CrossEntropyLoss_output_0").steps(mode=train_mode) == [0]


@pytest.mark.parametrize("by", ["path", "variable", "hook_from_config", "get_hook"])
def test_001_line_60_a_hook_from_a_json_file(
    by: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = configure(CollectionConfigurations=[collection("weights")])
    if by == "path":
        hook = smd.Hook.create_from_json_file(json_file_path=path)
    elif by == "hook_from_config":
        hook = smd.Hook.hook_from_config(json_config_path=path)
    elif by == "get_hook":
        made = smd.get_hook(json_config_path=path, create_if_not_exists=True)
        assert made is not None
        hook = made
    else:
        monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", path)
        hook = smd.Hook.create_from_json_file()
    assert smd.get_hook() is hook
    assert saved_by(hook).tensor_names(collection="weights") == [
        "Net_child.lin.weight",
        "Net_fc.weight",
    ]


def test_001_line_81_what_the_sdk_writes_for_a_hook(configure: Configure, out_dir: str) -> None:
    path = configure(S3OutputPath="s3://bucket/mnist", HookParameters={"save_interval": "2"})
    assert saved_by(smd.Hook.create_from_json_file(path), 4).steps() == [0, 2]
    assert Path(out_dir, "index").is_dir()


SCHEDULES = {"save_interval": "7", "save_steps": "1, 3", "start_step": "2", "end_step": "30"}
PARSED = {"save_interval": 7, "save_steps": [1, 3], "start_step": 2, "end_step": 30}
PREFIXES = ("", "train.", "eval.", "predict.", "global.")
HOOK_PARAMETERS: dict[str, tuple[str, Any]] = {
    "dry_run": ("True", True),
    "save_all": ("true", True),
    "include_workers": ("all", "all"),
    "include_regex": ("relu, tanh", ["relu", "tanh"]),
}


@pytest.mark.parametrize("name", HOOK_PARAMETERS)
def test_001_line_92_a_parameter_of_the_hook(name: str, configure: Configure) -> None:
    given, expected = HOOK_PARAMETERS[name]
    hook = smd.Hook.create_from_json_file(configure(HookParameters={name: given}))
    assert getattr(hook, name) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"reductions": "mean,abs_max,l2"}, ("mean", "abs_max", "l2", False, False)),
        ({"reductions": "mean", "save_raw_tensor": "True"}, ("mean", True, False)),
        ({"save_raw_tensor": "false", "save_shape": "True"}, (False, True)),
    ],
)
def test_001_line_92_what_is_saved_of_a_tensor(
    parameters: dict[str, str], expected: tuple[object, ...], configure: Configure
) -> None:
    hook = smd.Hook.create_from_json_file(configure(HookParameters=parameters))
    form = hook.reduction_config
    assert form is not None
    listed = [*form.reductions, *(f"abs_{n}" for n in form.abs_reductions), *form.norms]
    assert (*listed, form.save_raw_tensor, form.save_shape) == expected


def check_schedule(schedule: Any, prefix: str, key: str) -> None:  # noqa: ANN401
    for mode in smd.modes:
        value = getattr(schedule.get_save_config(mode), key)
        is_meant = not prefix or prefix == f"{mode.name.lower()}."
        assert (value == PARSED[key]) == is_meant, (mode, value)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("key", SCHEDULES)
def test_001_line_92_a_schedule_of_the_hook(prefix: str, key: str, configure: Configure) -> None:
    path = configure(HookParameters={prefix + key: SCHEDULES[key]})
    check_schedule(smd.Hook.create_from_json_file(path).save_config, prefix, key)


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
    trial = saved_by(hook)
    assert trial.tensor_names() == ["CrossEntropyLoss_output_0"]
    assert trial.steps() == [0]


@pytest.mark.parametrize(
    ("arguments", "present", "absent"),
    [
        ({"save_all": True}, "relu_output_0", "nothing"),
        ({"include_regex": ["relu_out"]}, "relu_output_1", "relu_input_0"),
        ({"include_regex": ("fc", "relu_in")}, "relu_input_0", "relu_output_0"),
        ({"include_collections": ["biases"]}, "Net_fc.bias", "Net_fc.weight"),
        ({"include_collections": {"biases", "weights"}}, "Net_fc.weight", "fc_output_0"),
        ({"include_collections": "gradients"}, "gradient/Net_fc.bias", "Net_fc.bias"),
        ({"include_collections": ["all"]}, "relu_output_0", "nothing"),
    ],
)
def test_001_line_127_which_tensors_are_saved(
    arguments: dict[str, Any], present: str, absent: str, out_dir: str
) -> None:
    names = saved_by(smd.Hook(out_dir, **arguments)).tensor_names()
    assert present in names
    assert absent not in names
    assert "CrossEntropyLoss_output_0" in names


def test_001_line_127_a_dry_run_and_tensorboard(out_dir: str) -> None:
    fit(smd.Hook(out_dir, dry_run=True), Net())
    assert not Path(out_dir).exists()
    smd.del_hook()
    hook = smd.Hook(out_dir, export_tensorboard=True, include_collections=["weights"])
    saved_by(hook)
    assert list(Path(out_dir, "tensorboard").rglob("*tfevents*"))


def test_001_line_160_methods_that_all_hooks_have(out_dir: str) -> None:
    hook = smd.Hook(out_dir, include_collections=["mine"], save_config=EVERY)
    hook.add_collection(smd.Collection("mine", include_regex=["fc_output"]))
    assert hook.get_collection("mine").include_regex == ["fc_output"]
    assert {"mine", "losses", "weights"} <= set(hook.get_collections())
    hook.set_mode(smd.modes.EVAL)
    net = Net()
    fit(hook, net)
    hook.save_scalar("accuracy", 0.75, sm_metric=True)
    hook.set_mode("train")
    hook.save_tensor(
        tensor_name="table",
        tensor_value=np.eye(3),
        collections_to_write=["mine", "tables"],
    )
    net(torch.ones(2, 4))
    hook.close()
    hook.close()
    trial = create_trial(out_dir)
    assert trial.modes() == {smd.modes.TRAIN, smd.modes.EVAL}
    assert trial.tensor("fc_output_0").steps(mode=smd.modes.EVAL) == [0]
    assert trial.tensor("scalar/accuracy").value(0, mode=smd.modes.EVAL) == 0.75
    assert trial.tensor_names(collection="sm_metrics") == ["scalar/accuracy"]
    assert (trial.tensor("table").value(0, mode=smd.modes.TRAIN) == np.eye(3)).all()
    for name in ("mine", "tables"):
        assert "table" in trial.tensor_names(collection=name)


def test_001_line_195_modules_and_losses(out_dir: str) -> None:
    hook = smd.Hook(out_dir, save_all=True)
    net, loss = Net(), nn.MSELoss()
    hook.register_module(net)
    hook.register_loss(loss)
    loss(net(torch.ones(2, 4)), torch.zeros(2, 3)).backward()
    hook.close()
    trial = create_trial(out_dir)
    assert trial.tensor_names(collection="losses") == ["MSELoss_output_0"]
    assert "child.act_output_0" in trial.tensor_names()
    with pytest.raises(SMDebugError, match=r"is not a torch\.nn\.Module"):
        smd.Hook(f"{out_dir}_2").register_module(3)


BUILT_IN = {
    "weights": ["Net_child.lin.weight", "Net_fc.weight"],
    "biases": ["Net_child.lin.bias", "Net_fc.bias"],
    "gradients": [
        f"gradient/Net_{name}" for name in ("child.lin.bias", "child.lin.weight", "fc.bias")
    ]
    + ["gradient/Net_fc.weight"],
    "losses": ["CrossEntropyLoss_output_0"],
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_001_line_229_a_built_in_collection(name: str, out_dir: str) -> None:
    trial = saved_by(smd.Hook(out_dir, include_collections=[name]))
    assert trial.tensor_names(collection=name) == BUILT_IN[name]
    assert set(trial.tensor_names()) == {*BUILT_IN[name], *BUILT_IN["losses"]}


def test_001_line_229_the_collection_default(out_dir: str) -> None:
    trial = saved_by(smd.Hook(out_dir, include_regex=["act_output"]))
    assert trial.tensor_names(collection="default") == ["child.act_output_0"]


@pytest.mark.parametrize("by", ["argument", "collection", "parameter", "save_all"])
def test_001_line_229_the_collection_all(by: str, configure: Configure, out_dir: str) -> None:
    if by == "argument":
        hook = smd.Hook(out_dir, include_collections=["all"])
    elif by == "save_all":
        hook = smd.Hook(out_dir, save_all=True)
    elif by == "collection":
        path = configure(CollectionConfigurations=[{"CollectionName": "all"}])
        hook = smd.Hook.create_from_json_file(path)
    else:
        path = configure(HookParameters={"include_collections": "all"})
        hook = smd.Hook.create_from_json_file(path)
    trial = saved_by(hook)
    names = trial.tensor_names(collection="all")
    assert names == trial.tensor_names()
    modules = ("Net", "child", "child.lin", "child.act", "relu", "fc", "CrossEntropyLoss")
    kinds = {f"{module}_{kind}_0" for module in modules for kind in ("input", "output")}
    parameters = {name for names in BUILT_IN.values() for name in names}
    assert kinds | parameters <= set(names)


@pytest.mark.parametrize("name", ["metrics", "outputs", "layers", "sm_metrics", "trees"])
@pytest.mark.parametrize("by", ["argument", "collection", "parameter"])
def test_001_line_229_a_collection_of_other_frameworks(
    by: str, name: str, configure: Configure, out_dir: str
) -> None:
    if by == "argument":
        hook = smd.Hook(out_dir, include_collections=[name])
    elif by == "collection":
        path = configure(CollectionConfigurations=[{"CollectionName": name}])
        hook = smd.Hook.create_from_json_file(path)
    else:
        path = configure(HookParameters={"include_collections": name})
        hook = smd.Hook.create_from_json_file(path)
    with logged() as said:
        trial = saved_by(hook, 2)
    assert trial.tensor_names() == ["CrossEntropyLoss_output_0"]
    assert trial.tensor_names(collection=name) == []
    told = [text for text in said if f"Collection {name} takes nothing here" in text]
    assert len(told) == 1


def test_001_line_251_losses_are_always_saved(out_dir: str) -> None:
    hook = smd.Hook(out_dir, include_collections=["biases"])
    assert hook.include_collections == ["losses", "biases"]
    assert saved_by(hook).tensor_names(collection="losses") == ["CrossEntropyLoss_output_0"]


def check_switched_off(trial: Any) -> None:  # noqa: ANN401
    assert trial.tensor_names() == ["Net_child.lin.bias", "Net_fc.bias"]


@pytest.mark.parametrize("end", [0, "0"])
@pytest.mark.parametrize("name", ["losses", "metrics"])
def test_001_line_261_a_collection_is_switched_off(
    name: str, end: object, configure: Configure
) -> None:
    path = configure(
        CollectionConfigurations=[collection(name, end_step=end), collection("biases")]
    )
    trial = saved_by(smd.Hook.create_from_json_file(path))
    if name == "losses":
        check_switched_off(trial)
    else:
        assert trial.tensor_names(collection="losses") == ["CrossEntropyLoss_output_0"]


def test_000_line_176_a_collection_is_switched_off(configure: Configure) -> None:
    path = configure(
        S3OutputPath="s3://bucket/mnist",
        CollectionConfigurations=[collection("losses", end_step=0), collection("biases")],
    )
    check_switched_off(saved_by(smd.Hook.create_from_json_file(path)))


def check_switched_off_in_a_script(out_dir: str) -> None:
    hook = smd.Hook(out_dir, include_collections=["biases"])
    with logged() as said:
        for name in ("metrics", "losses"):
            save_config = hook.get_collection(name).save_config
            assert save_config is not None
            save_config.end_step = 0
        check_switched_off(saved_by(hook))
    assert [text for text in said if "metrics" in text or "losses" in text] == []


def test_001_line_271_a_collection_is_switched_off_in_a_script(out_dir: str) -> None:
    check_switched_off_in_a_script(out_dir)


def test_000_line_190_a_collection_is_switched_off_in_a_script(out_dir: str) -> None:
    check_switched_off_in_a_script(out_dir)


def test_001_line_279_a_collection_that_is_not_there_is_made(out_dir: str) -> None:
    reduction_config = smd.ReductionConfig(norms=["l1"])
    hook = smd.Hook(
        out_dir,
        include_collections=["mine"],
        save_config=smd.SaveConfig(save_interval=3),
        reduction_config=reduction_config,
    )
    mine = hook.get_collection("mine")
    assert (mine.include_regex, mine.tensor_names) == ([], set())
    assert mine.save_histogram
    assert mine.save_config == hook.save_config
    mine.include("fc_output")
    trial = saved_by(hook, 5)
    output = trial.tensor("fc_output_0")
    assert output.steps() == [0, 3]
    assert set(output.reduction_values(0)) == {("l1", False)}
    assert hook.get_collection("mine").tensor_names == {"fc_output_0"}


def test_001_line_284_properties_of_a_collection(out_dir: str) -> None:
    hook = smd.Hook(out_dir, include_collections=["mine"])
    mine = hook.get_collection("mine")
    mine.tensor_names = ["fc_input_0"]
    mine.include_regex = ["relu_out"]
    mine.reduction_config = smd.ReductionConfig(reductions=["max"])
    mine.save_config = smd.SaveConfig(save_interval=2)
    mine.save_histogram = False
    trial = saved_by(hook, 3)
    assert trial.tensor_names(collection="mine") == [
        *("fc_input_0", "relu_output_0", "relu_output_1")
    ]
    for name in trial.tensor_names(collection="mine"):
        assert trial.tensor(name).steps() == [0, 2]
        assert set(trial.tensor(name).reduction_values(2)) == {("max", False)}


@pytest.mark.parametrize("regex", ["relu_o", ["relu_o"], ("relu_o",), {"relu_o"}])
def test_001_line_295_a_regex_or_a_list_of_them(regex: Any, out_dir: str) -> None:  # noqa: ANN401
    hook = smd.Hook(out_dir, include_collections=["mine"])
    hook.get_collection("mine").include(regex)
    names = saved_by(hook).tensor_names(collection="mine")
    assert names == ["relu_output_0", "relu_output_1"]


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({}, {"output"}),
        ({"inputs": True}, {"input", "output"}),
        ({"inputs": True, "outputs": False}, {"input"}),
        ({"outputs": False}, set()),
    ],
)
@pytest.mark.parametrize("layer", ["1", "11"])
def test_001_line_298_the_tensors_of_a_module_and_no_others(
    layer: str, arguments: dict[str, bool], kinds: set[str], out_dir: str
) -> None:
    hook = smd.Hook(out_dir, include_collections=["mine"])
    net = tall()
    hook.get_collection("mine").add_module_tensors(net[int(layer)], **arguments)
    trial = saved_by(hook, net=net)
    expected = {f"{layer}_{kind}_0" for kind in kinds}
    assert set(trial.tensor_names()) == {"CrossEntropyLoss_output_0", *expected}


def test_001_line_298_a_module_inside_another_and_the_model_itself(out_dir: str) -> None:
    hook = smd.Hook(out_dir, include_collections=["mine"])
    net = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Linear(4, 3))
    for module in (net[0][1], net):
        hook.get_collection("mine").add_module_tensors(module)
    names = saved_by(hook, net=net).tensor_names(collection="mine")
    assert names == ["0.1_output_0", "Sequential_output_0"]


COLLECTION_PARAMETERS: dict[str, tuple[str, Any]] = {
    "include_regex": ("relu, tanh", ["relu", "tanh"]),
    "save_histogram": ("False", False),
}


def check_collection_parameter(name: str, configure: Configure) -> None:
    given, expected = COLLECTION_PARAMETERS[name]
    path = configure(CollectionConfigurations=[collection("default", **{name: given})])
    found = smd.Hook.create_from_json_file(path).get_collection("default")
    assert getattr(found, name) == expected


def check_collection_schedule(prefix: str, key: str, configure: Configure) -> None:
    parameters = {prefix + key: SCHEDULES[key]}
    path = configure(CollectionConfigurations=[collection("weights", **parameters)])
    hook = smd.Hook.create_from_json_file(path)
    check_schedule(hook.get_collection("weights").save_config, prefix, key)


def check_collection_forms(configure: Configure) -> None:
    path = configure(
        CollectionConfigurations=[
            collection("weights", reductions="mean,l1", save_raw_tensor="True"),
            collection("biases", reductions="max"),
        ]
    )
    trial = saved_by(smd.Hook.create_from_json_file(path))
    weight, bias = trial.tensor("Net_fc.weight"), trial.tensor("Net_fc.bias")
    assert set(weight.reduction_values(0)) == {("mean", False), ("l1", False)}
    assert weight.value(0).shape == (3, 8)
    assert set(bias.reduction_values(0)) == {("max", False)}
    assert bias.saved(0)[0] is None


def test_001_line_303_a_collection_and_its_parameters(configure: Configure) -> None:
    check_collection_forms(configure)


def test_000_line_287_a_collection_and_its_parameters(configure: Configure) -> None:
    check_collection_forms(configure)


@pytest.mark.parametrize("name", COLLECTION_PARAMETERS)
def test_001_line_311_a_parameter_of_a_collection(name: str, configure: Configure) -> None:
    check_collection_parameter(name, configure)


@pytest.mark.parametrize("name", COLLECTION_PARAMETERS)
def test_000_line_301_a_parameter_of_a_collection(name: str, configure: Configure) -> None:
    check_collection_parameter(name, configure)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("key", SCHEDULES)
def test_001_line_311_a_schedule_of_a_collection(
    prefix: str, key: str, configure: Configure
) -> None:
    check_collection_schedule(prefix, key, configure)


def check_example_of_reductions(out_dir: str) -> None:
    reduction_config = smd.ReductionConfig(
        reductions=["std", "variance"], abs_reductions=["mean"], norms=["l1"]
    )
    hook = smd.Hook(out_dir, include_collections=["biases"], reduction_config=reduction_config)
    net = Net()
    bias = net.fc.bias.detach().double().clone()
    found = saved_by(hook, net=net).tensor("Net_fc.bias").reduction_values(0)
    assert found == pytest.approx(
        {
            ("std", False): bias.std().item(),
            ("variance", False): bias.var().item(),
            ("mean", True): bias.abs().mean().item(),
            ("l1", False): bias.abs().sum().item(),
        }
    )


def test_001_line_432_reductions_of_the_example(out_dir: str) -> None:
    check_example_of_reductions(out_dir)


def test_004_line_90_reductions_of_the_example(out_dir: str) -> None:
    check_example_of_reductions(out_dir)


def check_every_reduction(prefix: str, of_hook: bool, configure: Configure) -> None:
    reductions = ",".join(prefix + name for name in REDUCTIONS)
    parameters = {"reductions": reductions}
    path = configure(
        HookParameters=parameters if of_hook else {},
        CollectionConfigurations=[collection("weights", **({} if of_hook else parameters))],
    )
    weight = saved_by(smd.Hook.create_from_json_file(path)).tensor("Net_fc.weight")
    assert set(weight.reduction_values(0)) == {(name, bool(prefix)) for name in REDUCTIONS}
    for name in REDUCTIONS:
        value = weight.reduction_value(0, name, abs=bool(prefix))
        assert f"{float(value):.6f}" == f"{value:.6f}" == f"{value[0]:.6f}"


@pytest.mark.parametrize("prefix", ["", "abs_"])
@pytest.mark.parametrize("of_hook", [True, False])
def test_001_line_441_every_reduction(prefix: str, of_hook: bool, configure: Configure) -> None:
    check_every_reduction(prefix, of_hook, configure)


@pytest.mark.parametrize("prefix", ["", "abs_"])
def test_004_line_100_every_reduction(prefix: str, configure: Configure) -> None:
    check_every_reduction(prefix, False, configure)


# 002: configuring the hook in SageMaker.


def test_002_line_14_two_built_in_collections(configure: Configure) -> None:
    collections = [{"CollectionName": "weights"}, {"CollectionName": "gradients"}]
    trial = saved_by(
        smd.Hook.create_from_json_file(configure(CollectionConfigurations=collections)), 501
    )
    assert trial.steps() == [0, 500]
    for name in ("weights", "gradients"):
        assert trial.tensor_names(collection=name) == BUILT_IN[name]


def test_002_line_29_a_collection_with_parameters(configure: Configure) -> None:
    parameters = {"include_regex": "relu_output", "save_steps": "1,2", "end_step": "0"}
    path = configure(CollectionConfigurations=[collection("tensor_collection", **parameters)])
    trial = saved_by(smd.Hook.create_from_json_file(path), 4)
    assert trial.tensor("relu_output_0").steps() == [1, 2]


def test_002_line_47_losses_by_mode(configure: Configure) -> None:
    parameters = {"train.save_interval": "100", "eval.save_interval": "10"}
    path = configure(CollectionConfigurations=[collection("losses", **parameters)])
    hook = smd.Hook.create_from_json_file(path)
    net, loss = Net(), nn.CrossEntropyLoss()
    hook.register_module(net)
    hook.register_loss(loss)
    for mode in (smd.modes.TRAIN, smd.modes.EVAL):
        hook.set_mode(mode)
        for _ in range(21):
            loss(net(torch.ones(1, 4)), torch.zeros(1, dtype=torch.long))
    hook.close()
    trial = create_trial(hook.out_dir)
    assert trial.steps(mode=smd.modes.TRAIN) == [0]
    assert trial.steps(mode=smd.modes.EVAL) == [0, 10, 20]


def check_collections_reach_the_hook(place: dict[str, str], configure: Configure) -> None:
    path = configure(**place, CollectionConfigurations=[collection("biases")])
    trial = saved_by(smd.Hook.create_from_json_file(path))
    assert trial.tensor_names(collection="biases") == BUILT_IN["biases"]


def test_002_line_68_a_hook_with_collections(configure: Configure) -> None:
    check_collections_reach_the_hook({}, configure)


def test_002_line_80_a_hook_with_a_place_in_s3(configure: Configure) -> None:
    check_collections_reach_the_hook({"S3OutputPath": "s3://a-bucket"}, configure)


def test_002_line_131_four_built_in_collections(configure: Configure) -> None:
    path = configure(CollectionConfigurations=[{"CollectionName": name} for name in BUILT_IN])
    trial = saved_by(smd.Hook.create_from_json_file(path))
    assert {name: trial.tensor_names(collection=name) for name in BUILT_IN} == BUILT_IN


def test_002_line_180_losses_every_50_steps(configure: Configure) -> None:
    path = configure(CollectionConfigurations=[collection("losses", save_interval="50")])
    trial = saved_by(smd.Hook.create_from_json_file(path), 101)
    assert trial.tensor("CrossEntropyLoss_output_0").steps() == [0, 50, 100]


ACTIVATIONS = {
    "include_regex": "relu|tanh",
    "reductions": "mean,variance,max,abs_mean,abs_variance,abs_max",
}


def test_002_line_227_activations(configure: Configure) -> None:
    named = collection("custom_activations_collection", **ACTIVATIONS)
    with logged() as said:
        trial = saved_by(
            smd.Hook.create_from_json_file(configure(CollectionConfigurations=[named]))
        )
    names = trial.tensor_names(collection="custom_activations_collection")
    assert {"relu_output_0", "relu_output_1", "relu_input_0"} <= set(names)
    assert len(trial.tensor("relu_output_0").reduction_values(0)) == 6
    assert [text for text in said if "matches" in text] == []


def test_002_line_227_activations_of_a_model_that_has_no_such_names(configure: Configure) -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    named = collection("custom_activations_collection", **ACTIVATIONS)
    with logged() as said:
        trial = saved_by(
            smd.Hook.create_from_json_file(
                configure(HookParameters={"save_interval": 1}, CollectionConfigurations=[named])
            ),
            3,
            net,
        )
    assert trial.tensor_names() == ["CrossEntropyLoss_output_0"]
    assert [text for text in said if "custom_activations_collection" in text] == [
        "Collection custom_activations_collection: no tensor so far matches 'relu|tanh'; "
        "did you mean 'ReLU'?"
    ]


def test_002_line_227_activations_by_their_class(configure: Configure) -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Tanh())
    named = collection("custom_activations_collection", include_regex="ReLU_output|Tanh")
    path = configure(CollectionConfigurations=[named])
    with logged() as said:
        trial = saved_by(smd.Hook.create_from_json_file(path), net=net)
    names = trial.tensor_names(collection="custom_activations_collection")
    assert names == ["1_output_0", "3_input_0", "3_output_0"]
    assert [text for text in said if "matches" in text] == []


# 003: SageMaker's SDK.


def test_003_line_39_all_parts_of_a_configuration(configure: Configure) -> None:
    path = configure(
        S3OutputPath="s3://path/for/data/emission",
        HookParameters={"save_interval": "3"},
        CollectionConfigurations=[collection("collection_name", include_regex="fc_output")],
    )
    trial = saved_by(smd.Hook.create_from_json_file(path), 5)
    assert trial.steps() == [0, 3]
    assert trial.tensor_names(collection="collection_name") == ["fc_output_0"]


def test_003_line_78_one_built_in_collection(configure: Configure) -> None:
    path = configure(CollectionConfigurations=[{"CollectionName": "biases"}])
    trial = saved_by(smd.Hook.create_from_json_file(path))
    assert trial.tensor_names(collection="biases") == BUILT_IN["biases"]


def test_003_line_100_a_collection_with_start_and_end(configure: Configure) -> None:
    parameters = {"include_regex": "relu", "save_interval": "20", "start_step": "5"}
    named = collection("custom_relu_collection", **parameters, end_step="100")
    path = configure(CollectionConfigurations=[named])
    trial = saved_by(smd.Hook.create_from_json_file(path), 110)
    assert trial.tensor("relu_output_0").steps() == [20, 40, 60, 80]


@pytest.mark.parametrize(("own", "steps"), [({}, [0, 10, 20]), ({"save_interval": "20"}, [0, 20])])
def test_003_line_119_parameters_for_all_collections(
    own: dict[str, str], steps: list[int], configure: Configure
) -> None:
    path = configure(
        HookParameters={"save_interval": "10"},
        CollectionConfigurations=[
            collection("collection_name_1", include_regex="fc_output"),
            collection("collection_name_2", include_regex="relu_output", **own),
        ],
    )
    trial = saved_by(smd.Hook.create_from_json_file(path), 25)
    assert trial.tensor("fc_output_0").steps() == [0, 10, 20]
    assert trial.tensor("relu_output_0").steps() == steps


def test_003_line_342_tensorboard_in_a_job(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tensorboard"
    told = tmp_path / "tensorboardoutputconfig.json"
    told.write_text(json.dumps({"S3OutputPath": "s3://path", "LocalPath": str(place)}))
    monkeypatch.setenv("TRAINING_JOB_NAME", "job")
    monkeypatch.setenv("TENSORBOARD_CONFIG_FILE_PATH", str(told))
    hook = smd.Hook.create_from_json_file(configure(CollectionConfigurations=[]))
    fit(hook, Net())
    hook.close()
    assert list(place.rglob("*tfevents*"))


def test_003_line_379_a_trial_of_the_path_that_a_job_has(out_dir: str) -> None:
    saved_by(smd.Hook(out_dir))
    trial = create_trial(out_dir)
    assert trial.steps() == [0]
    assert trial.tensor("CrossEntropyLoss_output_0").value(0) > 0


def test_003_line_397_without_a_configuration_there_is_no_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(tmp_path / "none.json"))
    assert smd.get_hook(create_if_not_exists=True) is None
    with pytest.raises(FileNotFoundError):
        smd.Hook.create_from_json_file()
    assert smdebug.__version__
