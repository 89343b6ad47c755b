"""Copies from a device to memory of the host which the training does not wait for."""

from __future__ import annotations

import contextlib
import queue
import threading
import weakref
from typing import Any, NamedTuple

import torch

from smdebug import _core
from smdebug._hook.making import making
from smdebug.pytorch.device_reductions import wide_dtype

# What is copied while the training goes on may take so much of the device's memory. Beyond that
# the device copies before it goes on.
_MOST_STAGED = 64 << 20


class HostMemory(NamedTuple):
    """Memory of the host that a device writes into."""

    tensor: torch.Tensor  # Of bytes.
    memory: _core.Memory  # The same for the core, and its room in the buffer.


class Lane:
    """The way from one device to the host.

    A device without streams (the CPU, where tests treat it as a device) copies at once.
    """

    def __init__(self, device: torch.device, has_streams: bool) -> None:
        self.device = device
        self.wide = wide_dtype(device)
        self.has_floats = self.wide is torch.float32
        self._pins = has_streams
        self._side: Any = torch.Stream(device) if has_streams else None
        self._staged = 0
        self._last_event: Any = None

    def current_stream(self) -> Any:
        """The stream of the training on this thread; None without streams."""
        return None if self._side is None else torch.accelerator.current_stream(self.device)

    def is_capturing(self) -> bool:
        """Whether what is computed now is only noted down, to be run later."""
        is_capturing = getattr(self.current_stream(), "is_capturing", None)
        return is_capturing is not None and bool(is_capturing())

    def join(self, streams: list[Any]) -> bool:
        """What is computed from now on comes after what those streams have to do.

        Whether any of them is another than the current one.
        """
        current = self.current_stream()
        others = [stream for stream in streams if stream != current]
        for stream in others:
            current.wait_stream(stream)
        return bool(others)

    def allocate(self, size: int, room: _core.Room) -> HostMemory:
        """Memory for `size` bytes, which have their room."""
        tensor = self._empty(size)
        capsule = torch.utils.dlpack.to_dlpack(tensor)
        return HostMemory(tensor, _core.Memory(capsule, room))

    def _empty(self, size: int) -> torch.Tensor:
        if self._pins:
            try:
                return torch.empty(size, dtype=torch.uint8, device="cpu", pin_memory=True)
            except (RuntimeError, NotImplementedError):
                self._pins = False  # A device without such memory.
        return torch.empty(size, dtype=torch.uint8, device="cpu")

    def may_stage(self, size: int) -> bool:
        """Whether the device has so much memory to spare for what is on its way."""
        if self._last_event is not None and self._last_event.query():
            self._last_event = None
            self._staged = 0
        return self._side is not None and self._staged + size <= _MOST_STAGED

    def copy(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """Copies bytes to the host, while the device goes on if there is room to.

        `source` is kept, and stays as it is, until the next event has come.
        """
        if not self.may_stage(source.numel()):
            self.copy_first(source, target)
            return
        self._staged += source.numel()
        self._side.wait_stream(self.current_stream())
        with self._side:
            target.copy_(source, non_blocking=True)

    def copy_first(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """Copies bytes to the host before the device goes on: `source` may change then."""
        target.copy_(source, non_blocking=True)

    def record(self) -> Any:
        """An event that comes when all copies so far are done; None if they are."""
        if self._side is None:
            return None
        self._side.wait_stream(self.current_stream())
        event = torch.Event(self.device)
        event.record(self._side)
        self._last_event = event
        return event


def find_lane(device: torch.device, takes_cpu: bool) -> Lane | None:
    """The way from a device to the host; None if one has to wait for it there."""
    if device.type == "cpu":
        return Lane(device, has_streams=False) if takes_cpu else None
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None or not hasattr(torch.Stream, "__enter__"):
        return None
    current = accelerator.current_accelerator()
    if current is None or current.type != device.type:
        return None
    try:
        return Lane(device, has_streams=True)
    except (RuntimeError, NotImplementedError):
        return None  # It has no streams.


class _Awaited(NamedTuple):
    event: Any
    arrival: _core.Arrival
    kept: Any  # What the device reads and writes until then.


class Waiter:
    """A thread that waits for devices, and tells the core what has come.

    It starts with the first thing to wait for. Where there can be no thread, the caller waits.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[_Awaited | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._end = weakref.finalize(self, self._queue.put, None)
        self._end.atexit = False  # Hooks that are open then are closed.

    def add(self, event: Any, arrival: _core.Arrival, kept: Any) -> None:
        """Tells `arrival` when `event` has come; until then `kept` is kept."""
        if event is None:
            arrival.tell()
            return
        awaited = _Awaited(event, arrival, kept)
        if self._thread is None:
            with making():
                if self._thread is None and not self._start():
                    _settle([awaited])
                    return
        self._queue.put(awaited)

    def _start(self) -> bool:
        thread = threading.Thread(
            target=_wait_for_all, args=(self._queue,), name="smdebug-arrivals", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def close(self) -> None:
        """Ends the thread, unless it hangs in a device."""
        self._end()
        if self._thread is not None:
            self._thread.join(timeout=1)


def _wait_for_all(waiting: queue.SimpleQueue[_Awaited | None]) -> None:
    while True:
        some = [waiting.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                some.append(waiting.get_nowait())
        _settle([awaited for awaited in some if awaited is not None])
        if None in some:
            return
        some.clear()  # Nothing is kept while there is nothing to do.


def _settle(some: list[_Awaited]) -> None:
    """Waits once for what came meanwhile: the last copy of a device comes last."""
    for awaited in reversed(some):
        try:
            if not awaited.event.query():
                awaited.event.synchronize()
        except Exception as error:
            awaited.arrival.fail(f"failed: {error}")
        else:
            awaited.arrival.tell()
