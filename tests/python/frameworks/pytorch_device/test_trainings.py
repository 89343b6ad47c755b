"""Trainings on devices that are less plain: several streams and devices, a device that is stuck."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.trials import Trial
from support.device_training import train
from support.fake_device import FakeDevice
from support.torch_hooks import MakeHook, ReadRun
from torch import nn

REDUCED = smd.ReductionConfig(reductions=["min", "max", "mean", "std"], norms=["l2"])
PARAMETERS = ["weights", "biases", "gradients", "losses"]


def saved(run: Trial, step: int) -> dict[str, list[float]]:
    """All values of a step."""
    return {name: run.tensor(name).value(step).tolist() for name in run.tensor_names(step=step)}


def registered(hook: smd.Hook) -> Callable[[nn.Module, nn.Module], None]:
    def register(net: nn.Module, loss: nn.Module) -> None:
        hook.register_module(net)
        hook.register_loss(loss)

    return register


@pytest.mark.parametrize("reduction_config", [None, REDUCED], ids=["raw", "reduced"])
@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream does not match")
def test_a_training_may_go_from_stream_to_stream(
    device: FakeDevice, make_hook: MakeHook, reduction_config: Any
) -> None:
    hook = make_hook(save_all=True, reduction_config=reduction_config)
    default = torch.accelerator.current_stream()
    streams = [torch.Stream(device.name), torch.Stream(device.name)]

    def change(step: int) -> None:
        before = torch.accelerator.current_stream()
        after = default if step == 6 else streams[step % 2]
        after.wait_stream(before)
        torch.accelerator.set_stream(after)

    came_out = train(device.name, 6, setup=registered(hook), each_step=change)
    hook.close()
    expected = train("cpu", 6)
    assert all(torch.equal(came_out[name], expected[name]) for name in expected)
    assert device.races == 0


class OnBoth(nn.Module):
    """Its second half is on the second device."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.second = second
        self.one = nn.Linear(4, 8).to(first)
        self.two = nn.Linear(8, 3).to(second)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half: torch.Tensor = torch.relu(self.one(x))
        return self.two(half.to(self.second))


def test_a_model_may_be_on_several_devices(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun, tmp_path: Any
) -> None:
    def run(hook: smd.Hook, first: str, second: str) -> None:
        torch.manual_seed(3)
        net = OnBoth(first, second)
        hook.register_module(net)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(3):
            x = torch.randn(5, 4)
            optimizer.zero_grad()
            net(x.to(first)).square().sum().backward()
            optimizer.step()

    on_cpu = smd.Hook(
        str(tmp_path / "cpu"), save_all=True, save_config=smd.SaveConfig(save_interval=1)
    )
    run(on_cpu, "cpu", "cpu")
    on_cpu.close()
    expected = smd.create_trial(str(tmp_path / "cpu"))
    device.reset()
    run(make_hook(save_all=True), f"{device.name}:0", f"{device.name}:1")
    assert device.training.waits == 0
    got = read_run()
    assert [saved(got, step) for step in range(3)] == [saved(expected, step) for step in range(3)]
    assert device.races == 0


def test_two_threads_may_train_on_a_device_each(device: FakeDevice, make_hook: MakeHook) -> None:
    hook = make_hook(save_all=True)
    places = [f"{device.name}:{number}" for number in range(2)]
    nets = [nn.Linear(4, 4).to(place) for place in places]
    for net in nets:
        hook.register_module(net)

    def run(net: nn.Module, place: str) -> None:
        for _ in range(50):
            net(torch.ones(2, 4).to(place)).square().sum().backward()

    threads = [threading.Thread(target=run, args=pair) for pair in zip(nets, places)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hook.close()
    # Each belongs to the step that began last, whoever began it, and to none that is over.
    assert (hook.stats["dropped"], hook.stats["lost"], hook.stats["errors"]) == (0, 0, 0)
    assert device.races == 0


@pytest.mark.parametrize("forwards", [2, "auto"])
def test_accumulated_gradients_are_those_of_the_cpu(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun, tmp_path: Any, forwards: Any
) -> None:
    def run(hook: smd.Hook, place: str) -> None:
        torch.manual_seed(3)
        net = nn.Linear(4, 3).to(place)
        hook.register_module(net)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for batch in range(6):
            net(torch.randn(5, 4).to(place)).square().sum().backward()
            if batch % 2:
                optimizer.step()
                optimizer.zero_grad()

    options = {"save_all": True, "forwards_per_step": forwards}
    on_cpu = smd.Hook(str(tmp_path / "cpu"), save_config=smd.SaveConfig(save_interval=1), **options)
    run(on_cpu, "cpu")
    on_cpu.close()
    expected = smd.create_trial(str(tmp_path / "cpu"))
    device.reset()
    run(make_hook(**options), device.name)
    assert device.training.waits == 0
    got = read_run()
    assert got.steps() == expected.steps() == [0, 1, 2]
    assert [saved(got, step) for step in range(3)] == [saved(expected, step) for step in range(3)]
    assert device.races == 0


KINDS: dict[str, torch.Tensor] = {
    "bool": torch.tensor([True, False, True]),
    "int8": torch.tensor([-7, 7], dtype=torch.int8),
    "int64": torch.tensor([[2**53 + 1, -5]]),
    "float16": torch.arange(5).half() / 3,
    "bfloat16": torch.arange(5).bfloat16() / 3,
    "float64": torch.rand(3, 3, dtype=torch.float64),
    "complex64": torch.rand(3, dtype=torch.complex64),
    "conjugate": torch.rand(3, dtype=torch.complex64).conj(),
    "not dense": torch.rand(6, 4)[::2, ::2].t(),
    "empty": torch.empty(0, 3),
    "a number": torch.tensor(2.5),
    "large": torch.rand(700_000),
    "larger than what is gathered": torch.rand(5_000_000),
    "larger than what the device keeps for it": torch.rand(17_000_000),
    "not finite": torch.tensor([float("nan"), float("inf"), -1.0]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_of_each_kind_are_saved_as_they_were(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun, kind: str
) -> None:
    hook = make_hook(save_all=True)
    net = nn.Linear(2, 2).to(device.name)
    hook.register_module(net)
    value = KINDS[kind].to(device.name)
    net(torch.ones(1, 2).to(device.name))
    device.reset()
    with device.held():
        hook.save_tensor("mine", value)
        if value.is_floating_point():
            value.zero_()  # It has been saved.
        net(torch.ones(1, 2).to(device.name))
        assert device.training.waits == 0
    mine = read_run().tensor("mine")
    got = mine.value(mine.steps()[0])
    expected = KINDS[kind].resolve_conj()
    if expected.dtype is torch.bfloat16:
        expected = expected.float()
    assert got.astype(expected.numpy().dtype).tobytes() == expected.numpy().tobytes()
    assert got.shape == tuple(expected.shape)
    assert device.races == 0


def test_scalars_of_a_device_are_saved_without_waiting(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook()

    def save(step: int) -> None:
        if step:
            hook.save_scalar("twice", torch.tensor(2.0).to(device.name) * step)

    train(device.name, setup=registered(hook), each_step=save)
    assert device.training["values"] == 0
    scalar = read_run().tensor("scalar/twice")
    assert [scalar.value(step).item() for step in scalar.steps()] == [2.0, 4.0, 6.0, 8.0]


def test_a_device_that_does_not_answer_stops_neither_the_training_nor_its_end(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    expected = train("cpu")
    hook = make_hook(include_collections=PARAMETERS)
    closed: list[dict[str, Any]] = []

    def hold(step: int) -> None:
        device.hold(True)
        if step == 4:
            hook.close()  # After half a minute.
            closed.append(dict(hook.stats))
            device.hold(False)

    came_out = train(device.name, 4, setup=registered(hook), each_step=hold)
    assert all(torch.equal(came_out[name], expected[name]) for name in expected)
    assert closed[0]["lost"] == 4 * 19  # All of them.
    assert closed[0]["values_saved"] == 0
    assert read_run().steps() == []
