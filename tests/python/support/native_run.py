"""Runs of NumPy arrays, written by the hook of the core."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from smdebug import _core
from smdebug.core.modes import ModeKeys

TensorMap = Mapping[str, Any]

_NATIVE = 0


class NativeRun:
    """A worker's hook. Use as a context manager, which closes it.

    Everything is saved, whole, at every step, unless `settings` say otherwise: keys
    of the core's hook configuration, with dicts where it takes JSON. `more_workers`
    are those that it is besides the first.
    """

    def __init__(
        self,
        out_dir: Path,
        worker: str = "worker_0",
        workers: int = 1,
        more_workers: tuple[str, ...] = (),
        **settings: Any,  # noqa: ANN401
    ) -> None:
        every_step = {mode.name: {"save_interval": 1} for mode in ModeKeys}
        asked = {
            "framework": _NATIVE,
            "out_dir": str(out_dir),
            "export_tensorboard": False,
            "tensorboard_dir": "",
            "dry_run": False,
            "reduction_config": None,
            "save_config": every_step,
            "include_regex": [],
            "include_collections": [],
            "save_all": True,
            "include_workers": "all" if workers > 1 else "one",
            "collections": [],
            **settings,
        }
        for key in ("reduction_config", "save_config"):
            asked[key] = asked[key] and json.dumps(asked[key])
        asked["collections"] = [json.dumps(collection) for collection in asked["collections"]]
        self.hook = _core.Hook(
            asked,
            worker,
            workers,
            worker == "worker_0" or bool(more_workers),
            (np.ndarray,),
            (),
            describe,
            more_workers,
        )

    def __enter__(self) -> NativeRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.hook.close()

    def save_step(
        self,
        tensors: TensorMap,
        mode: ModeKeys | None = None,
        number: int | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> None:
        """A whole step. Its files appear soon after; a trial can wait for them."""
        if mode is not None:
            self.hook.set_mode(mode.value)
        self.hook.begin_step(number)
        for name, value in tensors.items():
            self.hook.save(name, value if _is_strings(value) else np.asarray(value))
        for name, scalar in (scalars or {}).items():
            self.hook.save_scalar(name, scalar, None)
        self.hook.end_step()


def describe(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """An array, or a list of texts, for the core."""
    if _is_strings(value):
        return value, "str", (len(value),), None, value
    dense = np.ascontiguousarray(value).reshape(value.shape)
    return dense.ctypes.data, dense.dtype.name, dense.shape, None, dense


def make_run(out_dir: Path, steps: int = 5, **settings: Any) -> Path:  # noqa: ANN401
    """A finished run: `fc.weight` is the step times [[0, 1, 2], [3, 4, 5]], and
    `gradient/fc.weight` minus that; `loss` is a number that falls. Every third
    step, from 2 on, is of mode EVAL, the others of TRAIN."""
    with NativeRun(out_dir, **settings) as run:
        for step in range(steps):
            weight = np.arange(6, dtype=np.float32).reshape(2, 3) * step
            mode = ModeKeys.EVAL if step % 3 == 2 else ModeKeys.TRAIN
            run.save_step(
                {
                    "fc.weight": weight,
                    "gradient/fc.weight": -weight,
                    "loss": np.float64(1 / (step + 1)),
                },
                mode,
            )
    return out_dir


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
