"""The models that step_bench.py trains, each with a batch of data."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn


class Job(NamedTuple):
    """A model, its loss, and the one batch that it is trained with."""

    model: nn.Module
    loss: nn.Module
    inputs: torch.Tensor
    targets: torch.Tensor


class Block(nn.Module):
    """The basic block of ResNet-18: two convolutions and a way around them."""

    def __init__(self, channels: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        result: torch.Tensor = self.relu(y + self.shortcut(x))
        return result


class ResNet18(nn.Sequential):
    """ResNet-18 for small images; `width` is 64 in the paper."""

    def __init__(self, width: int) -> None:
        layers: list[nn.Module] = [
            nn.Conv2d(3, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        channels = width
        for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
            layers += [Block(channels, outputs, stride), Block(outputs, outputs, 1)]
            channels = outputs
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10))


class Transformer(nn.Module):
    """Tells the class of a text: 4 encoder layers of 256 features over 128 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
            for _ in range(4)
        )
        self.head = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embedding(x)
        for layer in self.layers:
            x = layer(x)
        result: torch.Tensor = self.head(x.mean(dim=1))
        return result


class Scale(nn.Module):
    """A module of one small parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


class LeNet(nn.Sequential):
    """LeNet-5 for images of 28 x 28."""

    def __init__(self) -> None:
        super().__init__(
            *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(400, 120), nn.ReLU()),
            *(nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        )


class Mlp(nn.Sequential):
    """Two hidden layers of 256."""

    def __init__(self) -> None:
        super().__init__(
            *(nn.Linear(784, 256), nn.ReLU()),
            *(nn.Linear(256, 256), nn.ReLU()),
            nn.Linear(256, 10),
        )


class Modules100(nn.Sequential):
    """100 modules of one parameter each."""

    def __init__(self) -> None:
        super().__init__(*(Scale() for _ in range(100)))


MODELS = ("mlp", "lenet", "resnet18", "transformer", "modules100")


def make_job(name: str, small: bool) -> Job:
    """The model of that name; if `small`, with as little data as it takes."""
    torch.manual_seed(1)
    classes = nn.CrossEntropyLoss()
    if name == "mlp":
        batch = 1 if small else 64
        return Job(Mlp(), classes, torch.randn(batch, 784), torch.zeros(batch, dtype=torch.long))
    if name == "lenet":
        batch = 1 if small else 64
        data = torch.randn(batch, 1, 28, 28)
        return Job(LeNet(), classes, data, torch.zeros(batch, dtype=torch.long))
    if name == "resnet18":
        batch, size = (2, 8) if small else (16, 32)
        data = torch.randn(batch, 3, size, size)
        return Job(ResNet18(width=16), classes, data, torch.zeros(batch, dtype=torch.long))
    if name == "transformer":
        batch, length = (1, 2) if small else (4, 128)
        data = torch.randint(1000, (batch, length))
        return Job(Transformer(), classes, data, torch.zeros(batch, dtype=torch.long))
    return Job(Modules100(), nn.MSELoss(), torch.randn(16), torch.zeros(16))
