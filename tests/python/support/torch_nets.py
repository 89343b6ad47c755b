"""Small networks, and a training loop."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


class Child(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.lin = nn.Linear(4, width)
        self.act = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.act(self.lin(x))
        return out


class Net(nn.Module):
    """A child, a ReLU that is used twice, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.child = Child()
        self.relu = nn.ReLU()
        self.fc = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc(self.relu(self.relu(self.child(x))))
        return out


def batches(steps: int, seed: int = 1) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    return [
        (
            torch.randn(6, 4, generator=generator),
            torch.randint(0, 3, (6,), generator=generator),
        )
        for _ in range(steps)
    ]


def train(
    model: Callable[[Tensor], Tensor],
    parameters: nn.Module,
    loss: nn.Module,
    steps: int,
    after_step: Callable[[int, Tensor], None] | None = None,
) -> list[float]:
    """Trains on the same batches every time, and gives the losses."""
    optimizer = torch.optim.SGD(parameters.parameters(), 0.1, momentum=0.9)
    losses = []
    for step, (x, y) in enumerate(batches(steps)):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        losses.append(value.item())
        if after_step is not None:
            after_step(step, value)
    return losses


def fit(hook: object, net: nn.Module, steps: int = 1) -> list[float]:
    """Registers a model and its loss and trains it."""
    loss = nn.CrossEntropyLoss()
    hook.register_module(net)  # type: ignore[attr-defined]
    hook.register_loss(loss)  # type: ignore[attr-defined]
    return train(net, net, loss, steps)
