"""What the hook asks of a device: nothing that the training would have to wait for."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.trials import Trial
from support.device_training import train
from support.fake_device import WAITS, FakeDevice
from support.torch_hooks import MakeHook, ReadRun
from support.waiting import wait_until
from torch import nn

STEPS = 7
SAVED = [0, 3, 6]
# A step may be ended when the next begins. These are neither saved nor follow one that is.
IDLE = [2, 5]

REDUCTIONS = smd.ReductionConfig(
    reductions=["min", "max", "mean", "std", "variance", "sum"],
    abs_reductions=["min", "max", "mean", "std", "variance", "sum"],
    norms=["l1", "l2"],
)
# For these the core needs the values.
OF_VALUES = smd.ReductionConfig(reductions=["median", "prod", "mean"])
PARAMETERS = ["weights", "biases", "gradients", "losses"]

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "losses": {"include_collections": ["losses"]},
    "raw": {"include_collections": PARAMETERS},
    "reductions": {"include_collections": PARAMETERS, "reduction_config": REDUCTIONS},
    "medians": {"include_collections": PARAMETERS, "reduction_config": OF_VALUES},
    "everything": {"save_all": True},
    "everything, reduced": {"save_all": True, "reduction_config": REDUCTIONS},
}


class Watched:
    """A training that a hook watches, if any, and what the device was asked in the meantime."""

    def __init__(self, device: FakeDevice | None, hook: smd.Hook | None) -> None:
        self._device = device
        self._hook = hook
        self.before: list[dict[str, int]] = []  # On the training thread, before each step.
        self.waits = 0  # On any thread, until the hook is closed.
        self.transfers = 0
        place = "cpu" if device is None else device.name
        self.came_out = train(place, STEPS, setup=self._watch, each_step=self._count)

    def of_step(self, step: int) -> dict[str, int]:
        """What the training thread asked of the device from one step to the next."""
        before, after = self.before[step : step + 2]
        return {name: after[name] - before[name] for name in after}

    def _watch(self, net: nn.Module, loss: nn.Module) -> None:
        if self._hook is not None:
            self._hook.register_module(net)
            self._hook.register_loss(loss)
        if self._device is not None:
            torch.accelerator.synchronize()
            self._device.reset()

    def _count(self, step: int) -> None:
        if self._device is not None:
            self.before.append(dict(self._device.training))
        if step == STEPS and self._hook is not None:
            self._hook.close()
        if self._device is not None:
            self.waits = self._device.training.waits + self._device.others.waits
            self.transfers = self._device.training.transfers + self._device.others.transfers


@pytest.fixture(params=CONFIGURATIONS)
def configuration(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**CONFIGURATIONS[request.param], "save_config": smd.SaveConfig(save_interval=3)}


@pytest.fixture
def bare(device: FakeDevice) -> Watched:
    return Watched(device, None)


@pytest.fixture
def hooked(device: FakeDevice, make_hook: MakeHook, configuration: dict[str, Any]) -> Watched:
    return Watched(device, make_hook(**configuration))


@pytest.fixture
def on_cpu(configuration: dict[str, Any], tmp_path: Path) -> Trial:
    """The run of the same training on the CPU."""
    folder = str(tmp_path / "on_cpu")
    Watched(None, smd.Hook(folder, **configuration))
    return smd.create_trial(folder)


def assert_same_run(run: Trial, expected: Trial) -> None:
    """Values are equal bit by bit, reductions to the rounding of float32."""
    assert run.steps() == expected.steps() == SAVED
    assert run.tensor_names() == expected.tensor_names()
    for name in expected.tensor_names():
        tensor, wanted = run.tensor(name), expected.tensor(name)
        assert tensor.steps() == wanted.steps()
        for step in wanted.steps():
            reductions = wanted.reduction_values(step)
            assert tensor.reduction_values(step) == pytest.approx(
                reductions, rel=1e-5, abs=1e-6, nan_ok=True
            )
            if wanted.saved(step)[0] is not None:
                assert tensor.value(step).tobytes() == wanted.value(step).tobytes(), name


def test_training_is_unchanged(bare: Watched, hooked: Watched, device: FakeDevice) -> None:
    for name, value in bare.came_out.items():
        assert value.numpy().tobytes() == hooked.came_out[name].numpy().tobytes(), name
    assert device.races == 0


def test_an_idle_step_asks_nothing_of_the_device(bare: Watched, hooked: Watched) -> None:
    for step in IDLE:
        assert hooked.of_step(step) == bare.of_step(step)


def test_the_training_never_waits(hooked: Watched) -> None:
    assert [hooked.before[-1][name] for name in WAITS] == [0] * len(WAITS)


def test_a_saved_step_is_waited_for_once(hooked: Watched) -> None:
    assert hooked.waits <= len(SAVED)


@pytest.mark.parametrize("configuration", ["reductions"], indirect=True)
def test_the_reductions_of_a_step_come_together(hooked: Watched) -> None:
    assert hooked.transfers <= 2 * len(SAVED), "them, and the value of the loss"


def test_the_run_is_that_of_a_training_on_the_cpu(
    on_cpu: Trial,
    hooked: Watched,  # noqa: ARG001
    read_run: ReadRun,
) -> None:
    assert_same_run(read_run(), on_cpu)


def test_values_are_not_read_before_they_are_there(
    on_cpu: Trial,
    device: FakeDevice,
    make_hook: MakeHook,
    read_run: ReadRun,
    configuration: dict[str, Any],
) -> None:
    hook = make_hook(**configuration)

    def watch(net: nn.Module, loss: nn.Module) -> None:
        hook.register_module(net)
        hook.register_loss(loss)

    # The training goes on while no copy is carried out.
    def hold(step: int) -> None:
        device.hold(step < STEPS)

    train(device.name, STEPS, setup=watch, each_step=hold)
    assert_same_run(read_run(), on_cpu)
    assert device.races == 0


def test_a_closed_hook_holds_no_memory_of_the_device(
    device: FakeDevice, make_hook: MakeHook, configuration: dict[str, Any]
) -> None:
    gc.collect()
    before = device.alive.now()
    Watched(device, make_hook(**configuration))
    gc.collect()
    assert device.alive.now() == before


def test_a_number_of_the_device_is_saved_without_waiting(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(save_config=smd.SaveConfig(save_interval=4))
    net = nn.Linear(2, 1).to(device.name)
    hook.register_module(net)
    batch = torch.ones(3, 2, device=device.name)
    torch.accelerator.synchronize()
    device.reset()
    for step in range(8):
        net(batch)
        hook.save_scalar("step", torch.tensor(step, device=device.name) * 0.5)
    assert device.training.waits == 0
    hook.close()
    scalar = read_run().tensor("scalar/step")
    assert {step: scalar.value(step) for step in scalar.steps()} == {
        step: step * 0.5 for step in range(8)
    }
    assert device.training.waits + device.others.waits <= 2, "they come together"
    assert device.races == 0


def test_a_hook_that_closes_waits_for_what_is_on_its_way(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(save_all=True)
    net = nn.Linear(40, 30).to(device.name)
    hook.register_module(net)
    expected = net.weight.detach().cpu().numpy()
    closed = threading.Event()

    def close() -> None:
        hook.close()
        closed.set()

    with device.held():
        net(torch.ones(3, 40, device=device.name))
        thread = threading.Thread(target=close)
        thread.start()
        # Somebody waits for the device, and it is not the training.
        wait_until(lambda: device.others["event_synchronisations"] == 1)
        assert not closed.is_set()
    thread.join()
    assert read_run().tensor("Linear_weight").value(0).tobytes() == expected.tobytes()
    assert hook.stats["lost"] == 0


def test_another_device_than_the_current_one_is_left_as_it_is(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(save_all=True)
    other = f"{device.name}:1"
    net = nn.Linear(4, 3).to(other)
    hook.register_module(net)
    current = torch.accelerator.current_device_index(), torch.accelerator.current_stream()
    net(torch.ones(2, 4, device=other)).sum().backward()
    hook.close()
    assert (torch.accelerator.current_device_index(), torch.accelerator.current_stream()) == current
    assert net.weight.grad is not None
    saved = read_run().tensor("gradient/Linear_weight").value(0)
    assert saved.tobytes() == net.weight.grad.cpu().numpy().tobytes()
    assert device.races == 0
