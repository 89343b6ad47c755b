"""When a step begins, what belongs to it, and that an idle one costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.exceptions import SMDebugValueError
from support.log import logged
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches, fit
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


def callbacks_on(net: nn.Module) -> list[Any]:
    """Everything attached to a model that would run in a forward or backward pass."""
    attached: list[Any] = []
    for module in net.modules():
        attached += [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
        attached += [*module._backward_hooks.values()]
    for parameter in net.parameters():
        attached += [*(parameter._backward_hooks or {}).values()]
    return attached


def test_an_idle_step_has_one_callback_whatever_the_model(make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(save_all=True, save_config=smd.SaveConfig(save_interval=3))
    loss = nn.CrossEntropyLoss()
    hook.register_module(net)
    hook.register_loss(loss)
    counts = []
    for x, y in batches(5):
        value = loss(net(x), y)
        counts.append(len(callbacks_on(net)) + len(callbacks_on(loss)))
        value.backward()
    saved = 1 + 6 + 4 + 1  # The root's own, modules, gradients, the loss.
    assert counts == [saved, 1, 1, saved, 1]
    hook.close()
    assert callbacks_on(net) == callbacks_on(loss) == []


def test_gradients_get_callbacks_only_when_they_are_due(make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"])
    hook.get_collection("gradients").save_config = smd.SaveConfig(save_interval=2)
    hook.register_module(net)
    counts = []
    for x, _ in batches(4):
        net(x).sum().backward()
        counts.append(sum(len(p._backward_hooks or {}) for p in net.parameters()))
    assert counts == [4, 0, 4, 0]


def test_nothing_is_left_on_a_parameter_but_the_callbacks_of_others(make_hook: MakeHook) -> None:
    net = Net()
    seen: list[torch.Tensor] = []
    before, within, *others = net.parameters()
    before.register_hook(seen.append)
    hook = make_hook(include_collections=["gradients"], save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    for step, (x, _) in enumerate(batches(3)):
        net(x).sum().backward()
        if step == 0:
            within.register_hook(seen.append)
        if step == 1:
            assert [parameter._backward_hooks for parameter in others] == [None] * len(others)
    hook.close()
    seen.clear()
    net(x).sum().backward()
    assert len(seen) == 2
    assert [parameter._backward_hooks for parameter in others] == [None] * len(others)


def test_steps_are_counted_by_mode(make_hook: MakeHook, read_run: ReadRun) -> None:
    net, loss = Net(), nn.CrossEntropyLoss()
    hook = make_hook()
    hook.register_module(net)
    hook.register_loss(loss)
    for _ in range(2):
        hook.set_mode(smd.modes.TRAIN)
        for x, y in batches(3):
            loss(net(x), y).backward()
        hook.set_mode(smd.modes.EVAL)
        with torch.no_grad():
            for x, y in batches(2):
                loss(net(x), y)
    assert hook.step == 9
    assert hook.mode_steps[smd.modes.TRAIN] == 5
    trial = read_run()
    assert trial.steps(mode=smd.modes.TRAIN) == list(range(6))
    assert trial.steps(mode=smd.modes.EVAL) == list(range(4))
    assert trial.steps() == list(range(10))
    assert trial.global_step(smd.modes.EVAL, 2) == 8


def test_a_mode_may_be_given_by_its_name(make_hook: MakeHook) -> None:
    hook = make_hook(forwards_per_step=2)
    net = Net()
    hook.register_module(net)
    for name, mode in (("train", smd.modes.TRAIN), ("EVAL", smd.modes.EVAL)):
        hook.set_mode(name)
        assert hook.mode is mode
    hook.set_mode("train")
    for x, _ in batches(4):
        hook.set_mode("train")  # No other mode, so that the step goes on.
        net(x)
    assert hook.mode_steps[smd.modes.TRAIN] == 1


@pytest.mark.parametrize("wrong", ["trian", 5, None])
def test_a_wrong_mode_is_told_and_changes_nothing(wrong: Any, make_hook: MakeHook) -> None:
    hook = make_hook(save_all=True)
    net = Net()
    hook.register_module(net)
    hook.set_mode(smd.modes.EVAL)
    net(torch.ones(2, 4))
    with logged() as said:
        hook.set_mode(wrong)
        net(torch.ones(2, 4))
        hook.close()
    assert hook.mode is smd.modes.EVAL
    assert hook.mode_steps == {smd.modes.EVAL: 1, smd.modes.GLOBAL: 1}
    assert hook.stats["skipped"] == 1
    text = f"mode: '{wrong}' is not allowed; expected one of TRAIN, EVAL, PREDICT, GLOBAL"
    assert [line for line in said if text in line]


def test_a_strict_hook_refuses_a_wrong_mode(
    make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_STRICT", "1")
    with pytest.raises(SMDebugValueError, match="mode: 'trian' is not allowed"):
        make_hook().set_mode("trian")


def test_gradients_are_not_saved_in_evaluation(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients", "weights"])
    hook.register_module(net)
    hook.set_mode(smd.modes.EVAL)
    net(torch.randn(2, 4)).sum().backward()
    names = read_run().tensor_names()
    assert "Net_fc.weight" in names
    assert not [name for name in names if name.startswith("gradient")]


def test_several_forwards_make_one_step_with_accumulated_gradients(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net, loss = Net(), nn.CrossEntropyLoss()
    hook = make_hook(include_collections=["gradients", "losses"], forwards_per_step=3)
    hook.register_module(net)
    hook.register_loss(loss)
    expected: list[Tensor] = []
    data = batches(6)
    for start in (0, 3):
        net.zero_grad()
        for x, y in data[start : start + 3]:
            loss(net(x), y).backward()
        assert net.fc.weight.grad is not None
        expected.append(net.fc.weight.grad.clone())
    trial = read_run()
    assert trial.steps() == [0, 1]
    gradient = trial.tensor("gradient/Net_fc.weight")
    for step in (0, 1):
        np.testing.assert_array_equal(gradient.value(step), expected[step].numpy())
    assert trial.tensor_names(collection="losses", step=0) == [
        f"CrossEntropyLoss_output_{i}" for i in range(3)
    ]


def test_evaluation_accumulates_nothing(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"], save_all=True, forwards_per_step=2)
    hook.register_module(net)
    expected: list[Tensor] = []
    for _ in range(2):
        net.zero_grad()
        hook.set_mode(smd.modes.TRAIN)
        for x, _y in batches(3):
            net(x).sum().backward()
            assert net.fc.weight.grad is not None
            expected.append(net.fc.weight.grad.clone())
        hook.set_mode(smd.modes.EVAL)
        with torch.no_grad():
            for x, _y in batches(3):
                net(x)
    trial = read_run()
    assert trial.steps(mode=smd.modes.TRAIN) == [0, 1, 2, 3]
    assert trial.steps(mode=smd.modes.EVAL) == [0, 1, 2, 3, 4, 5]
    # The third pass of each epoch has no second one.
    gradient = trial.tensor("gradient/Net_fc.weight")
    assert gradient.steps(mode=smd.modes.TRAIN) == [0, 2]
    for step, passes in ((0, 1), (2, 4)):
        saved = gradient.value(step, mode=smd.modes.TRAIN)
        np.testing.assert_array_equal(saved, expected[passes].numpy())


def test_a_number_of_forwards_below_one_is_refused(make_hook: MakeHook) -> None:
    with pytest.raises(SMDebugValueError, match="forwards_per_step: '0' is not allowed"):
        make_hook(forwards_per_step=0)


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = Net()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = checkpoint(self.body, x, use_reentrant=False)
        return out


@pytest.mark.skipif(
    not hasattr(torch._C, "_current_graph_task_id"),
    reason="this torch does not tell that it recomputes",
)
@pytest.mark.parametrize("root", ["whole", "part"])
def test_a_checkpointed_module_is_saved_once(
    root: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Checkpointed()
    hook = make_hook(save_all=True)
    hook.register_module(net if root == "whole" else net.body)
    net(torch.randn(2, 4)).sum().backward()
    trial = read_run()
    assert trial.steps() == [0]
    prefix = "body." if root == "whole" else ""
    relu = f"{prefix}relu_output_"
    assert [n for n in trial.tensor_names() if n.startswith(relu)] == [f"{relu}0", f"{relu}1"]


def test_frozen_and_unused_parameters_have_no_gradient(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    net.child.requires_grad_(False)
    net.register_module("unused", nn.Linear(2, 2))
    hook = make_hook(include_collections=["weights", "gradients"])
    fit(hook, net)
    trial = read_run()
    assert "Net_child.lin.weight" in trial.tensor_names()
    assert "Net_unused.weight" in trial.tensor_names()
    assert trial.tensor_names(collection="gradients") == [
        "gradient/Net_fc.bias",
        "gradient/Net_fc.weight",
    ]
    assert not [n for n in trial.collection("gradients").tensor_names if "child" in n]


def test_outputs_under_autocast_are_seen_as_they_are(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(torch.randn(2, 4))
    assert read_run().tensor("fc_output_0").value(0).dtype.name == "bfloat16"


def test_scalars_and_tensors_of_the_user(make_hook: MakeHook, read_run: ReadRun) -> None:
    net, loss = Net(), nn.CrossEntropyLoss()
    hook = make_hook(save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    hook.register_loss(loss)
    hook.save_scalar("early", 7)
    losses = []
    for step, (x, y) in enumerate(batches(4)):
        hook.save_tensor("before", [step, step])
        value = loss(net(x), y)
        hook.save_tensor("between", value, ["mine", "default"])
        value.backward()
        hook.save_tensor("after", torch.full((2,), step), "mine")
        hook.save_scalar("loss", value)
        losses.append(value.item())
    trial = read_run()
    assert trial.tensor("scalar/loss").steps() == [0, 1, 2, 3]
    assert [v.item() for v in trial.tensor("scalar/loss").values().values()] == losses
    assert trial.tensor("scalar/early").value(0).item() == 7
    assert {s: v.tolist() for s, v in trial.tensor("before").values().items()} == {
        0: [0, 0],
        2: [2, 2],
    }
    assert {s: v.item() for s, v in trial.tensor("between").values().items()} == {
        0: losses[0],
        2: losses[2],
    }
    # As in smdebug 1.0: what comes after a backward pass belongs to the next step.
    assert {s: v.tolist() for s, v in trial.tensor("after").values().items()} == {2: [1, 1]}
    assert "between" in trial.tensor_names(collection="mine")
    assert "between" in trial.tensor_names(collection="default")


def test_collections_may_change_between_an_early_value_and_the_first_step(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["mine", "layer"])
    kept = torch.ones(2)
    hook.save_scalar("early", 7)
    hook.save_tensor("waits", kept)
    kept.zero_()
    hook.get_collection("mine").include("fc_output")
    hook.get_collection("layer").add_module_tensors(net.fc, inputs=True)
    hook.register_module(net)
    for x, _ in batches(2):
        net(x).sum().backward()
    trial = read_run()
    assert trial.tensor("scalar/early").value(0).item() == 7
    assert trial.tensor("waits").value(0).tolist() == [1, 1]
    assert trial.tensor("fc_output_0").steps() == [0, 1]
    assert trial.tensor("fc_input_0").steps() == [0, 1]


def test_what_waits_for_the_first_step_is_bounded(
    make_hook: MakeHook, read_run: ReadRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMDEBUG_BUFFER_MB", "1")
    net = Net()
    hook = make_hook()
    hook.save_tensor("large", torch.ones(1 << 20))
    hook.save_tensor("small", torch.ones(2))
    hook.register_module(net)
    net(torch.randn(2, 4))
    assert hook.stats["dropped"] == 1
    assert "large" not in read_run().tensor_names()


def test_a_tensor_waits_as_it_was_and_the_last_is_not_lost(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook()
    hook.register_module(net)
    for step, (x, _) in enumerate(batches(2)):
        net(x).sum().backward()
        kept = torch.full((1,), float(step))
        hook.save_tensor(f"of_{step}", kept)
        kept.zero_()
    trial = read_run()
    assert trial.tensor("of_0").value(1).item() == 0
    assert trial.tensor("of_1").value(1).item() == 1


@pytest.mark.parametrize("value", [torch.ones(2), "text", [1, 2], None])
def test_a_scalar_that_is_no_number_is_counted(value: Any, make_hook: MakeHook) -> None:
    hook = make_hook()
    fit(hook, Net())
    hook.save_scalar("x", value)
    assert hook.stats["skipped"] == 1
    hook.save_scalar("x", 1.0)
    hook.close()
    assert hook.stats["scalars_saved"] == 1


class Replaced(nn.Module):
    """Runs its two layers in a data-dependent order, one of them sometimes not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: Tensor, both: bool) -> Tensor:
        out: Tensor = self.two(self.one(x)) if both else self.one(x)
        return out


def test_a_module_that_runs_at_some_steps_only(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Replaced()
    hook = make_hook(save_all=True)
    hook.register_module(net)
    pattern: Iterator[bool] = iter([True, False, True])
    for both in pattern:
        net(torch.randn(1, 2), both).sum().backward()
    trial = read_run()
    assert trial.tensor("two_output_0").steps() == [0, 2]
    assert trial.tensor("gradient/Replaced_two.weight").steps() == [0, 2]
    assert trial.tensor("one_output_0").steps() == [0, 1, 2]


def test_a_thawed_parameter_gets_its_gradient_saved(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    net.child.requires_grad_(False)
    hook = make_hook(include_collections=["gradients"])
    hook.register_module(net)
    for step, (x, _) in enumerate(batches(3)):
        net.child.requires_grad_(step == 1)
        net(x).sum().backward()
    trial = read_run()
    assert trial.tensor("gradient/Net_child.lin.weight").steps() == [1]
    assert trial.tensor("gradient/Net_fc.weight").steps() == [0, 1, 2]


def test_modules_that_cannot_be_saved_get_no_callback(make_hook: MakeHook) -> None:
    net = Net()
    hook = make_hook(include_regex=["relu_output"])
    hook.register_module(net)
    net(torch.randn(1, 4))
    assert len(net.relu._forward_hooks) == 1
    assert len(net.fc._forward_hooks) == len(net.child._forward_hooks) == 0


def test_collections_list_only_gradients_that_came(make_hook: MakeHook) -> None:
    net = Net()
    net.register_module("unused", nn.Linear(2, 2))
    hook = make_hook(include_collections=["gradients"])
    fit(hook, net)
    names = hook.get_collection("gradients").tensor_names
    assert "gradient/Net_fc.weight" in names
    assert "gradient/Net_unused.weight" not in names


class Trained(Net):
    """Does its work in another method than forward(), as a LightningModule does."""

    def training_step(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.child(x)).sum()


@pytest.mark.parametrize("called", [False, True])
def test_a_model_that_is_never_called_is_named_at_the_end(
    called: bool, make_hook: MakeHook
) -> None:
    hook = make_hook(save_all=True)
    net, used = Trained(), Net()
    hook.register_module(net)
    hook.register_module(used)
    hook.register_loss(torch.nn.MSELoss())  # Of losses it is not known.
    with logged() as texts:
        net.training_step(torch.randn(2, 4)).backward()
        used(torch.randn(2, 4))
        if called:
            net(torch.randn(2, 4))
        hook.close()
    told = [text for text in texts if "never called" in text]
    assert [text.split()[0] for text in told] == ([] if called else ["Trained"])
