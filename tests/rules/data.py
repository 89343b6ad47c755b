"""Generated data: endless batches of tasks that can be learnt, and small fixed sets."""

from __future__ import annotations

from typing import Callable

import torch
from rules.training import Batch
from torch import Tensor

Batches = Callable[[int], Batch]


class Blobs:
    """Classes that are clouds of points; the larger the spread, the more they mix."""

    def __init__(self, seed: int, classes: int = 4, size: int = 16, spread: float = 0.5) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.centers = torch.randn(classes, size, generator=self.generator)
        self.spread = spread

    def sample(self, count: int, weights: list[float] | None = None) -> Batch:
        """Points with their classes, which are equally frequent or weighted."""
        frequencies = torch.tensor(weights or [1.0] * len(self.centers))
        labels = torch.multinomial(frequencies, count, True, generator=self.generator)
        noise = torch.randn(count, self.centers.shape[1], generator=self.generator)
        return self.centers[labels] + self.spread * noise, labels

    def batches(self, count: int, weights: list[float] | None = None) -> Batches:
        return lambda _step: self.sample(count, weights)


def fixed(batch: Batch, count: int) -> Batches:
    """Goes round and round through a set, `count` at a time."""
    inputs, labels = batch

    def at(step: int) -> Batch:
        where = torch.arange(step * count, (step + 1) * count) % len(labels)
        return inputs[where], labels[where]

    return at


def images(seed: int, count: int, scale: float = 1.0, offset: float = 0.0) -> Batches:
    """Images of noise, in which a bright bar stands or lies."""
    generator = torch.Generator().manual_seed(seed)

    def at(_step: int) -> Batch:
        labels = torch.randint(2, (count,), generator=generator)
        pixels = torch.randn(count, 3, 8, 8, generator=generator)
        pixels[labels == 0, :, 3] += 2
        pixels[labels == 1, :, :, 3] += 2
        pixels -= pixels.mean()
        return scale * pixels + offset, labels

    return at


def texts(seed: int, count: int, padding: float) -> Batches:
    """Sequences of 20 tokens, of which a share is padding; some tokens tell the class."""
    generator = torch.Generator().manual_seed(seed)

    def at(_step: int) -> Batch:
        labels = torch.randint(2, (count,), generator=generator)
        tokens = torch.randint(10, 50, (count, 20), generator=generator)
        tokens[:, :3] = 2 + labels.unsqueeze(1)
        keep = 20 - round(20 * padding)
        tokens[:, keep:] = 0
        return tokens, labels

    return at


def regression(seed: int, count: int, noise: float) -> Batches:
    """A linear map with noise."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(16, 1, generator=generator)

    def at(_step: int) -> Batch:
        inputs = torch.randn(count, 16, generator=generator)
        errors = torch.randn(count, 1, generator=generator)
        return inputs, inputs @ weights + noise * errors

    return at


def like(tensor: Tensor, seed: int) -> Tensor:
    """Other values of the same shape."""
    return torch.randn(tensor.shape, generator=torch.Generator().manual_seed(seed))
