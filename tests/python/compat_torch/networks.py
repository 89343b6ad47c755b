"""The networks that plans name. Needs only PyTorch."""

# ruff: noqa: ANN401

from typing import Any, Callable, NamedTuple

import torch
from torch import Tensor, nn

Roots = list[nn.Module]


class Mlp(nn.Module):
    """Uses one ReLU twice."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(5, 7)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(7, 7)
        self.head = nn.Sequential(nn.Tanh(), nn.Linear(7, 3))

    def forward(self, x: Tensor) -> Any:
        return self.head(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.bn = nn.BatchNorm2d(3)
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(3 * 4 * 4, 4)

    def forward(self, x: Tensor) -> Any:
        return self.fc(self.dropout(torch.relu(self.bn(self.conv1(x)))).flatten(1))


class Wide(nn.Sequential):
    """What one layer gives is what the next one takes, but for what a ReLU changes in place."""

    def __init__(self) -> None:
        super().__init__(
            *(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.ReLU(inplace=True)),
            *(nn.Linear(64, 64), nn.Flatten()),
        )


class Recurrent(nn.Module):
    """The outputs of an LSTM are nested tuples."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True)
        self.fc = nn.Linear(5, 2)

    def forward(self, x: Tensor) -> Any:
        out, (hidden, _) = self.lstm(x)
        return self.fc(out[:, -1] + hidden[-1])


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.fc = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Any:
        return self.fc(self.layer(x).mean(1))


class Tied(nn.Module):
    """One weight under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.two = nn.Linear(4, 4)
        self.two.weight = self.one.weight

    def forward(self, x: Tensor) -> Any:
        return self.two(torch.relu(self.one(x)))


class Shared(nn.Module):
    """One module under two names, and a frozen one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.again = self.first
        self.frozen = nn.Linear(4, 2)
        self.frozen.requires_grad_(False)

    def forward(self, x: Tensor) -> Any:
        return self.frozen(self.again(torch.relu(self.first(x))))


class Pairs(nn.Module):
    def forward(self, pair: Any) -> Any:
        first, (second, rest) = pair
        return [first + second, (first - second, [rest[0]]), None, 3]


class Nested(nn.Module):
    """Passes tensors in lists and tuples."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.pairs = Pairs()

    def forward(self, x: Tensor) -> Any:
        out = self.pairs((self.fc(x), (x, [x * 2])))
        return out[0] + out[1][0]


class Spec(NamedTuple):
    make: Callable[[], Roots]
    shape: tuple[int, ...]  # Of a batch.
    run: Callable[[Roots, Tensor], Tensor]


def _chain(roots: Roots, x: Tensor) -> Tensor:
    for root in roots:
        x = root(x)
    return x


MODELS = {
    "mlp": Spec(lambda: [Mlp()], (4, 5), _chain),
    "cnn": Spec(lambda: [Cnn()], (4, 1, 6, 6), _chain),
    "wide": Spec(lambda: [Wide()], (64, 16), _chain),
    "lstm": Spec(lambda: [Recurrent()], (3, 6, 4), _chain),
    "transformer": Spec(lambda: [Attention()], (3, 5, 8), _chain),
    "tied": Spec(lambda: [Tied()], (3, 4), _chain),
    "shared": Spec(lambda: [Shared()], (3, 4), _chain),
    "nested": Spec(lambda: [Nested()], (3, 4), _chain),
    "parallel": Spec(lambda: [nn.DataParallel(Mlp())], (4, 5), _chain),
    "two": Spec(lambda: [nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 2))], (3, 4), _chain),
}


def batches(shape: tuple[int, ...], steps: int, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for _ in range(steps)]
