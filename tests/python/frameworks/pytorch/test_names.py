"""What tensors are called, and which collections they are in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.exceptions import SMDebugError
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, fit
from torch import Tensor, nn

# As smdebug 1.0 has them, in the order of their records.
NAMES_OF_NET = [
    "Net_child.lin.weight",
    "Net_child.lin.bias",
    "Net_fc.weight",
    "Net_fc.bias",
    "child.lin_input_0",
    "child.lin_output_0",
    "child.act_input_0",
    "child.act_output_0",
    "child_input_0",
    "child_output_0",
    "relu_input_0",
    "relu_output_0",
    "relu_input_1",
    "relu_output_1",
    "fc_input_0",
    "fc_output_0",
    "Net_input_0",
    "Net_output_0",
    "CrossEntropyLoss_input_0",
    "CrossEntropyLoss_input_1",
    "CrossEntropyLoss_output_0",
    "gradient/Net_fc.bias",
    "gradient/Net_fc.weight",
    "gradient/Net_child.lin.bias",
    "gradient/Net_child.lin.weight",
]


def test_names_and_order_are_those_of_smdebug_1_0(make_hook: MakeHook, run_dir: Path) -> None:
    hook = make_hook(save_all=True)
    fit(hook, Net())
    hook.close()
    index = json.loads((run_dir / "index/000000000/000000000000_worker_0.json").read_text())
    names = [entry["tensorname"] for entry in index["tensor_payload"]]
    # The two gradients of a layer come in an order that PyTorch chooses.
    assert names[:21] == NAMES_OF_NET[:21]
    assert sorted(names) == sorted(NAMES_OF_NET)


def test_values_are_those_of_the_model(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    before = {name: value.detach().clone() for name, value in net.named_parameters()}
    seen: dict[str, Tensor] = {}
    net.fc.register_forward_hook(lambda _m, _i, out: seen.__setitem__("fc", out.detach().clone()))
    hook = make_hook(save_all=True)
    losses = fit(hook, net)
    trial = read_run()
    for name, value in before.items():
        np.testing.assert_array_equal(trial.tensor(f"Net_{name}").value(0), value.numpy())
        gradient = dict(net.named_parameters())[name].grad
        assert gradient is not None
        np.testing.assert_array_equal(
            trial.tensor(f"gradient/Net_{name}").value(0), gradient.numpy()
        )
    np.testing.assert_array_equal(trial.tensor("fc_output_0").value(0), seen["fc"].numpy())
    loss = trial.tensor("CrossEntropyLoss_output_0").value(0)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(losses[0], rel=0, abs=0)


def test_only_losses_are_saved_by_default(make_hook: MakeHook, read_run: ReadRun) -> None:
    fit(make_hook(), Net(), steps=2)
    assert read_run().tensor_names() == ["CrossEntropyLoss_output_0"]


def test_collections_hold_what_their_regexes_match(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["weights", "biases", "gradients", "relu"])
    hook.get_collection("relu").include("relu_output")
    fit(hook, Net())
    assert hook.get_collection("relu").tensor_names == {"relu_output_0", "relu_output_1"}
    trial = read_run()
    assert trial.tensor_names(collection="weights") == ["Net_child.lin.weight", "Net_fc.weight"]
    assert trial.tensor_names(collection="biases") == ["Net_child.lin.bias", "Net_fc.bias"]
    assert len(trial.tensor_names(collection="gradients")) == 4
    assert trial.tensor_names(collection="relu") == ["relu_output_0", "relu_output_1"]


def test_a_collection_can_name_modules(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["mine"])
    collection = hook.get_collection("mine")
    assert isinstance(collection, smd.Collection)
    collection.add_module_tensors(net.relu, inputs=True, outputs=False)
    collection.add_module_tensors(net.child)
    fit(hook, net)
    assert read_run().tensor_names(collection="mine") == [
        "child_output_0",
        "relu_input_0",
        "relu_input_1",
    ]


class Odd(nn.Module):
    """Takes and gives tensors in every way that Python has."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = OddInner()
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        out = self.inner(self.scale, [x, (x + 1, None, 3)], factor=x * 2)
        total: Tensor = out["a"] + out["more"][0]
        return total


class OddInner(nn.Module):
    def forward(self, scale: Tensor, nested: list[object], *, factor: Tensor) -> dict[str, object]:
        first = nested[0]
        assert isinstance(first, Tensor)
        return {"a": first * scale, "more": [factor], "text": "x"}


def test_tensors_in_keywords_dicts_and_parameters_are_found(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(include_regex=["inner"])
    net = Odd()
    hook.register_module(net)
    x = torch.tensor([1.0, 2.0])
    net(x)
    trial = read_run()
    values = {name: trial.tensor(name).value(0).tolist() for name in trial.tensor_names()}
    # First what smdebug 1.0 sees, numbered as there; then a parameter and a keyword argument.
    expected = {
        "inner_input_0": [1.0, 2.0],
        "inner_input_1": [2.0, 3.0],
        "inner_input_2": [1.0, 1.0],
        "inner_output_0": [1.0, 2.0],
        "inner_output_1": [2.0, 4.0],
    }
    if hasattr(torch, "compile"):  # Older versions hand no keyword arguments to callbacks.
        expected["inner_input_3"] = [2.0, 4.0]
    assert values == expected


def test_a_wrapped_model_keeps_the_names_of_smdebug_1_0(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(include_collections=["weights"])
    net = nn.DataParallel(Net())
    hook.register_module(net)
    net(torch.randn(2, 4))
    assert "DataParallel_module.fc.weight" in read_run().tensor_names()


def test_several_models_share_the_steps(make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(include_collections=["weights", "gradients"])
    generator, critic = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 1))
    hook.register_module(generator)
    hook.register_module(critic)
    for _ in range(2):
        critic(generator(torch.randn(3, 2))).sum().backward()
    trial = read_run()
    # Each forward pass of a registered model is a step.
    assert trial.tensor("Linear_weight").steps() == [0, 2]
    assert trial.tensor("Sequential_0.weight").steps() == [1, 3]
    assert trial.tensor("gradient/Linear_weight").steps() == [1, 3]


def test_what_is_no_module_or_known_already_is_refused(make_hook: MakeHook) -> None:
    hook = make_hook()
    net = Net()
    with pytest.raises(SMDebugError, match="int is not"):
        hook.register_module(3)
    hook.register_module(net)
    with pytest.raises(AssertionError, match="already registered"):
        hook.register_module(net.child)


def test_a_loss_of_another_kind_and_record_tensor_value(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook()
    net = Net()
    hook.register_module(net)
    loss = nn.functional.mse_loss(net(torch.randn(2, 4)), torch.zeros(2, 3))
    hook.record_tensor_value("my_loss", loss)
    hook.record_tensor_value("my_loss", loss * 2)
    trial = read_run()
    assert trial.tensor_names(collection="losses") == ["my_loss_output_0", "my_loss_output_1"]
    assert trial.tensor("my_loss_output_0").value(0).item() == loss.item()
