"""Every call and every kind of training: nothing waits for the device, nothing differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.trials import Trial
from support.fake_device import FakeDevice
from support.torch_hooks import MakeHook, ReadRun
from torch import nn

Training = Callable[[smd.Hook, str], None]


def made(place: str, *layers: nn.Module) -> tuple[nn.Module, torch.optim.Optimizer]:
    net = nn.Sequential(nn.Linear(4, 5), *layers, nn.Linear(5, 3)).to(place)
    return net, torch.optim.SGD(net.parameters(), 0.1)


def batches(place: str, number: int = 3) -> list[torch.Tensor]:
    return [torch.randn(6, 4).to(place) for _ in range(number)]


def a_loss_is_found(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place)
    hook.register_module(net)
    for x in batches(place):
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()


def a_loss_is_recorded(hook: smd.Hook, place: str) -> None:
    net, _ = made(place)
    hook.register_module(net)
    for x in batches(place):
        hook.record_tensor_value("mine", net(x).square().sum())


def outputs_are_changed_in_place(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place, nn.ReLU(inplace=True), nn.Identity())
    hook.register_module(net)
    for x in batches(place):
        optimizer.zero_grad()
        out = net(x)
        out.square().sum().backward()
        optimizer.step()
        with torch.no_grad():
            out.zero_()


def gradients_are_changed_after_the_backward_pass(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place)
    hook.register_module(net)
    for x in batches(place):
        net(x).square().sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)


def weights_are_changed_in_the_forward_pass(hook: smd.Hook, place: str) -> None:
    net, _ = made(place)

    def shrink(module: nn.Module, _: Any) -> None:
        with torch.no_grad():
            module.weight.mul_(0.5)

    net[1].register_forward_pre_hook(shrink)
    hook.register_module(net)
    for x in batches(place):
        net(x)


def a_loss_is_scaled(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place)
    hook.register_module(net)
    scaler = torch.amp.GradScaler(place.partition(":")[0], init_scale=8.0)
    for x in batches(place):
        optimizer.zero_grad()
        scaler.scale(net(x).square().sum()).backward()
        optimizer.step()


def an_evaluation_comes_between(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place)
    hook.register_module(net)
    for step, x in enumerate(batches(place, 4)):
        hook.set_mode(smd.modes.EVAL if step % 2 else smd.modes.TRAIN)
        with torch.set_grad_enabled(step % 2 == 0):
            loss = net(x).square().sum()
        if step % 2 == 0:
            loss.backward()
            optimizer.step()


def tensors_are_saved_by_hand(hook: smd.Hook, place: str) -> None:
    net, _ = made(place)
    hook.register_module(net)
    for step, x in enumerate(batches(place)):
        hook.save_tensor("before", x.mean(0))
        loss = net(x).square().sum()
        hook.save_tensor("between", loss, "losses")
        hook.save_scalar("number", loss.detach())
        loss.backward()
        hook.save_scalar("later", loss.detach() * 2, step=step)
        hook.save_tensor("on the CPU", torch.ones(2))


def weights_are_shared_and_half_precise(hook: smd.Hook, place: str) -> None:
    net, optimizer = made(place)
    net.bfloat16()
    net.append(nn.Linear(3, 5, dtype=torch.bfloat16).to(place))
    net.append(net[1])
    hook.register_module(net)
    for x in batches(place):
        optimizer.zero_grad()
        net(x.bfloat16()).square().sum().backward()
        optimizer.step()


TRAININGS: list[Training] = [
    a_loss_is_found,
    a_loss_is_recorded,
    outputs_are_changed_in_place,
    gradients_are_changed_after_the_backward_pass,
    weights_are_changed_in_the_forward_pass,
    a_loss_is_scaled,
    an_evaluation_comes_between,
    tensors_are_saved_by_hand,
    weights_are_shared_and_half_precise,
]


def all_of(run: Trial) -> dict[tuple[str, int], bytes]:
    return {
        (name, step): run.tensor(name).value(step).tobytes()
        for name in run.tensor_names()
        for step in run.tensor(name).steps()
    }


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.__name__)
def test_the_training_does_not_wait_and_the_run_is_that_of_the_cpu(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun, tmp_path: Path, training: Training
) -> None:
    torch.manual_seed(2)
    every = smd.SaveConfig(save_interval=1)
    with smd.Hook(str(tmp_path / "on_cpu"), save_all=True, save_config=every) as on_cpu:
        training(on_cpu, "cpu")

    torch.manual_seed(2)
    hook = make_hook(save_all=True)
    device.reset()
    with device.held():
        training(hook, device.name)
        assert device.training.waits == 0
    assert all_of(read_run()) == all_of(smd.create_trial(str(tmp_path / "on_cpu")))
    assert device.races == 0
