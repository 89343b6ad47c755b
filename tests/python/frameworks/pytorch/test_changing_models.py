"""What is saved of a model is what it consists of at the step."""

from __future__ import annotations

import gc
import inspect
import weakref
from typing import Callable

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.pytorch.watched import WatchedModule
from smdebug.trials import Trial
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches
from torch import Tensor, nn
from torch.nn.utils import prune


class Adapter(nn.Module):
    """Takes the place of a linear layer and adds a product of two small matrices to it."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, 2, bias=False)
        self.up = nn.Linear(2, base.out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.base_layer(x) + self.up(self.down(x))
        return out


def load_other_state(net: Net) -> None:
    if "assign" not in inspect.signature(nn.Module.load_state_dict).parameters:
        pytest.skip("this torch copies into the old parameters")
    net.load_state_dict({name: value * 2 for name, value in net.state_dict().items()}, assign=True)


def give_a_new_head(net: Net) -> None:
    net.fc = nn.Linear(8, 3)


def set_a_parameter(net: Net) -> None:
    net.child.lin.weight = nn.Parameter(torch.randn(8, 4))


def adapt(net: Net) -> None:
    net.fc = Adapter(net.fc)


def prune_a_layer(net: Net) -> None:
    prune.random_unstructured(net.fc, "weight", amount=0.5)


def prune_for_good(net: Net) -> None:
    prune_a_layer(net)
    prune.remove(net.fc, "weight")


def drop_a_bias(net: Net) -> None:
    net.fc.bias = None


def add_a_layer(net: Net) -> None:
    net.relu = nn.Sequential(nn.ReLU(), nn.Linear(8, 8))


Change = Callable[[Net], None]
CHANGES: list[Change] = [
    load_other_state,
    give_a_new_head,
    set_a_parameter,
    adapt,
    prune_a_layer,
    prune_for_good,
    drop_a_bias,
    add_a_layer,
]


def train_and_change(
    net: nn.Module, change: Callable[..., None], at: int
) -> list[dict[str, bytes]]:
    """Trains for six steps; what the model had in each, by the names that the hook gives it."""
    found: list[dict[str, bytes]] = []
    for step, (x, y) in enumerate(batches(6)):
        if step == at:
            change(net)
        net.zero_grad(set_to_none=True)
        of_step = {
            f"Net_{name}": parameter.detach().numpy().tobytes()
            for name, parameter in net.named_parameters()
        }
        nn.functional.cross_entropy(net(x), y).backward()
        for name, parameter in net.named_parameters():
            if parameter.grad is not None:
                of_step[f"gradient/Net_{name}"] = parameter.grad.numpy().tobytes()
        with torch.no_grad():
            for parameter in net.parameters():
                if parameter.grad is not None:
                    parameter -= 0.1 * parameter.grad
        found.append(of_step)
    return found


def saved_at(trial: Trial, step: int) -> dict[str, bytes]:
    names = trial.tensor_names(step=step, regex="^(gradient/)?Net_.*(weight|bias)")
    return {name: trial.tensor(name).value(step).tobytes() for name in names}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("interval", [1, 2])
@pytest.mark.parametrize("at", [2, 3])  # Before a step that is saved, or not, at an interval of 2.
def test_parameters_and_gradients_are_those_of_the_step(
    change: Change, interval: int, at: int, make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(
        include_collections=["weights", "biases", "gradients"],
        save_config=smd.SaveConfig(save_interval=interval),
    )
    net = Net()
    hook.register_module(net)
    expected = train_and_change(net, change, at)
    trial = read_run()
    assert trial.steps() == list(range(0, 6, interval))
    for step in trial.steps():
        assert saved_at(trial, step) == expected[step]
    assert hook.stats["errors"] == hook.stats["skipped"] == 0


@pytest.mark.parametrize("change", CHANGES)
def test_the_training_is_that_without_a_hook(change: Change, make_hook: MakeHook) -> None:
    torch.manual_seed(2)
    expected = train_and_change(Net(), change, 3)
    torch.manual_seed(2)
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    assert train_and_change(net, change, 3) == expected


def test_accumulated_gradients_are_of_new_parameters_too(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], forwards_per_step=2)
    hook.register_module(net)
    expected = []
    for step, (x, _) in enumerate(batches(6)):
        if step % 2 == 0:
            give_a_new_head(net)
        net(x).sum().backward()
        assert net.fc.weight.grad is not None
        expected.append(net.fc.weight.grad.clone())
    gradient = read_run().tensor("gradient/Net_fc.weight")
    for step in range(3):
        np.testing.assert_array_equal(gradient.value(step), expected[2 * step + 1].numpy())


def test_what_new_modules_take_and_give_is_saved(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    x = torch.randn(2, 4)
    net(x)
    adapt(net)
    net(x)
    trial = read_run()

    def outputs(step: int) -> list[str]:
        return trial.tensor_names(step=step, regex="^fc.*_output_0$")

    assert outputs(0) == ["fc_output_0"]
    assert outputs(1) == [
        *("fc.base_layer_output_0", "fc.down_output_0", "fc.up_output_0", "fc_output_0")
    ]
    whole = trial.tensor("fc_output_0").value(1)
    parts = [trial.tensor(f"fc.{part}_output_0").value(1) for part in ("base_layer", "up")]
    np.testing.assert_array_equal(whole, parts[0] + parts[1])


def test_what_was_taken_out_is_not_watched_any_more(make_hook: MakeHook) -> None:
    net = Net()
    old = net.fc
    hook = make_hook(save_all=True)
    hook.register_module(net)
    for _ in range(2):
        net(torch.randn(2, 4)).sum().backward()
        give_a_new_head(net)
    assert not old._forward_hooks
    assert not old.weight._backward_hooks


@pytest.mark.parametrize("forwards", [1, 2])
def test_what_was_replaced_is_not_kept(forwards: int, make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(save_all=True, forwards_per_step=forwards)
    hook.register_module(net)
    net(torch.randn(2, 4)).sum().backward()  # Callbacks are attached now.
    old = [weakref.ref(net.fc), weakref.ref(net.fc.weight), weakref.ref(net.child.lin.weight)]
    net.zero_grad(set_to_none=True)
    give_a_new_head(net)
    net.child.lin.weight = nn.Parameter(torch.randn(8, 4))
    if forwards > 1 and not hasattr(Tensor, "register_post_accumulate_grad_hook"):
        hook.end_step()  # The oldest torch keeps what gathers gradients until the next step.
        net(torch.randn(2, 4))
    gc.collect()
    assert [reference() for reference in old] == [None] * len(old)


def test_nobody_looks_at_a_model_at_steps_of_which_nothing_is_saved(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()
    hook = make_hook(include_collections=["weights"], save_config=smd.SaveConfig(save_interval=4))
    hook.register_module(net)
    step, looked = -1, []
    look = WatchedModule.look

    def note(watched: WatchedModule) -> list[Tensor]:
        looked.append(step)
        return look(watched)

    monkeypatch.setattr(WatchedModule, "look", note)
    for step, (x, _) in enumerate(batches(8)):  # noqa: B007
        net(x).sum().backward()
    assert sorted(set(looked)) == [0, 4]


def test_the_contents_of_parameters_may_be_swapped(make_hook: MakeHook, read_run: ReadRun) -> None:
    swap = getattr(torch.__future__, "set_swap_module_params_on_conversion", None)
    if swap is None:
        pytest.skip("this torch does not swap them")
    net = Net()
    hook = make_hook(include_collections=["weights", "gradients"])
    hook.register_module(net)
    x = torch.randn(2, 4)
    net(x).sum().backward()
    net.zero_grad(set_to_none=True)
    swap(True)
    try:
        net.double()
    finally:
        swap(False)
    net(x.double()).sum().backward()
    trial = read_run()
    for name in ("Net_fc.weight", "gradient/Net_fc.weight"):
        assert [trial.tensor(name).value(step).dtype for step in (0, 1)] == ["float32", "float64"]


def test_shared_parameters_are_saved_once_while_they_are_shared(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    net[1].weight = net[0].weight
    hook = make_hook(include_collections=["weights"])
    hook.register_module(net)
    x = torch.randn(2, 4)
    net(x)
    net[1].weight = nn.Parameter(torch.zeros(4, 4))
    net(x)
    trial = read_run()
    assert trial.tensor_names(step=0) == ["Sequential_0.weight"]
    assert trial.tensor_names(step=1) == ["Sequential_0.weight", "Sequential_1.weight"]
    assert not trial.tensor("Sequential_1.weight").value(1).any()


def test_a_tensor_between_forward_and_backward_keeps_its_step(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    for step, (x, _) in enumerate(batches(6)):
        give_a_new_head(net)
        value = net(x).sum()
        hook.save_tensor("between", torch.tensor([step]), "mine")
        value.backward()
        hook.save_tensor("after", torch.tensor([step]), "mine")
    trial = read_run()
    assert [trial.tensor("between").value(step).item() for step in (0, 2, 4)] == [0, 2, 4]
    assert [trial.tensor("after").value(step).item() for step in (2, 4)] == [1, 3]


def test_what_stands_in_for_parameters_is_saved(make_hook: MakeHook, read_run: ReadRun) -> None:
    func = pytest.importorskip("torch.func")
    net = Net()
    hook = make_hook(include_collections=["weights", "gradients"])
    hook.register_module(net)
    others = {name: (2 * value).detach() for name, value in net.named_parameters()}
    learning = others["fc.weight"].requires_grad_()
    func.functional_call(net, others, torch.randn(2, 4)).sum().backward()
    net(torch.randn(2, 4)).sum().backward()
    assert learning.grad is not None
    trial = read_run()
    weight, gradient = trial.tensor("Net_fc.weight"), trial.tensor("gradient/Net_fc.weight")
    np.testing.assert_array_equal(weight.value(0), learning.detach().numpy())
    np.testing.assert_array_equal(weight.value(0), 2 * weight.value(1))
    np.testing.assert_array_equal(gradient.value(0), learning.grad.numpy())
    assert trial.tensor("gradient/Net_child.lin.weight").steps() == [1]
    assert hook.stats["errors"] == hook.stats["skipped"] == 0


def test_a_function_of_all_parameters_is_watched_without_harm(make_hook: MakeHook) -> None:
    func = pytest.importorskip("torch.func")
    net = Net()
    hook = make_hook(include_collections=["weights", "gradients"])
    hook.register_module(net)
    x = torch.randn(2, 4)
    parameters = {name: value.detach() for name, value in net.named_parameters()}

    def loss(given: dict[str, Tensor]) -> Tensor:
        value: Tensor = func.functional_call(net, given, x).sum()
        return value

    found = func.grad(loss)(parameters)
    net(x).sum().backward()
    for name, parameter in net.named_parameters():
        np.testing.assert_allclose(found[name], parameter.grad)
    hook.close()
    assert hook.stats["errors"] == 0
    assert hook.stats["values_saved"] > 0
