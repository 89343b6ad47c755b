"""What was taken of the tensors of a device and is not handed to the core yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from smdebug import _core
from smdebug.pytorch.device_reductions import Parts, Reducer
from smdebug.pytorch.transfers import HostMemory, Lane

# When so many bytes, or tensors, are gathered, they are copied or reduced.
MOST_GATHERED = 16 << 20
MOST_ITEMS = 4096


class Wanted(NamedTuple):
    """What has to come of a tensor; for the next step, all."""

    anything: bool = True
    content: bool = True
    statistics: bool = False
    deviations: bool = False


@dataclass
class Item:
    """A tensor that is to be saved: where it is, and for whom."""

    number: int  # In the order in which they came.
    name: str
    dtype: str
    shape: tuple[int, ...]
    step: int | None
    collections: list[str] | None
    next_step: bool
    # What it will be saved from: bytes of the host's memory, or rows of the numbers.
    host: HostMemory | None = None
    content: tuple[int, int] | None = None
    parts: list[Parts] = field(default_factory=list)

    def save(
        self,
        core: _core.Hook,
        numbers: HostMemory | None,
        arrival: _core.Arrival,
        has_floats: bool,
    ) -> None:
        """Has the core save it when it has come."""
        host = numbers if self.parts else self.host
        core.save_arriving(
            self.name,
            self.dtype,
            self.shape,
            None if host is None else host.memory,
            arrival,
            self.step,
            content=self.content,
            parts=self.parts,
            has_floats=has_floats,
            collections=self.collections,
            next_step=self.next_step,
        )


class Taken(NamedTuple):
    """The values of a tensor, as one row."""

    item: Item
    flat: torch.Tensor
    stays: bool  # It does not change until gather().
    is_own: bool = False  # Nobody else has it.

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self.flat.numel() * self.flat.element_size())


@dataclass
class Scalar:
    """A number that is to be saved."""

    name: str
    value: torch.Tensor  # One number, on the device, in its wide dtype.
    timestamp: float
    step: int
    is_metric: bool

    def save(
        self,
        core: _core.Hook,
        numbers: HostMemory,
        place: int,
        arrival: _core.Arrival,
        has_floats: bool,
    ) -> None:
        """Has the core save it when it has come; it is at `place` of the numbers."""
        offset = numbers.tensor.numel() + place * (4 if has_floats else 8)
        core.save_arriving_scalar(
            self.name,
            numbers.memory,
            offset,
            has_floats,
            arrival,
            self.timestamp,
            self.step,
            self.is_metric,
        )


class Gathering:
    """What is taken of the tensors of one device, until it is handed to the core."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.reducer = Reducer(lane.wide, lane.current_stream)
        self.items: list[Item] = []  # Of which copies or reductions are under way.
        self.scalars: list[Scalar] = []
        self.kept: list[Any] = []  # What the device still reads.
        self._to_copy: list[Taken] = []
        self._to_reduce: dict[bool, list[Taken]] = {}  # By whether deviations are wanted.
        self._size = 0
        self._count = 0
        self._streams: list[Any] = []  # That compute what is gathered.

    def has_tensors(self) -> bool:
        """Whether there is anything but scalars."""
        return bool(self.items or self._count)

    def add(self, taken: Taken, reduces: bool, deviations: bool) -> None:
        """Gathers a tensor, to be copied or reduced with others."""
        if reduces:
            self._to_reduce.setdefault(deviations, []).append(taken)
        else:
            self._to_copy.append(taken)
        self._size += taken.size
        self._count += 1

    def is_much(self) -> bool:
        """Whether so much is gathered that it is time to do it."""
        return self._size >= MOST_GATHERED or self._count >= MOST_ITEMS

    def take_gathered(self) -> tuple[dict[bool, list[Taken]], list[Taken]]:
        """What is to be reduced, and what is to be copied; nothing is gathered then."""
        gathered = self._to_reduce, self._to_copy
        self._to_reduce, self._to_copy = {}, []
        self._size = self._count = 0
        return gathered

    def take_items(self, with_numbers: bool) -> list[Item]:
        """The items that may be handed over."""
        taken = [item for item in self.items if with_numbers or not item.parts]
        self.items = [item for item in self.items if not with_numbers and item.parts]
        return sorted(taken, key=lambda item: item.number)

    def note_stream(self) -> None:
        """Something of this thread's stream is gathered."""
        stream = self.lane.current_stream()
        if stream is not None and stream not in self._streams:
            self._streams.append(stream)

    def join_streams(self, used: list[torch.Tensor]) -> None:
        """The current stream goes on after those that computed what was gathered.

        Those may use the memory of `used` again before the current one is done with it, so it is
        kept.
        """
        streams, self._streams = self._streams, []
        if self.lane.join(streams):
            self.kept += [*used, *self.reducer.rows, *[one.value for one in self.scalars]]

    def copy(self, packed: torch.Tensor, host: HostMemory) -> None:
        """Copies bytes that nobody changes to the host."""
        self.lane.copy(packed, host.tensor)
        self.kept.append(packed)
