"""One tensor of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from smdebug._internal import html
from smdebug._internal.checks import flag, integer, refuse, refuse_type, text
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import SMDebugNotImplementedError

if TYPE_CHECKING:
    import pandas

    from smdebug.trials.trial import Trial

Array = np.ndarray[Any, np.dtype[Any]]


class Number(np.float64):
    """A reduction: a float, also for programs that take it for an array of one element."""

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self).reshape(1)[key]

    def __iter__(self) -> Iterator[float]:
        return iter((float(self),))

    def __len__(self) -> int:
        return 1

    def __reduce__(self) -> Any:
        return Number, (float(self),)


class Tensor:
    """One tensor of a trial, over all its steps.

    Step numbers count within the mode that is given beside them, and over all
    modes without one. Where several workers saved the tensor and none is named,
    the first by name is meant.

    A call about one step raises StepUnavailable if the step was never saved,
    StepNotYetAvailable if it may still come, TensorUnavailableForStep if the step
    has nothing of this tensor, or not what was asked for, and InvalidWorker if the
    worker has nothing of it. Thread-safe.
    """

    def __init__(self, name: str, trial: Trial, cache: bool = False) -> None:
        self.trial = trial
        self.cache = cache
        reader = trial._reader
        self._opened = (reader, reader.tensor(text("tensor name", name, "a name")))
        self.name: str = self._opened[1].name

    @property
    def _reader(self) -> Any:
        of_trial, reader = self._opened
        current = self.trial._reader
        if of_trial is not current:
            reader = current.tensor(self.name)
            self._opened = (current, reader)
        return reader

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": (None, None)}

    @property
    def original_name(self) -> str | None:
        """The framework's own name, where a shape was saved with one."""
        name: str | None = self._reader.original_name
        return name

    def steps(
        self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False
    ) -> list[int]:
        """Complete steps, or all, with a value, a reduction or a shape, in order."""
        steps: list[int] = self._reader.steps(
            number_of(mode), flag("show_incomplete_steps", show_incomplete_steps)
        )
        return steps

    def value(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> Array:
        """The value at a step: a read-only array over the file it was saved in."""
        value: Array = self._reader.value(
            integer("step_num", step_num), number_of(mode), worker_of(worker)
        )
        return value

    def values(
        self, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[int, Array]:
        """The values at all complete steps; raises if any has none."""
        values: dict[int, Array] = self._reader.values(number_of(mode), worker_of(worker))
        return values

    def reduction_value(
        self,
        step_num: int,
        reduction_name: str,
        mode: ModeKeys = ModeKeys.GLOBAL,
        worker: str | None = None,
        abs: bool = False,
    ) -> Number:
        """The saved reduction, else the one computed from the value.

        `reduction_name` is min, max, mean, median, std, variance, sum, prod, l1 or
        l2; "abs_mean" and "l1_norm" are understood too.
        """
        return Number(
            self._reader.reduction_value(
                integer("step_num", step_num),
                text("reduction_name", reduction_name, "the name of a reduction"),
                number_of(mode),
                worker_of(worker),
                flag("abs", abs),
            )
        )

    def reduction_values(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[tuple[str, bool], Number]:
        """The saved reductions by (name, whether of absolute values)."""
        values: dict[tuple[str, bool], float] = self._reader.reduction_values(
            integer("step_num", step_num), number_of(mode), worker_of(worker)
        )
        return {key: Number(value) for key, value in values.items()}

    def shape(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> tuple[int, ...]:
        """The saved shape, else the value's; ShapeUnavailableForStep without either."""
        shape: tuple[int, ...] = self._reader.shape(
            integer("step_num", step_num), number_of(mode), worker_of(worker)
        )
        return shape

    def shapes(
        self, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[int, tuple[int, ...]]:
        """The shapes at all complete steps."""
        shapes: dict[int, tuple[int, ...]] = self._reader.shapes(number_of(mode), worker_of(worker))
        return shapes

    def counts(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[str, int] | None:
        """How many elements there were, and of them nan, pos_inf, neg_inf and zero.

        None where the run has none: counts are kept beside reductions, and runs
        of smdebug 1.0 have none.
        """
        counts: dict[str, int] | None = self._reader.counts(
            integer("step_num", step_num), number_of(mode), worker_of(worker)
        )
        return counts

    def saved(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> tuple[int | None, list[tuple[str, bool]]]:
        """What a step has, without reading it or raising.

        The bytes of the value, None if there is none, and the keys of
        reduction_values().
        """
        value_bytes, reductions = self._reader.saved(
            integer("step_num", step_num), number_of(mode), worker_of(worker)
        )
        return value_bytes, reductions

    def workers(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[str]:
        """Who saved something of it at a step, by name."""
        workers: list[str] = self._reader.workers(integer("step_num", step_num), number_of(mode))
        return workers

    def prev_steps(
        self, step: int, n: int | None = None, mode: ModeKeys = ModeKeys.GLOBAL
    ) -> list[int]:
        """The last `n` complete steps up to and with `step`; all for None or 0."""
        count = integer("n", n or 0)
        if count < 0:
            refuse("n", n, "a whole number of at least 0")
        steps: list[int] = self._reader.prev_steps(integer("step", step), count, number_of(mode))
        return steps

    def step(
        self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: str | None = None
    ) -> None:
        """Exists by name only, as in smdebug 1.0."""
        raise SMDebugNotImplementedError(
            f"Tensor.step({step_num}, {mode}, {worker}) does nothing; use value() or shape()"
        )

    def to_pandas(
        self,
        *,
        mode: ModeKeys = ModeKeys.GLOBAL,
        worker: str | None = None,
        reductions: str | Iterable[str] | None = None,
    ) -> pandas.DataFrame:
        """A table of numbers; see smdebug.trials.table for its columns.

        `reductions` are computed where they were not saved.
        """
        from smdebug.trials import table

        return table.make(self.trial, [self.name], number_of(mode), worker_of(worker), reductions)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return (self.name, self.trial) == (other.name, other.trial)

    def __hash__(self) -> int:
        return hash((self.name, self.trial))

    def __repr__(self) -> str:
        return f"Tensor(name={self.name}, trial={self.trial.name})"

    def _repr_html_(self) -> str:
        return html.of_tensor(self)


def number_of(mode: ModeKeys) -> int:
    """The number of a mode; SMDebugTypeError for anything else."""
    if not isinstance(mode, ModeKeys):
        refuse_type("mode", mode, "a mode of smdebug.modes")
    return mode.value


def worker_of(worker: str | None) -> str | None:
    """The name of a worker, or None; SMDebugTypeError for anything else."""
    return None if worker is None else text("worker", worker, "the name of a worker")
