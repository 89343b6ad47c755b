"""Losses that nobody hands to the hook: where backward passes begin, and what models return."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.trials import Trial
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint


class Output(NamedTuple):
    loss: Tensor | None
    logits: Tensor


class SelfMade(nn.Module):
    """As models of Transformers do, whose outputs are dicts with attributes."""

    def __init__(self, form: str = "attribute") -> None:
        super().__init__()
        self.body = Net()
        self.form = form

    def forward(self, x: Tensor, y: Tensor | None = None) -> Any:
        logits = self.body(x)
        loss = None if y is None else cross_entropy(logits, y)
        if self.form == "attribute":
            return Output(loss, logits)
        return OrderedDict(loss=loss, logits=logits)


def losses(trial: Trial, mode: smd.modes = smd.modes.GLOBAL) -> dict[int, float]:
    return {step: value.item() for step, value in trial.tensor("loss").values(mode=mode).items()}


def scaler_of(scale: float) -> Any:
    try:
        return torch.amp.GradScaler("cpu", init_scale=scale)
    except (AttributeError, TypeError):
        pytest.skip("this torch scales gradients on GPUs only")


@pytest.mark.parametrize("form", ["attribute", "dict"])
def test_the_loss_of_a_model_that_computes_it(
    form: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = SelfMade(form)
    hook = make_hook(save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    training, evaluation = [], []

    def loss_of(x: Tensor, y: Tensor) -> Tensor:
        output = net(x, y)
        loss: Tensor = output.loss if form == "attribute" else output["loss"]
        return loss

    for _ in range(2):
        hook.set_mode(smd.modes.TRAIN)
        for x, y in batches(4):
            loss = loss_of(x, y)
            loss.backward()
            training.append(loss.item())
        hook.set_mode(smd.modes.EVAL)
        with torch.no_grad():
            for x, y in batches(3):
                evaluation.append(loss_of(x, y).item())
    with torch.no_grad():
        net(x)  # A step that has no loss.
    trial = read_run()
    assert trial.tensor_names() == trial.tensor_names(collection="losses") == ["loss"]
    for mode, computed in ((smd.modes.TRAIN, training), (smd.modes.EVAL, evaluation)):
        assert losses(trial, mode) == dict(list(enumerate(computed))[::2])
    assert hook.stats["errors"] == hook.stats["skipped"] == hook.stats["dropped"] == 0


def test_the_loss_that_a_function_computes(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"])
    hook.register_module(net)
    computed = []
    for step, (x, y) in enumerate(batches(4)):
        loss = cross_entropy(net(x), y)
        if step % 2:
            torch.autograd.backward([loss])
        else:
            loss.backward()
        computed.append(loss.item())
        hook.save_scalar("seen", loss)
    trial = read_run()
    assert losses(trial) == dict(enumerate(computed))
    assert trial.tensor("loss").value(0).shape == ()


@pytest.mark.parametrize("scale", [65536.0, 3.0])
def test_the_loss_is_not_scaled(scale: float, make_hook: MakeHook, read_run: ReadRun) -> None:
    scaler = scaler_of(scale)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    hook = make_hook()
    hook.register_module(net)
    computed = []
    for x, y in batches(4):
        optimizer.zero_grad()
        loss = cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        computed.append(loss.item())
    assert losses(read_run()) == dict(enumerate(computed))


def test_the_loss_is_not_scaled_where_it_is_computed_in_the_call(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    scaler = scaler_of(8.0)
    net = Net()
    hook = make_hook(save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    drawn = batches(5)
    for x, y in drawn:
        scaler.scale(cross_entropy(net(x), y)).backward()
    assert losses(read_run()) == {
        step: cross_entropy(net(x), y).item() for step, (x, y) in enumerate(drawn) if step % 2 == 0
    }


def test_a_scaler_of_a_kind_of_its_own(make_hook: MakeHook, read_run: ReadRun) -> None:
    scaler = scaler_of(4.0)

    class Halving(type(scaler)):  # type: ignore[misc]
        def scale(self, outputs: Any) -> Any:
            return outputs / 2

    net = Net()
    hook = make_hook()
    hook.register_module(net)
    x, y = batches(1)[0]
    loss = cross_entropy(net(x), y)
    Halving("cpu").scale(loss).backward()
    assert losses(read_run()) == {0: loss.item()}
    del Halving


def test_each_batch_of_a_step_has_its_loss(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    hook = make_hook(forwards_per_step="auto")
    hook.register_module(net)
    computed = []
    for step, (x, y) in enumerate(batches(5)):
        loss = cross_entropy(net(x), y)
        loss.backward()
        computed.append(loss.item())
        if step in (2, 4):
            optimizer.step()
    trial = read_run()
    assert trial.tensor_names(step=0) == ["loss", "loss_1", "loss_2"]
    assert trial.tensor_names(step=1) == ["loss", "loss_1"]
    saved = [trial.tensor(name).value(0).item() for name in ("loss", "loss_1", "loss_2")]
    assert saved + [trial.tensor(name).value(1).item() for name in ("loss", "loss_1")] == computed


def test_of_several_backward_passes_the_first_counts(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook()
    hook.register_module(net)
    x, y = batches(1)[0]
    logits = net(x)
    loss = cross_entropy(logits, y)
    loss.backward(retain_graph=True)
    logits.sum().backward(retain_graph=True)
    logits.backward(torch.ones_like(logits))
    assert losses(read_run()) == {0: loss.item()}


def test_losses_of_models_that_run_before_their_backward_passes(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook()
    nets = [Net(), Net()]
    for net in nets:
        hook.register_module(net)
    expected: dict[str, list[float]] = {"loss": [], "loss_1": []}
    for x, y in batches(3):
        both = [cross_entropy(net(x), y) for net in nets]
        for name, loss in zip(expected, both):
            loss.backward()
            expected[name].append(loss.item())
    hook.close()
    trial = read_run()
    for name, values in expected.items():
        saved = trial.tensor(name).values()
        assert {step: value.item() for step, value in saved.items()} == dict(zip((1, 3, 5), values))


def test_a_backward_pass_at_no_scalar_is_none_of_a_loss(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook(include_collections=["gradients"])
    hook.register_module(net)
    logits = net(torch.randn(2, 4))
    logits.backward(torch.ones_like(logits))
    assert read_run().tensor_names(collection="losses") == []


def test_checkpoints_have_backward_passes_of_their_own(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook()
    hook.register_module(net)
    x, _y = batches(1)[0]
    head = nn.Linear(3, 1)
    loss = checkpoint(lambda given: head(given).sum(), net(x), use_reentrant=True)
    loss.backward()
    assert losses(read_run()) == {0: loss.item()}


def hand_over_a_module(hook: smd.Hook, net: nn.Module, x: Tensor, y: Tensor) -> None:
    criterion = nn.CrossEntropyLoss()
    hook.register_loss(criterion)
    criterion(net(x), y).backward()


def hand_over_a_value(hook: smd.Hook, net: nn.Module, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(net(x), y)
    hook.record_tensor_value("my_loss", loss)
    loss.backward()


def hand_over_a_tensor(hook: smd.Hook, net: nn.Module, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(net(x), y)
    hook.save_tensor("given", loss, "losses")
    loss.backward()


def hand_over_the_name(hook: smd.Hook, net: nn.Module, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(net(x), y)
    hook.save_tensor("loss", 2 * loss, "losses")
    loss.backward()


@pytest.mark.parametrize(
    ("hand_over", "name"),
    [
        (hand_over_a_module, "CrossEntropyLoss_output_0"),
        (hand_over_a_value, "my_loss_output_0"),
        (hand_over_a_tensor, "given"),
        (hand_over_the_name, "loss"),
    ],
)
def test_what_is_handed_over_is_the_loss(
    hand_over: Any, name: str, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    hook = make_hook()
    hook.register_module(net)
    x, y = batches(1)[0]
    hand_over(hook, net, x, y)
    trial = read_run()
    assert trial.tensor_names(collection="losses") == [name]
    if name == "loss":
        assert losses(trial) == {0: 2 * cross_entropy(net(x), y).item()}


def test_a_loss_of_the_model_that_is_saved_wins(make_hook: MakeHook, read_run: ReadRun) -> None:
    class Criticised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.loss = Net(), nn.CrossEntropyLoss()

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            out: Tensor = self.loss(self.body(x), y)
            return out

    net = Criticised()
    hook = make_hook()
    hook.register_module(net)
    for x, y in batches(2):
        net(x, y).backward()
    trial = read_run()
    assert trial.tensor_names(collection="losses") == ["loss_output_0"]
    assert trial.tensor("loss_output_0").steps() == [0, 1]


def test_pytorch_is_as_it_was_between_saved_steps(make_hook: MakeHook) -> None:
    before = torch.autograd.backward
    net = Net()
    hook = make_hook(save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    x, y = batches(1)[0]
    for due in (True, False, True):
        loss = cross_entropy(net(x), y)
        assert (torch.autograd.backward is not before) is due
        loss.backward()
    hook.close()
    assert torch.autograd.backward is before


def test_two_hooks_and_another_that_wraps_the_same(
    make_hook: MakeHook, read_run: ReadRun, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nets = [Net(), Net()]
    every = smd.SaveConfig(save_interval=1)
    other = smd.Hook(str(tmp_path / "other"), save_config=every)
    hook = make_hook()
    for one, net in zip((other, hook), nets):
        one.register_module(net)
    calls = []
    real = torch.autograd.backward
    x, y = batches(1)[0]
    logits = nets[0](x) + nets[1](x)

    @functools.wraps(real)
    def note(*args: Any, **kwargs: Any) -> None:
        calls.append(1)
        inner(*args, **kwargs)

    inner = torch.autograd.backward
    monkeypatch.setattr(torch.autograd, "backward", note)
    loss = cross_entropy(logits, y)
    loss.backward()
    other.close()
    hook.close()
    assert len(calls) == 1
    assert torch.autograd.backward is note  # What another has put there stays.
    assert (
        losses(read_run()) == losses(smd.create_trial(str(tmp_path / "other"))) == {0: loss.item()}
    )


def test_a_failure_does_not_reach_the_backward_pass(make_hook: MakeHook) -> None:
    class Odd(dict):  # type: ignore[type-arg]
        def get(self, *_: object) -> Any:
            raise RuntimeError("injected")

    class Net2(Net):
        def forward(self, x: Tensor) -> Any:
            return Odd(logits=super().forward(x))

    net = Net2()
    hook = make_hook()
    hook.register_module(net)
    with torch.no_grad():
        net(torch.randn(2, 4))
    assert hook.stats["skipped"] == 1
    net(torch.randn(2, 4))["logits"].sum().backward()
    hook.close()
    assert hook.stats["values_saved"] == 1
