"""Saves tensors that are on a device, without waiting for the device."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Iterator

import torch

from smdebug import _core
from smdebug._hook.endings import describe
from smdebug.pytorch.device_reductions import is_reducible
from smdebug.pytorch.gathering import (
    MOST_GATHERED,
    MOST_ITEMS,
    Gathering,
    Item,
    Scalar,
    Taken,
    Wanted,
)
from smdebug.pytorch.tensors import DTYPES, strided
from smdebug.pytorch.transfers import HostMemory, Waiter, find_lane

# For tests: tensors in memory of the CPU take this way, too.
CPU_AS_DEVICE = "SMDEBUG_CPU_AS_DEVICE"

# What is no larger is gathered, to be copied or reduced together with others.
_MOST_GATHERED_EACH = 1 << 20
# Scalars wait for tensors, so that steps of which nothing else is saved need no transfer.
_MOST_SCALARS = 256
_SCALARS_WAIT = 1.0


class Devices:
    """Takes the tensors of devices for a core's hook.

    What changes afterwards is copied at once, on the device: what the hook saw is what is saved,
    and no tensor of the training is kept. What is gathered so is reduced together, and comes to
    the host in one transfer before the step ends; the core's own thread waits for it.

    Thread-safe.
    """

    def __init__(self, core: _core.Hook) -> None:
        self._core = weakref.ref(core)
        self._takes_cpu = os.environ.get(CPU_AS_DEVICE, "") not in ("", "0")
        self.lock = threading.RLock()  # The core's hook has it where a step ends.
        self._gatherings: dict[torch.device, Gathering | None] = {}
        self._waiter = Waiter()
        self._numbers = itertools.count()
        self._oldest_scalar = 0.0
        core.take_elsewhere(self, self._takes_cpu)

    def close(self) -> None:
        """After the core's hook was closed."""
        self._gatherings = {}  # With the memory of devices that is used again from step to step.
        self._waiter.close()

    # What the core's hook calls.

    def take(
        self,
        name: str,
        tensor: object,
        collections: list[str] | None,
        next_step: bool,
        is_stable: bool,
    ) -> bool:
        """Whether `tensor` is saved from here. If it `is_stable` it does not change meanwhile."""
        core = self._core()
        if core is None or not isinstance(tensor, torch.Tensor):
            return False
        with torch.no_grad(), self.lock:
            gathering = self._gathering_of(tensor.device)
            if gathering is None:
                return False
            plain = strided(tensor)
            dtype = None if isinstance(plain, str) else DTYPES.get(plain.dtype)
            if isinstance(plain, str) or dtype is None:
                return False  # Which says why.
            if gathering.lane.is_capturing():
                core.skip(name, "is computed while a graph of the device is captured")
                return True
            wanted = Wanted() if next_step else Wanted(*core.wanted(name, collections))
            if wanted.anything:
                step = None if next_step else core.step
                shape = tuple(plain.shape)
                number = next(self._numbers)
                item = Item(number, name, dtype, shape, step, collections, next_step)
                flat, is_own = _as_row(plain)
                taken = Taken(item, flat, is_own or is_stable, is_own)
                self._take(core, gathering, taken, wanted)
        return True

    def take_scalar(
        self,
        name: str,
        value: object,
        timestamp: float | None,
        step: int | None,
        is_metric: bool,
    ) -> bool:
        """Whether one number is saved from here."""
        core = self._core()
        if core is None or not isinstance(value, torch.Tensor):
            return False
        if value.numel() != 1 or value.is_complex() or value.is_quantized or value.is_sparse:
            return False
        with torch.no_grad(), self.lock:
            gathering = self._gathering_of(value.device)
            if gathering is None or gathering.lane.is_capturing():
                return False
            at = core.step if step is None else step
            if at < 0:
                return False  # Which step it is of will show.
            wide = gathering.lane.wide
            if wide is not torch.float64 and not is_reducible(value.dtype, wide):
                return False  # It would be rounded.
            number = torch.empty(1, dtype=wide, device=value.device)
            number.copy_(value.detach().reshape(1))
            gathering.note_stream()
            if not any(one.scalars for one in self._all()):
                self._oldest_scalar = time.monotonic()
            when = time.time() if timestamp is None else timestamp
            gathering.scalars.append(Scalar(name, number, when, at, is_metric))
            core.expect_settling()
            if len(gathering.scalars) >= _MOST_SCALARS:
                self._hand_over(core, gathering)
        return True

    def gather(self) -> None:
        """What was stable may change from now on."""
        core = self._core()
        with torch.no_grad(), self.lock:
            for gathering in self._all():
                if core is not None:
                    self._process(core, gathering)

    def settle(self, is_urgent: bool) -> bool:
        """Hands all that was taken to the core; whether something is left that may wait."""
        core = self._core()
        with torch.no_grad(), self.lock:
            gatherings = self._all()
            has_tensors = any(gathering.has_tensors() for gathering in gatherings)
            has_scalars = any(gathering.scalars for gathering in gatherings)
            is_young = time.monotonic() - self._oldest_scalar < _SCALARS_WAIT
            if has_scalars and is_young and not (has_tensors or is_urgent):
                return True
            for gathering in gatherings:
                if core is not None:
                    self._hand_over(core, gathering)
        return False

    # How it is done.

    def _all(self) -> list[Gathering]:
        return [one for one in self._gatherings.values() if one is not None]

    def _gathering_of(self, device: torch.device) -> Gathering | None:
        if device not in self._gatherings:
            lane = find_lane(device, self._takes_cpu)
            self._gatherings[device] = None if lane is None else Gathering(lane)
        return self._gatherings[device]

    def _take(self, core: _core.Hook, gathering: Gathering, taken: Taken, wanted: Wanted) -> None:
        gathering.note_stream()
        flat = taken.flat
        reduces = wanted.statistics and is_reducible(flat.dtype, gathering.lane.wide)
        if flat.numel() == 0 or not (wanted.content or wanted.statistics):
            gathering.items.append(taken.item)  # Its shape says all.
        elif taken.size <= _MOST_GATHERED_EACH or taken.stays:
            if not taken.stays:
                taken = taken._replace(flat=flat.clone(), stays=True, is_own=True)
            gathering.add(taken, reduces, wanted.deviations)
            if taken.is_own and gathering.is_much():
                self._process(core, gathering)
        elif reduces:
            taken.item.parts = gathering.reducer.reduce([flat], wanted.deviations)[0]
            gathering.items.append(taken.item)
        else:
            self._copy_alone(core, gathering, taken)
        if len(gathering.items) >= MOST_ITEMS:
            self._hand_over(core, gathering)

    def _process(self, core: _core.Hook, gathering: Gathering) -> None:
        """Starts the copies and reductions of what was gathered."""
        to_reduce, to_copy = gathering.take_gathered()
        flats = [taken.flat for some in (*to_reduce.values(), to_copy) for taken in some]
        if flats:
            gathering.join_streams(flats)
        for deviations, some in to_reduce.items():
            with _left_out_if_it_fails(core, some):
                parts = gathering.reducer.reduce([taken.flat for taken in some], deviations)
                for taken, rows in zip(some, parts):
                    taken.item.parts = rows
                    gathering.items.append(taken.item)
        for chunk in _chunks(to_copy):
            with _left_out_if_it_fails(core, chunk):
                if len(chunk) == 1:
                    self._copy_alone(core, gathering, chunk[0])
                else:
                    self._copy_together(core, gathering, chunk)

    def _copy_together(self, core: _core.Hook, gathering: Gathering, chunk: list[Taken]) -> None:
        size = sum(taken.size for taken in chunk)
        host = self._allocate(core, gathering, [taken.item.name for taken in chunk], size)
        if host is None:
            return
        packed = torch.cat([taken.flat.view(torch.uint8) for taken in chunk])
        gathering.copy(packed, host)
        offset = 0
        for taken in chunk:
            taken.item.host, taken.item.content = host, (offset, taken.size)
            gathering.items.append(taken.item)
            offset += taken.size

    def _copy_alone(self, core: _core.Hook, gathering: Gathering, taken: Taken) -> None:
        host = self._allocate(core, gathering, [taken.item.name], taken.size)
        if host is None:
            return
        flat = taken.flat.view(torch.uint8)
        if not taken.is_own and gathering.lane.may_stage(taken.size):
            flat = flat.clone()
            gathering.copy(flat, host)
        elif taken.is_own:
            gathering.copy(flat, host)
        else:
            gathering.lane.copy_first(flat, host.tensor)
        taken.item.host, taken.item.content = host, (0, taken.size)
        gathering.items.append(taken.item)

    def _allocate(
        self, core: _core.Hook, gathering: Gathering, names: list[str], size: int
    ) -> HostMemory | None:
        """Memory of the host; None if there is no room for it, which the core has counted."""
        room = core.reserve(names, size, waits=False)
        if room is None:
            # What was taken before may be what takes the room.
            self._send(core, gathering, with_numbers=False)
            room = core.reserve(names, size, waits=True)
        return None if room is None else gathering.lane.allocate(size, room)

    def _hand_over(self, core: _core.Hook, gathering: Gathering) -> None:
        """Starts what has to come yet, and has the core save it when it has come."""
        self._process(core, gathering)
        self._send(core, gathering, with_numbers=True)

    def _send(self, core: _core.Hook, gathering: Gathering, with_numbers: bool) -> None:
        """Hands over what is on its way; the numbers, which are not yet, only if asked to."""
        lane = gathering.lane
        gathering.join_streams([])
        numbers = self._fetch_numbers(core, gathering) if with_numbers else None
        items = gathering.take_items(with_numbers)
        scalars: list[Scalar] = []
        if with_numbers:
            scalars, gathering.scalars = gathering.scalars, []
        if not (items or scalars):
            return
        kept, gathering.kept = gathering.kept, []
        arrival = _core.Arrival()
        # Now, since to save may mean to wait for room, which comes when this has come.
        self._waiter.add(lane.record(), arrival, (kept, [item.host for item in items], numbers))
        for item in items:
            item.save(core, numbers, arrival, lane.has_floats)
        if numbers is not None:
            for number, scalar in enumerate(scalars):
                scalar.save(core, numbers, number - len(scalars), arrival, lane.has_floats)

    def _fetch_numbers(self, core: _core.Hook, gathering: Gathering) -> HostMemory | None:
        """Brings rows and scalars to the host; None without any, or if there is no room."""
        rows = gathering.reducer.rows
        if not (rows or gathering.scalars):
            return None
        flat = [block.flatten() for block in rows] + [one.value for one in gathering.scalars]
        packed = torch.cat(flat).view(torch.uint8)
        names = [item.name for item in gathering.items if item.parts]
        names += [scalar.name for scalar in gathering.scalars]
        host = self._allocate(core, gathering, names, packed.numel())
        gathering.reducer.take()
        if host is None:
            gathering.items = [item for item in gathering.items if not item.parts]
            gathering.scalars = []
        else:
            gathering.copy(packed, host)
        return host


def _as_row(tensor: torch.Tensor) -> tuple[torch.Tensor, bool]:
    """The elements of a tensor one after the other, and whether they were copied for that."""
    flat = tensor.reshape(-1)
    is_dense = tensor.is_contiguous() and (flat.stride(0) == 1 or not flat.numel())
    return (flat, False) if is_dense else (flat.clone(memory_format=torch.contiguous_format), True)


@contextlib.contextmanager
def _left_out_if_it_fails(core: _core.Hook, some: list[Taken]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        reason = describe(error)
        if any([core.leave_out(taken.item.name, reason) for taken in some]):
            raise


def _chunks(to_copy: list[Taken]) -> Iterator[list[Taken]]:
    """What is copied together. Wide elements come first, so that all lie as they have to."""
    chunk: list[Taken] = []
    gathered = 0
    for taken in sorted(to_copy, key=lambda taken: -taken.flat.element_size()):
        if taken.size > _MOST_GATHERED_EACH:
            yield [taken]
            continue
        if gathered + taken.size > MOST_GATHERED:
            yield chunk
            chunk, gathered = [], 0
        chunk.append(taken)
        gathered += taken.size
    if chunk:
        yield chunk
