"""The fake device computes what the CPU does, counts what it is asked, and keeps its order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch
from support.device_training import OPTIMIZERS, train
from support.fake_device import FakeDevice
from support.waiting import wait_until

# What a host that does not wait finds where a copy is to go.
GARBAGE = [True, True, True]


@pytest.fixture
def values(device: FakeDevice) -> Iterator[torch.Tensor]:
    """1, 2, 3 on the device, where every stream may use them; nothing is counted yet."""
    tensor = torch.arange(1.0, 4.0).to(device.name)
    torch.accelerator.synchronize()
    device.reset()
    yield tensor


@pytest.fixture
def pinned(device: FakeDevice) -> torch.Tensor:  # noqa: ARG001
    return torch.zeros(3, pin_memory=True)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_is_that_of_the_cpu_bit_by_bit(device: FakeDevice, optimizer: str) -> None:
    on_cpu = train("cpu", optimizer=optimizer)
    on_device = train(f"{device.name}:1", optimizer=optimizer)
    assert {name: v.numpy().tobytes() for name, v in on_cpu.items()} == {
        name: v.numpy().tobytes() for name, v in on_device.items()
    }
    assert device.races == 0


def test_a_training_step_waits_for_nothing(device: FakeDevice) -> None:
    waits: list[int] = []
    train(device.name, each_step=lambda _: waits.append(device.training.waits))
    assert waits == [0] * 5


def test_it_is_the_accelerator(device: FakeDevice) -> None:
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device(device.name)
    assert torch.accelerator.device_count() == 2
    stream = torch.accelerator.current_stream()
    assert stream.device == torch.device(device.name, 0)
    with torch.Stream(f"{device.name}:0") as other:
        assert torch.accelerator.current_stream() == other != stream
    assert torch.accelerator.current_stream() == stream


def test_views_share_memory_and_resized_tensors_have_their_own(values: torch.Tensor) -> None:
    values.view(3, 1)[1:].t().add_(1)
    assert values.tolist() == [1, 3, 4]
    values.resize_(5)[3:] = 7
    assert values.tolist() == [1, 3, 4, 7, 7]
    values[values > 3] = 0
    assert values.tolist() == [1, 3, 0, 0, 0]


def test_gradient_hooks_see_gradients_on_the_device(values: torch.Tensor) -> None:
    seen: list[torch.device] = []
    values.requires_grad_().register_hook(lambda gradient: seen.append(gradient.device))
    (values * values).sum().backward()
    assert seen == [values.device]
    assert values.grad is not None
    assert values.grad.tolist() == [2, 4, 6]


def test_losses_are_scaled_as_on_other_devices(device: FakeDevice) -> None:
    scaler = torch.amp.GradScaler(device.name, init_scale=8.0)
    weight = torch.nn.Parameter(torch.ones(3, device=device.name))
    optimizer = torch.optim.SGD([weight], 1.0)
    with torch.autocast(device.name, torch.bfloat16):
        loss = (weight * weight).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    assert weight.tolist() == [-1, -1, -1]


def test_copies_are_counted_by_direction_and_by_who_waits(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    values.cpu()
    values[:2].double().to("cpu")
    pinned.copy_(values)
    torch.zeros(3).copy_(values, non_blocking=True)  # Not pinned: the host waits.
    assert device.training["device_to_host"] == 4
    assert device.training["device_to_host_bytes"] == 12 + 16 + 12 + 12
    pinned.copy_(values, non_blocking=True)
    values.to("cpu", non_blocking=True)
    assert device.training["late_device_to_host"] == 2
    assert device.training["late_device_to_host_bytes"] == 24
    values.copy_(torch.zeros(3))
    assert device.training["host_to_device"] == 1
    assert device.training["host_to_device_bytes"] == 12
    assert device.training.transfers == 6
    assert device.training.waits == 4


def test_what_a_host_learns_of_values_is_counted(device: FakeDevice, values: torch.Tensor) -> None:
    assert values.sum().item() == 6
    assert torch.equal(values, values + 0)
    assert bool(torch.isnan(values).any()) is False
    assert values[values > 1].shape == (2,)
    assert values.nonzero().shape == (3, 1)
    assert device.training["values"] == 5
    assert device.training.waits == 5


def test_synchronisations_and_events_are_counted(device: FakeDevice) -> None:
    event, stream = torch.Event(device.name), torch.Stream(device.name)
    event.record()
    event.query()
    event.wait(stream)
    assert device.training.waits == 0
    event.synchronize()
    stream.synchronize()
    torch.accelerator.synchronize()
    assert device.training.now() == {
        "device_synchronisations": 1,
        "stream_synchronisations": 1,
        "event_synchronisations": 1,
        "event_queries": 1,
        "event_records": 1,
        "stream_waits": 1,
    }


def test_threads_are_told_apart_and_a_backward_pass_is_of_the_training(
    device: FakeDevice, values: torch.Tensor
) -> None:
    def on_a_thread() -> None:
        other = torch.ones(3, device=device.name)
        other.cpu()

    thread = threading.Thread(target=on_a_thread)
    thread.start()
    thread.join()
    assert (device.training["device_to_host"], device.others["device_to_host"]) == (0, 1)

    threads: list[int] = []

    def fetch(gradient: torch.Tensor) -> None:
        threads.append(threading.get_ident())
        gradient.cpu()

    values.requires_grad_().register_hook(fetch)
    values.sum().backward()
    assert threads != [threading.get_ident()], "a backward pass has a thread for each device"
    assert (device.training["device_to_host"], device.others["device_to_host"]) == (1, 1)


def test_memory_that_is_alive_is_counted(device: FakeDevice) -> None:
    before = device.alive.now()
    tensor = torch.zeros(8, device=device.name)
    pinned = torch.zeros(4, pin_memory=True)
    assert device.alive["bytes"] - before.get("bytes", 0) == 32
    assert device.alive["pinned_bytes"] - before.get("pinned_bytes", 0) == 16
    assert pinned.is_pinned()
    assert pinned[2:].is_pinned()
    assert not torch.zeros(4).is_pinned()
    del tensor, pinned
    assert device.alive.now() == before


def test_a_held_device_keeps_copies_and_events_back(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    event = torch.Event(device.name)
    with device.held():
        pinned.copy_(values, non_blocking=True)
        event.record()
        assert pinned.isnan().tolist() == GARBAGE
        assert not event.query()
        assert not torch.accelerator.current_stream().query()
        assert device.alive["late_copies"] == 1
    event.synchronize()
    assert pinned.tolist() == [1, 2, 3]
    assert event.query()
    assert device.races == 0


def test_whoever_waits_for_a_held_device_waits(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    event = torch.Event(device.name)
    done = threading.Event()

    def wait() -> None:
        event.synchronize()
        done.set()

    with device.held():
        pinned.copy_(values, non_blocking=True)
        event.record()
        thread = threading.Thread(target=wait)
        thread.start()
        wait_until(lambda: device.others["event_synchronisations"] == 1)
        assert not done.is_set()
    thread.join()
    assert pinned.tolist() == [1, 2, 3]


def test_a_late_copy_reads_what_is_there_when_it_is_carried_out(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    side = torch.Stream(device.name)
    side.wait_stream(torch.accelerator.current_stream())
    with device.held():
        with side:
            pinned.copy_(values, non_blocking=True)
        values.zero_()  # Nobody has said that this comes after the copy.
    side.synchronize()
    assert pinned.tolist() == [0, 0, 0]
    assert device.races == 1


def test_what_comes_after_a_late_copy_in_its_stream_does_not_change_what_it_copies(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    with device.held():
        pinned.copy_(values, non_blocking=True)
        values.zero_()
    torch.accelerator.synchronize()
    assert pinned.tolist() == [1, 2, 3]
    assert device.races == 0


def test_a_stream_that_waits_for_a_late_copy_may_change_its_source(
    device: FakeDevice, values: torch.Tensor, pinned: torch.Tensor
) -> None:
    main, side = torch.accelerator.current_stream(), torch.Stream(device.name)
    side.wait_stream(main)
    with device.held():
        with side:
            pinned.copy_(values, non_blocking=True)
        main.wait_stream(side)
        values.zero_()
        assert pinned.isnan().tolist() == GARBAGE
    side.synchronize()
    assert pinned.tolist() == [1, 2, 3]
    assert device.races == 0


def test_a_stream_that_does_not_wait_for_another_races(
    device: FakeDevice, values: torch.Tensor
) -> None:
    event = torch.Event(device.name)
    with torch.Stream(device.name) as side:
        values.sum()
    assert device.races == 0
    values.add_(1)
    assert device.races == 1, "the write may come before the read"
    event.record()
    with side:
        values.sum()
    assert device.races == 2, "the read may come before the write"
    side.wait_event(event)
    with side:
        values.sum()
    assert device.races == 2


@pytest.mark.parametrize("recorded", [False, True])
def test_memory_that_is_freed_under_a_late_copy_is_garbage_unless_it_was_recorded(
    device: FakeDevice, pinned: torch.Tensor, recorded: bool
) -> None:
    side = torch.Stream(device.name)
    values = torch.ones(3, device=device.name)
    side.wait_stream(torch.accelerator.current_stream())
    with device.held():
        with side:
            pinned.copy_(values, non_blocking=True)
        if recorded:
            values.record_stream(side)
        del values
    side.synchronize()
    assert pinned.isnan().tolist() == [not recorded] * 3
    assert device.races == (0 if recorded else 1)


def test_pinned_memory_outlives_the_copy_into_it(device: FakeDevice, values: torch.Tensor) -> None:
    with device.held():
        before = device.alive["pinned_bytes"]
        values.to("cpu", non_blocking=True)
        assert device.alive["pinned_bytes"] == before + 12
    torch.accelerator.synchronize()
    wait_until(lambda: device.alive["pinned_bytes"] == before)
