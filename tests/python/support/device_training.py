"""A small training that uses most of what trainings use, on any device."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import nn

OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.05, momentum=0.9, foreach=False),
    "sgd-foreach": lambda parameters: torch.optim.SGD(parameters, 0.05, momentum=0.9, foreach=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, 0.01, foreach=False),
    "adam-foreach": lambda parameters: torch.optim.Adam(parameters, 0.01, foreach=True),
}


class Net(nn.Module):
    """Takes pictures of 8 x 8 and a word for each."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.words = nn.Embedding(7, 6)
        self.norm = nn.LayerNorm(6)
        self.fc = nn.Linear(4 * 4 * 4 + 6, 3)

    def forward(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        seen = nn.functional.max_pool2d(torch.relu(self.bn(self.conv(pictures))), 2)
        read = self.norm(self.words(words))
        return self.fc(torch.cat([seen.flatten(1), read], dim=1))


def train(
    device: str,
    steps: int = 4,
    optimizer: str = "sgd",
    setup: Callable[[nn.Module, nn.Module], None] | None = None,
    each_step: Callable[[int], None] | None = None,
) -> dict[str, torch.Tensor]:
    """Trains on `device` and returns what came out, on the CPU; all starts from one seed.

    `setup` gets the model and the loss before the first step; `each_step` is called with
    the number of steps before the first and after each.
    """
    torch.manual_seed(1)
    net, loss_function = Net(), nn.CrossEntropyLoss()
    batches = [
        (torch.randn(5, 1, 8, 8), torch.randint(0, 7, (5,)), torch.randint(0, 3, (5,)))
        for _ in range(steps)
    ]
    net.to(device)
    steppers = OPTIMIZERS[optimizer](net.parameters())
    if setup is not None:
        setup(net, loss_function)
    losses = []
    for step, batch in enumerate(batches):
        if each_step is not None:
            each_step(step)
        pictures, words, labels = (tensor.to(device) for tensor in batch)
        steppers.zero_grad()
        loss = loss_function(net(pictures, words), labels)
        loss.backward()
        steppers.step()
        losses.append(loss.detach())
    if each_step is not None:
        each_step(steps)
    state = {name: tensor.detach().cpu() for name, tensor in net.state_dict().items()}
    return {**state, "losses": torch.stack(losses).cpu()}
