"""Images of digits, made here: 28 x 28 pixels, like MNIST, and nothing to download."""

from __future__ import annotations

import torch
from torch import Tensor

# The seven strokes of a digital clock, as (rows, columns) of the image.
_STROKES = {
    "top": (slice(4, 7), slice(8, 20)),
    "middle": (slice(13, 16), slice(8, 20)),
    "bottom": (slice(22, 25), slice(8, 20)),
    "upper left": (slice(5, 15), slice(7, 10)),
    "upper right": (slice(5, 15), slice(18, 21)),
    "lower left": (slice(14, 24), slice(7, 10)),
    "lower right": (slice(14, 24), slice(18, 21)),
}

# The strokes that each digit leaves out.
_MISSING = [
    ["middle"],
    ["top", "middle", "bottom", "upper left", "lower left"],
    ["upper left", "lower right"],
    ["upper left", "lower left"],
    ["top", "bottom", "lower left"],
    ["upper right", "lower left"],
    ["upper right"],
    ["middle", "bottom", "upper left", "lower left"],
    [],
    ["lower left"],
]


def _draw(digit: int) -> Tensor:
    image = torch.zeros(28, 28)
    for name, (rows, columns) in _STROKES.items():
        if name not in _MISSING[digit]:
            image[rows, columns] = 1
    return image


_DIGITS = torch.stack([_draw(digit) for digit in range(10)])


def batch(size: int, noise: float = 0.3) -> tuple[Tensor, Tensor]:
    """Images (size, 1, 28, 28) with noise, each moved a little, and the digits they show."""
    labels = torch.randint(0, 10, (size,))
    images = _DIGITS[labels]
    moves = torch.randint(-3, 4, (size, 2)).tolist()
    moved = [image.roll((down, right), (0, 1)) for image, (down, right) in zip(images, moves)]
    return torch.stack(moved).unsqueeze(1) + noise * torch.randn(size, 1, 28, 28), labels
