"""Plays scenarios through a hook of smdebug 1.0."""

from __future__ import annotations

import atexit
import contextlib
import warnings
from typing import Any

import numpy as np
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.hook import CallbackHook
from smdebug.core.modes import ModeKeys
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.reductions import get_numpy_reduction
from smdebug.core.save_config import SaveConfig
from smdebug.core.utils import FRAMEWORK, make_numpy_array
from smdebug.profiler.profiler_config_parser import get_profiler_config_parser
from support.config import (
    BUILT_IN,
    MODES,
    CollectionSpec,
    HookSpec,
    Schedule,
    Schedules,
    schedules_to_dict,
)
from support.model import Stamp
from support.scenario import Array, BeginStep, Save, SaveScalar, Scenario, SetMode
from support.truth import Truth

Value = Any  # An array or a number.

# The framework does not matter: no profiler is configured.
_PROFILER = get_profiler_config_parser(FRAMEWORK.PYTORCH)


class NumpyHook(CallbackHook):  # type: ignore[misc]
    """A hook for arrays, made as smdebug 1.0 makes one for each framework. Notes
    in `truth` what it writes."""

    def __init__(self, spec: HookSpec, truth: Truth) -> None:
        manager = CollectionManager()
        specs = {name: CollectionSpec(name, tuple(regex)) for name, regex in BUILT_IN.items()}
        specs.update((collection.name, collection) for collection in spec.collections)
        for collection in specs.values():
            manager.add(Collection.from_dict(collection.to_dict()))
        self.worker_name = f"worker_{spec.rank}"
        self.worker_count = spec.workers
        super().__init__(
            manager,
            ["losses"],
            _PROFILER,
            out_dir=spec.out_dir,
            reduction_config=spec.form and ReductionConfig.from_dict(spec.form.to_dict()),
            save_config=save_config_of(spec.schedules or {}),
            include_regex=list(spec.include_regex) or None,
            include_collections=list(spec.include_collections),
            save_all=spec.save_all,
            include_workers=spec.include_workers,
        )
        # Closed by hand, so that nothing is left to do at exit.
        atexit.unregister(self._cleanup)
        self.worker = self.worker_name
        self.truth = truth
        self.stamps: list[Stamp] = []
        self.is_in_step = False
        self.exported_collections: bool

    def begin_step(self) -> None:
        self.end_step()
        self._increment_step()
        if not self.prepared_collections:
            self._prepare_collections()
        if self._get_collections_to_save_for_step():
            self._initialize_writers()
        self.is_in_step = True

    def end_step(self) -> None:
        """Closes the files of the step; later ones would replace them."""
        self._close_writers()
        self.is_in_step = False
        if self.stamps and not self.exported_collections:
            self.export_collections()
            self.exported_collections = True

    def save(self, name: str, value: Array) -> None:
        # Where a reduction cannot be computed, 1.0 has written what comes before.
        with contextlib.suppress(TypeError, np.linalg.LinAlgError):
            self._save_for_tensor(name, value)

    def _write_raw_tensor_simple(
        self,
        tensor_name: str,
        tensor_value: Value,
        tensor_ref: object = None,
        timestamp: float | None = None,
    ) -> None:
        super()._write_raw_tensor_simple(tensor_name, tensor_value, tensor_ref, timestamp)
        value = make_numpy_array(tensor_value)
        if value.nbytes and self.writer:
            self._note_stamp()
            self.truth.add_record(tensor_name, self.step, self.worker, value)

    def _write_shape(self, tensor_name: str, tensor_value: Array, *args: Any, **more: Any) -> None:  # noqa: ANN401
        if self.writer:
            # Its writer's thread must not come in between.
            self.writer.flush()
        super()._write_shape(tensor_name, tensor_value, *args, **more)
        written = self.writer.index_writer.shape_payload if self.writer else []
        if written and written[-1]["tensorname"] == tensor_name:
            self._note_stamp()
            key = tensor_name, self.step, self.worker
            self.truth.shapes[key] = tuple(written[-1]["shape"])

    def _note_stamp(self) -> None:
        stamp = Stamp(self.step, self.mode.name, self.mode_steps[self.mode])
        if stamp not in self.stamps:
            self.stamps.append(stamp)

    def _get_worker_name(self) -> str:
        return self.worker_name

    def _get_num_workers(self) -> int:
        return self.worker_count

    def _is_not_supported(self) -> bool:
        return False

    def _get_default_collections(self) -> list[str]:
        return list(BUILT_IN)

    @staticmethod
    def _get_reduction_of_data(reduction: str, value: Array, name: str, is_abs: bool) -> Any:  # noqa: ANN401
        if value.dtype.kind in "cO":
            raise ValueError(f"{name} has no order")
        return get_numpy_reduction(reduction, value, is_abs)

    @staticmethod
    def _make_numpy_array(value: Any) -> Array:  # noqa: ANN401
        array: Array = make_numpy_array(value)
        return array


def save_config_of(schedules: Schedules) -> SaveConfig:
    """1.0 refuses a hook's schedule that leaves modes out."""
    whole = {mode: schedules.get(mode, Schedule()) for mode in MODES}
    return SaveConfig.from_dict(schedules_to_dict(whole))


def play_with_1_0(scenario: Scenario) -> tuple[Truth, list[Stamp]]:
    """Plays what hooks of 1.0 can be asked for. Left out: scalars outside of
    steps, which damage files there; numbers and collections of single calls."""
    truth = Truth()
    with warnings.catch_warnings():
        # Reductions of nothing, of infinities and of what overflows.
        warnings.simplefilter("ignore", RuntimeWarning)
        hooks = [NumpyHook(spec, truth) for spec in scenario.hooks]
        play(scenario, hooks)
    return truth, sorted({s for hook in hooks for s in hook.stamps}, key=lambda s: s.step)


def play(scenario: Scenario, hooks: list[NumpyHook]) -> None:
    for action in scenario.actions:
        hook = hooks[action.hook]
        if isinstance(action, SetMode):
            hook.end_step()
            hook.set_mode(ModeKeys[action.mode])
        elif isinstance(action, BeginStep):
            hook.begin_step()
        elif isinstance(action, Save) and hook.is_in_step:
            hook.save(action.name, action.value)
        elif isinstance(action, SaveScalar) and hook.is_in_step:
            hook.save_scalar(action.name, action.value)
        elif not isinstance(action, (Save, SaveScalar)):
            hook.end_step()
    for hook in hooks:
        hook.close()
