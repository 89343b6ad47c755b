"""Small networks whose parts go by names, as people write them."""

from __future__ import annotations

from typing import Callable

import torch
from torch import Tensor, nn


class Mlp(nn.Module):
    """`depth` hidden layers of `width`, each with the same activation."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        width: int = 32,
        depth: int = 2,
        activation: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        sizes = [inputs] + [width] * depth
        self.fc = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        kind = activation.__name__.lower()
        self.activations = [f"{kind}{i}" for i in range(depth)]
        for name in self.activations:
            self.add_module(name, activation())
        self.head = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        for layer, name in zip(self.fc, self.activations):
            x = getattr(self, name)(layer(x))
        result: Tensor = self.head(x)
        return result


class Cnn(nn.Module):
    """Two convolutions over images of one channel or more."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 8, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.relu2 = nn.ReLU()
        self.head = nn.Linear(8, outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu2(self.conv2(self.relu1(self.conv1(x))))
        result: Tensor = self.head(x.mean(dim=(2, 3)))
        return result


class TextClassifier(nn.Module):
    """Embeds tokens, of which 0 is padding, and classifies their mean."""

    def __init__(self, tokens: int, outputs: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, 16, padding_idx=0)
        self.fc = nn.Linear(16, 16)
        self.relu = nn.ReLU()
        self.head = nn.Linear(16, outputs)

    def forward(self, x: Tensor) -> Tensor:
        embedded = self.embedding(x)
        present = (x != 0).unsqueeze(-1)
        mean = (embedded * present).sum(1) / present.sum(1).clamp(min=1)
        result: Tensor = self.head(self.relu(self.fc(mean)))
        return result


def zero(module: nn.Module) -> None:
    """Sets every parameter of a module to zero."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
