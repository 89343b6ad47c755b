"""A scenario: hooks, and what a training loop does with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np

from support.config import HookSpec

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class SetMode:
    mode: str
    hook: int = 0


@dataclass(frozen=True)
class BeginStep:
    step: int | None = None
    hook: int = 0


@dataclass(frozen=True)
class EndStep:
    hook: int = 0


@dataclass(frozen=True)
class Close:
    hook: int = 0


@dataclass(frozen=True)
class Save:
    """Saves `value`, of any strides, or rank-1 strings (an object array). With
    `collections`, through SaveTensor(). `worker` is one of a hook with several."""

    name: str
    value: Array
    collections: tuple[str, ...] | None = None
    hook: int = 0
    worker: int | None = None
    original_name: str = ""


@dataclass(frozen=True)
class SaveScalar:
    name: str
    value: float
    timestamp: float | None = None
    hook: int = 0
    sm_metric: bool = False


Action = Union[SetMode, BeginStep, EndStep, Close, Save, SaveScalar]


@dataclass
class Scenario:
    hooks: list[HookSpec]
    actions: list[Action] = field(default_factory=list)

    def to_dict(self, blob: Path) -> dict[str, Any]:
        """What the driver plays. Writes the tensors' memory to `blob`."""
        writer = _BlobWriter()
        actions = [_action_to_dict(action, writer) for action in self.actions]
        blob.write_bytes(bytes(writer.data))
        hooks = [hook.to_dict() for hook in self.hooks]
        return {"blob": str(blob), "hooks": hooks, "actions": actions}


class _BlobWriter:
    """Lays arrays out in one block of memory, each at its natural alignment."""

    def __init__(self) -> None:
        self.data = bytearray()

    def place(self, value: Array) -> dict[str, Any]:
        base = value
        while isinstance(base.base, np.ndarray):
            base = base.base
        self.data += b"\0" * (-len(self.data) % 16)
        begin = len(self.data)
        if not base.flags.contiguous and not base.flags.f_contiguous:
            raise ValueError("the memory of an array must be in one piece")
        self.data += base.tobytes("A")
        offset = begin + value.ctypes.data - base.ctypes.data if value.size else begin
        place = {"dtype": value.dtype.name, "shape": list(value.shape), "offset": offset}
        if not value.flags.c_contiguous:
            place["strides"] = [stride // value.itemsize for stride in value.strides]
        return place


def _action_to_dict(action: Action, writer: _BlobWriter) -> dict[str, Any]:
    spec: dict[str, Any] = {"hook": action.hook}
    if isinstance(action, SetMode):
        return {**spec, "do": "set_mode", "mode": action.mode}
    if isinstance(action, BeginStep):
        step = {} if action.step is None else {"step": action.step}
        return {**spec, "do": "begin_step", **step}
    if isinstance(action, EndStep):
        return {**spec, "do": "end_step"}
    if isinstance(action, Close):
        return {**spec, "do": "close"}
    if isinstance(action, SaveScalar):
        value = action.value if math.isfinite(action.value) else str(action.value)
        time = {} if action.timestamp is None else {"timestamp": action.timestamp}
        metric = {"sm_metric": True} if action.sm_metric else {}
        return {**spec, "do": "save_scalar", "name": action.name, "value": value, **time, **metric}
    spec.update(do="save", name=action.name)
    if action.worker is not None:
        spec["worker"] = action.worker
    if action.original_name:
        spec["original_name"] = action.original_name
    if action.collections is not None:
        spec["collections"] = list(action.collections)
    if action.value.dtype == object:
        return {**spec, "strings": list(action.value)}
    return {**spec, **writer.place(action.value)}
