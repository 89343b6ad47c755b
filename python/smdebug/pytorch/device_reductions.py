"""What tensors of a device are reduced to there, all of them together."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple

import torch

# Elements that make up one row: of tensors that are packed together, and of large ones, which are
# reduced where they are.
_PACKED_WIDTH = 1 << 9
_LARGE_WIDTH = 1 << 16
# What is larger is not packed.
_MOST_PACKED = 1 << 20
# So many elements at a time are converted; what this takes is what the reductions need at most.
_MOST_AT_ONCE = 1 << 22
# So many masks are kept: a step has few, and the next ones have the same.
_MOST_MASKS = 4

_FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
_INTEGERS = {torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64}


class Parts(NamedTuple):
    """Rows of one tensor: each is about `width` elements, the last about what is left."""

    first_row: int
    elements: int
    width: int


@functools.lru_cache(maxsize=64)
def wide_dtype(device: torch.device) -> torch.dtype:
    """The dtype in which a device adds up: float64 if it has that."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (TypeError, RuntimeError, NotImplementedError):
        return torch.float32
    return torch.float64


def is_reducible(dtype: torch.dtype, wide: torch.dtype) -> bool:
    """Whether what the core makes of `dtype` can be had from a device that adds up in `wide`."""
    return dtype in _FLOATS if wide is torch.float32 else dtype in _FLOATS or dtype in _INTEGERS


class Reducer:
    """Reduces tensors of one device to rows; a row is a PartStatistics of the core.

    Launches as few operations as it can, and waits for none. `current_stream` gives the stream that
    they are launched on.
    """

    def __init__(self, wide: torch.dtype, current_stream: Callable[[], Any]) -> None:
        self._wide = wide
        self._current_stream = current_stream
        # By who made them: other streams know nothing of them.
        self._masks: dict[tuple[Any, tuple[int, ...]], torch.Tensor] = {}
        self.rows: list[torch.Tensor] = []
        self._count = 0

    def take(self) -> list[torch.Tensor]:
        """The rows, in their order; the next one is the first again."""
        rows, self.rows, self._count = self.rows, [], 0
        return rows

    def reduce(self, tensors: list[torch.Tensor], deviations: bool) -> list[list[Parts]]:
        """Where the rows of each of `tensors` will be, which are flat and not empty."""
        parts: list[list[Parts]] = [[] for _ in tensors]
        packed: dict[torch.dtype, list[tuple[int, torch.Tensor]]] = {}
        for number, tensor in enumerate(tensors):
            rest = tensor
            if tensor.numel() > _MOST_PACKED:
                rest = self._reduce_large(tensor, parts[number], deviations)
            if rest.numel():
                packed.setdefault(tensor.dtype, []).append((number, rest))
        for some in packed.values():
            self._reduce_packed(some, parts, deviations)
        return parts

    def _add(self, block: torch.Tensor, mask: torch.Tensor | None, deviations: bool) -> int:
        first = self._count
        self.rows.append(_reduce_rows(block.to(self._wide), mask, deviations))
        self._count += block.shape[0]
        return first

    def _reduce_large(
        self, tensor: torch.Tensor, parts: list[Parts], deviations: bool
    ) -> torch.Tensor:
        """Reduces the rows that are full; gives the rest."""
        whole = tensor.numel() // _LARGE_WIDTH * _LARGE_WIDTH
        for block in tensor[:whole].view(-1, _LARGE_WIDTH).split(_MOST_AT_ONCE // _LARGE_WIDTH):
            parts.append(Parts(self._add(block, None, deviations), block.numel(), _LARGE_WIDTH))
        return tensor[whole:]

    def _reduce_packed(
        self,
        tensors: list[tuple[int, torch.Tensor]],
        parts: list[list[Parts]],
        deviations: bool,
    ) -> None:
        while tensors:
            some: list[tuple[int, torch.Tensor]] = []
            room = _MOST_AT_ONCE
            while tensors and (not some or tensors[0][1].numel() + _PACKED_WIDTH <= room):
                some.append(tensors.pop(0))
                room -= some[-1][1].numel() + _PACKED_WIDTH
            row = self._add_packed([tensor for _, tensor in some], deviations)
            for number, tensor in some:
                parts[number].append(Parts(row, tensor.numel(), _PACKED_WIDTH))
                row += -(-tensor.numel() // _PACKED_WIDTH)

    def _add_packed(self, tensors: list[torch.Tensor], deviations: bool) -> int:
        counts = tuple(tensor.numel() for tensor in tensors)
        filler = torch.zeros((), dtype=tensors[0].dtype, device=tensors[0].device)
        pieces: list[torch.Tensor] = []
        for tensor, count in zip(tensors, counts):
            pieces += [tensor, filler.expand(-count % _PACKED_WIDTH)]
        block = torch.cat(pieces).view(-1, _PACKED_WIDTH)
        return self._add(block, self._mask(counts, block.device), deviations)

    def _mask(self, counts: tuple[int, ...], device: torch.device) -> torch.Tensor:
        key = (self._current_stream(), counts)
        mask = self._masks.get(key)
        if mask is None:
            if len(self._masks) == _MOST_MASKS:
                self._masks.clear()
            mask = self._masks[key] = _make_mask(counts, device)
        return mask


def _make_mask(counts: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Which elements of packed rows are elements of tensors; made on the device itself."""
    yes = torch.ones((), dtype=torch.bool, device=device)
    no = torch.zeros((), dtype=torch.bool, device=device)
    pieces: list[torch.Tensor] = []
    for count in counts:
        pieces += [yes.expand(count), no.expand(-count % _PACKED_WIDTH)]
    return torch.cat(pieces).view(-1, _PACKED_WIDTH)


def _reduce_rows(x: torch.Tensor, mask: torch.Tensor | None, deviations: bool) -> torch.Tensor:
    """One row of numbers for each row of `x`; where `mask` is False there is a 0 that is none."""
    wide = x.dtype
    magnitudes = x.abs()
    infinity = float("inf")
    is_zero = x == 0
    low, high, least = x, x, magnitudes
    if mask is not None:
        is_zero = is_zero & mask
        low = torch.where(mask, x, infinity)
        high = torch.where(mask, x, -infinity)
        least = torch.where(mask, magnitudes, infinity)
    sums = x.sum(1)
    magnitude_sums = magnitudes.sum(1)
    spread = plain_spread = torch.zeros_like(sums)
    if deviations:
        count = x.shape[1] if mask is None else mask.sum(1, dtype=wide)
        plain_spread = _deviations(x, sums / count, mask)
        spread = _deviations(magnitudes, magnitude_sums / count, mask)
    columns = [
        (x != x).sum(1, dtype=wide),
        (x == infinity).sum(1, dtype=wide),
        (x == -infinity).sum(1, dtype=wide),
        is_zero.sum(1, dtype=wide),
        low.amin(1),
        high.amax(1),
        least.amin(1),
        sums,
        magnitude_sums,
        (x * x).sum(1),
        plain_spread,
        spread,
    ]
    return torch.stack(columns, 1)


def _deviations(x: torch.Tensor, mean: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    away = x - mean.unsqueeze(1)
    if mask is not None:
        away = torch.where(mask, away, 0.0)
    return (away * away).sum(1)
