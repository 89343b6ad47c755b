"""A program that writes a run with smdebug 1.0, through the base class of all its
hooks: `python reference_run.py OUT_DIR < steps.json`.

The steps are a list of objects with float32 tensors by name, as lists in lists. Of
each tensor the value, its mean and its maximum are saved. It is a program of its
own because smdebug 1.0 and what it imports do not get along with pytest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from smdebug import SaveConfig
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.hook import BaseHook
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.reductions import get_numpy_reduction
from smdebug.core.utils import make_numpy_array
from smdebug.profiler.profiler_config_parser import get_profiler_config_parser

Array = np.ndarray[Any, np.dtype[Any]]


class Hook(BaseHook):  # type: ignore[misc]  # smdebug 1.0 has no types.
    """The least that BaseHook asks of a framework: one worker, NumPy values."""

    def __init__(self, out_dir: str, **options: object) -> None:
        manager = CollectionManager()
        for name in ("all", "default", "losses"):
            manager.add(name)
        super().__init__(
            collection_manager=manager,
            default_include_collections=["losses"],
            profiler_config_parser=get_profiler_config_parser("numpy"),
            init_step=-1,
            out_dir=out_dir,
            save_config=SaveConfig(save_interval=1),
            **options,
        )
        self.worker = self._get_worker_name()
        self._prepare_collections()

    def _get_worker_name(self) -> str:
        return "worker_0"

    def _get_num_workers(self) -> int:
        return 1

    def _is_not_supported(self) -> bool:
        return False

    def _get_default_collections(self) -> list[str]:
        return ["all", "default", "losses"]

    @staticmethod
    def _get_reduction_of_data(reduction: str, value: Array, _name: str, is_abs: bool) -> Any:  # noqa: ANN401
        return get_numpy_reduction(reduction, value, is_abs)

    @staticmethod
    def _make_numpy_array(value: object) -> Any:  # noqa: ANN401
        return make_numpy_array(value)

    def begin_step(self) -> None:
        """Closes the files of the last step and opens those of the next."""
        self._close_writers()
        self._increment_step()
        if self._get_collections_to_save_for_step():
            self._initialize_writers()

    def save_steps(self, steps: Iterable[dict[str, Array]]) -> None:
        """Each tensor takes the whole way that a framework's tensor takes."""
        self.export_collections()  # As the hooks of frameworks do.
        for tensors in steps:
            self.begin_step()
            for name, value in tensors.items():
                self._save_for_tensor(name, value)
        self._close_writers()


def main() -> None:
    form = ReductionConfig(reductions=["mean", "max"], save_raw_tensor=True)
    hook = Hook(sys.argv[1], save_all=True, reduction_config=form)
    steps = json.load(sys.stdin)
    hook.save_steps({n: np.array(v, np.float32) for n, v in tensors.items()} for tensors in steps)


if __name__ == "__main__":
    main()
