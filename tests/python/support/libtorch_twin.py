"""The network of tests/libtorch/project/net.h."""

from __future__ import annotations

from pathlib import Path

import smdebug.pytorch as smd
import torch
from torch import Tensor, nn

from support.torch_nets import Child


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Child(6)
        self.norm = nn.BatchNorm1d(6)
        self.relu = nn.ReLU()
        self.tail = nn.Sequential(nn.Linear(6, 6), nn.Sigmoid(), nn.Linear(6, 3, bias=False))
        self.scale = nn.Parameter(torch.ones(1))
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.child(x)))
        out: Tensor = self.tail(self.relu(x * self.scale))
        return out


def batch(number: int) -> tuple[Tensor, Tensor]:
    numbers = torch.arange(32, dtype=torch.float64).add(32 * number)
    x = numbers.mul(0.7).remainder(2.0).sub(1.0).to(torch.float32).view(8, 4)
    return x, torch.arange(8).add(number).remainder(3)


def train(run: Path, config: Path) -> None:
    """What `libtorch_twin <run> <config>` does."""
    torch.manual_seed(7)
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    hook = smd.Hook.create_from_json_file(str(config))
    hook.out_dir = str(run)
    hook.register_module(net)
    hook.register_loss(criterion)
    for step in range(6):
        is_training = step % 3 != 2
        hook.set_mode(smd.modes.TRAIN if is_training else smd.modes.EVAL)
        net.train(is_training)
        x, y = batch(step)
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        hook.save_scalar("step", step)
        if is_training:
            loss.backward()
            optimizer.step()
    hook.close()
