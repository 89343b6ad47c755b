"""Compiled models: what is saved, what is not, and that it is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from smdebug.pytorch import SaveConfig
from support.log import logged
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches, train
from torch import nn

if not hasattr(torch, "compile"):
    pytest.skip("this torch does not compile", allow_module_level=True)

import torch._dynamo

# Tracing is PyTorch's part; generating machine code is not needed to see it.
BACKEND = "aot_eager"

OUTSIDE = [
    *("CrossEntropyLoss_input_0", "CrossEntropyLoss_input_1", "CrossEntropyLoss_output_0"),
    *("Net_child.lin.bias", "Net_child.lin.weight", "Net_fc.bias", "Net_fc.weight"),
    *("gradient/Net_child.lin.bias", "gradient/Net_child.lin.weight"),
    *("gradient/Net_fc.bias", "gradient/Net_fc.weight"),
]
OF_THE_WHOLE = ["Net_input_0", "Net_output_0"]


@pytest.fixture(autouse=True)
def _new_compiler() -> None:
    torch._dynamo.reset()


def fit(hook: Any, net: nn.Module, model: Any, steps: int = 4) -> list[float]:
    loss = nn.CrossEntropyLoss()
    hook.register_loss(loss)
    return train(model, net, loss, steps)


def bare(fullgraph: bool) -> list[float]:
    torch.manual_seed(0)
    net = Net()
    model = torch.compile(net, backend=BACKEND, fullgraph=fullgraph)
    losses = train(model, net, nn.CrossEntropyLoss(), 4)
    torch._dynamo.reset()
    torch.manual_seed(0)
    return losses


# The first step is due, or it is not and the model is traced without callbacks.
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_hook_after_compilation_saves_all_but_the_inside(
    start: int, fullgraph: bool, make_hook: MakeHook, read_run: ReadRun, run_dir: Path
) -> None:
    expected = bare(fullgraph)
    net = Net()
    model = torch.compile(net, backend=BACKEND, fullgraph=fullgraph)
    hook = make_hook(save_all=True, save_config=SaveConfig(save_interval=1, start_step=start))
    hook.register_module(model)
    assert fit(hook, net, model) == expected
    trial = read_run()
    assert trial.steps() == list(range(start, 4))
    for step in trial.steps():
        assert trial.tensor_names(step=step) == sorted(OUTSIDE + OF_THE_WHOLE)
    messages = json.loads((run_dir / "ledger/worker_0.json").read_text())["messages"]
    assert any("is compiled" in text for text in messages.values())


@pytest.mark.parametrize("start", [0, 1])
def test_a_hook_before_compilation_saves_all_but_inputs_and_outputs(
    start: int, make_hook: MakeHook, read_run: ReadRun
) -> None:
    expected = bare(fullgraph=False)
    net = Net()
    hook = make_hook(save_all=True, save_config=SaveConfig(save_interval=1, start_step=start))
    hook.register_module(net)
    model = torch.compile(net, backend=BACKEND)
    assert fit(hook, net, model) == expected
    trial = read_run()
    assert trial.steps() == list(range(start, 4))
    for step in trial.steps():
        assert trial.tensor_names(step=step) == sorted(OUTSIDE)


def test_one_whole_graph_over_a_hook_trains_and_says_what_is_lost(make_hook: MakeHook) -> None:
    expected = bare(fullgraph=True)
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    model = torch.compile(net, backend=BACKEND, fullgraph=True)
    with logged() as said:
        assert fit(hook, net, model) == expected
    assert any("fullgraph=True" in text for text in said)


@pytest.mark.parametrize("how", ["wrapped", "in place"])
def test_a_compiled_part_hides_only_what_is_in_it(
    how: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    if how == "in place" and not hasattr(nn.Module, "compile"):
        pytest.skip("this torch does not compile in place")
    net = Net()
    if how == "wrapped":
        net.child = torch.compile(net.child, backend=BACKEND)
    else:
        net.child.compile(backend=BACKEND)
    hook = make_hook(save_all=True)
    hook.register_module(net)
    fit(hook, net, net, steps=2)
    names = read_run().tensor_names(step=1)
    assert {"relu_output_1", "fc_output_0", "Net_output_0"} <= set(names)
    assert {"Net_child.lin.weight", "gradient/Net_child.lin.weight"} <= set(names)
    assert ("child_output_0" in names) == (how == "wrapped")
    assert not [name for name in names if name.startswith(("child.lin_", "child.act_"))]


# PyTorch looks at the gradient of the loss when it traces what follows the backward pass.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_a_step_that_is_compiled_as_a_whole(make_hook: MakeHook, read_run: ReadRun) -> None:
    def train_compiled(net: nn.Module) -> list[float]:
        optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        compiled = torch.compile(step, backend=BACKEND)
        return [compiled(x, y).item() for x, y in batches(6)]

    torch.manual_seed(0)
    expected = train_compiled(Net())
    torch._dynamo.reset()
    torch.manual_seed(0)
    net = Net()
    hook = make_hook(
        include_collections=["gradients"],
        save_config=SaveConfig(save_interval=2),
        forwards_per_step="auto",
    )
    hook.register_module(net)
    assert train_compiled(net) == expected
    trial = read_run()
    found = {step: value.item() for step, value in trial.tensor("loss").values().items()}
    assert found == dict(list(enumerate(expected))[::2])
    assert trial.tensor("gradient/Net_fc.weight").steps() == [0, 2, 4]
    assert hook.stats["skipped"] == hook.stats["errors"] == 0
