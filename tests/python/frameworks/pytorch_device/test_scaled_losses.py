"""Losses that a GradScaler of the device scales: nothing waits for the scaler's numbers."""

from __future__ import annotations

import smdebug.pytorch as smd
import torch
from support.fake_device import FakeDevice
from support.torch_hooks import MakeHook, ReadRun
from torch import nn

STEPS = 4
SKIPPED = 2  # The step whose gradient is not finite.


class Trained:
    """A training under a scaler: the gradients that it had, unscaled, and its last weights."""

    def __init__(self, place: str, hook: smd.Hook | None, device: FakeDevice | None) -> None:
        torch.manual_seed(0)
        net = nn.Linear(4, 3).to(place)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        scaler = torch.amp.GradScaler(place.partition(":")[0], init_scale=64.0, growth_interval=2)
        if hook is not None:
            hook.register_module(net)
        self.gradients: list[torch.Tensor] = []
        self.waits: list[int] = []  # Of the training thread for what comes of the hook.
        for step in range(STEPS):
            x = torch.full((2, 4), float("inf") if step == SKIPPED else 0.25 * step + 0.5).to(place)
            optimizer.zero_grad()
            before = 0 if device is None else device.training.waits
            loss = scaler.scale(net(x).sum())
            loss.backward()
            self.waits.append(0 if device is None else device.training.waits - before)
            scaler.unscale_(optimizer)
            self.gradients.append(net.weight.grad.detach().cpu())
            scaler.step(optimizer)
            scaler.update()
        self.weight = net.weight.detach().cpu()


def test_gradients_are_those_of_the_optimizer(
    device: FakeDevice, make_hook: MakeHook, read_run: ReadRun
) -> None:
    bare = Trained(device.name, None, None)
    hook = make_hook(include_collections=["gradients"])
    trained = Trained(device.name, hook, device)
    hook.close()

    assert torch.equal(trained.weight, bare.weight)
    assert trained.waits == [0] * STEPS
    trial = read_run()
    gradient = trial.tensor("gradient/Linear_weight")
    for step, expected in enumerate(trained.gradients):
        saved = torch.from_numpy(gradient.value(step).copy())
        torch.testing.assert_close(saved, expected, rtol=0, atol=0, equal_nan=True)
    scale, skipped = trial.tensor("scalar/grad_scale"), trial.tensor("scalar/step_skipped")
    assert [scale.value(step).item() for step in range(STEPS)] == [64.0, 64.0, 128.0, 64.0]
    assert [skipped.value(step).item() for step in range(STEPS)] == [
        float(step == SKIPPED) for step in range(STEPS)
    ]
