"""A run, read."""

from __future__ import annotations

import os
from collections.abc import Iterable, KeysView
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from smdebug import _core
from smdebug._internal import html
from smdebug._internal.checks import flag, integer, integers, names, refuse_type, text
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection
from smdebug.core.config_constants import (
    TRAINING_END_DELAY_REFRESH_DEFAULT,
    TRAINING_END_DELAY_REFRESH_KEY,
)
from smdebug.core.logger import get_logger
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import StepState
from smdebug.exceptions import (
    MissingCollectionFiles,
    SMDebugNotImplementedError,
    SMDebugValueError,
)
from smdebug.trials.tensor import Array, Tensor, number_of

if TYPE_CHECKING:
    import pandas

__getattr__ = passed_on(__name__)

StepRange = tuple[Optional[int], Optional[int]]
Regex = Union[str, Iterable[Any]]

_MOST_IN_REPR = 100


class Damage(NamedTuple):
    """A part of a run that is not what it should be."""

    file: str
    reason: str
    tensor: str
    """Empty if it is the file as a whole."""


class RunInfo(NamedTuple):
    """Which run a folder holds, and how it is."""

    id: str
    """Empty for runs of smdebug 1.0."""
    state: str
    """running, finished, failed, interrupted, killed or unknown."""
    reason: str
    """Why it failed, or who is gone; may be empty."""


class Trial:
    """A run, finished or still being written; see LocalTrial and create_trial().

    A query looks for new steps first, unless `dynamic_refresh` is off or the job
    has ended and everything was seen (`loaded_all_steps`). Step numbers count
    within the mode that is given beside them, and over all modes without one.

    `range_steps` is (begin, end), either of which may be None: only global steps
    begin <= step < end are read. The other arguments are there for programs
    written for smdebug 1.0 and change nothing.

    Two trials of the same name and path are equal. A pickled or copied trial opens
    the run anew, and so does the copy of a trial in a forked process. Thread-safe.
    """

    path: str

    def __init__(
        self,
        name: str | None,
        range_steps: StepRange | None = None,
        parallel: bool = True,
        check: bool = False,
        index_mode: bool = True,
        cache: bool = False,
    ) -> None:
        if not index_mode:
            raise SMDebugNotImplementedError("index_mode=False: a run is read by its index")
        self.parallel = parallel
        self.check = check
        self.index_mode = index_mode
        self.cache = cache
        self.range_steps = _checked(range_steps)
        self._place = self._location()
        self._dynamic_refresh = True
        self._end_delay: float | None = None
        self._handed_out: dict[str, tuple[str | None, Collection]] = {}
        self._opened: Any = None
        self._told: set[str] = set()
        self.name = text("name", name or "", "a name")
        self.name = self._open(wait=True).name

    def _location(self) -> str:
        """Where the run is, from any working folder."""
        return self.path

    def _open(self, wait: bool) -> Any:
        begin, end = self.range_steps or (None, None)
        try:
            opened = _core.Trial(self._place, self.name, begin, end, wait)
        except MissingCollectionFiles as error:
            raise MissingCollectionFiles(self._why_missing()) from error
        opened.set_refreshing(self._dynamic_refresh)
        if self._end_delay is not None:
            opened.set_end_delay(self._end_delay)
        self._opened = opened
        return opened

    def _why_missing(self) -> str:
        """Why a run that has ended lacks collections files."""
        info = self.run_info()
        how = f"{info.state}: {info.reason}" if info.reason else info.state
        run = _core.Trial(self._place, self.name, None, None, False)
        begun = run.workers() or run.steps(number_of(ModeKeys.GLOBAL), True)
        what = ", and collections files are missing" if begun else " before it saved anything"
        return f"The run in {self.path} ended ({how}){what}"

    @property
    def _reader(self) -> Any:
        opened = self._opened
        if opened is None or opened.is_copy:
            return self._open(wait=False)
        return opened

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    @property
    def dynamic_refresh(self) -> bool:
        """Whether queries look for new steps."""
        return self._dynamic_refresh

    @dynamic_refresh.setter
    def dynamic_refresh(self, on: bool) -> None:
        self._dynamic_refresh = bool(on)
        self._reader.set_refreshing(self._dynamic_refresh)

    @property
    def training_end_delay_refresh(self) -> float:
        """Seconds after the end marker was made until the last look at the run."""
        if self._end_delay is not None:
            return self._end_delay
        return int(
            os.environ.get(TRAINING_END_DELAY_REFRESH_KEY) or TRAINING_END_DELAY_REFRESH_DEFAULT
        )

    @training_end_delay_refresh.setter
    def training_end_delay_refresh(self, seconds: float) -> None:
        self._end_delay = float(seconds)
        self._reader.set_end_delay(self._end_delay)

    @property
    def loaded_all_steps(self) -> bool:
        """The job has ended and every step was seen."""
        return bool(self._reader.loaded_all_steps)

    @property
    def last_complete_step(self) -> int:
        """The last global step known to be complete; -1 before the first."""
        return int(self._reader.last_complete_step)

    @property
    def last_index_token(self) -> str | None:
        """The index file up to which nothing is looked for again."""
        token: str = self._reader.last_index_token
        return os.path.join(self.path, token) if token else None

    @property
    def num_workers(self) -> int:
        """How many workers write this run."""
        return int(self._reader.num_workers)

    def tensor_names(
        self,
        show_prefixed_tensors: bool = False,
        *,
        step: int | None = None,
        mode: ModeKeys = ModeKeys.GLOBAL,
        regex: Regex | None = None,
        collection: str | Collection | None = None,
    ) -> list[str]:
        """Names of tensors, sorted: all, those of a mode, or those at a step.

        Of these, only those that a regex matches somewhere (or any of a list), or
        those in a collection, of the run or one made for the purpose.
        `show_prefixed_tensors` changes nothing. The log has once what matches nothing;
        a filter that matches at other steps is none of these.
        """
        del show_prefixed_tensors
        return self._choose(step, mode, regex, collection)

    def _choose(
        self,
        step: int | None,
        mode: ModeKeys,
        regex: Regex | None,
        collection: str | Collection | None,
    ) -> list[str]:
        """The names that are asked for; the log has once what matches nothing."""
        patterns = _patterns(regex)
        found = self._select(step, number_of(mode), patterns, collection)
        if not found:
            self._tell_unmatched(step, mode, patterns, collection)
        return found

    def _tell_unmatched(
        self,
        step: int | None,
        mode: ModeKeys,
        patterns: list[str] | None,
        collection: str | Collection | None,
    ) -> None:
        if patterns is not None or collection is not None:
            if step is not None and self._select(None, number_of(mode), patterns, collection):
                return
            step = None
        chosen = (
            f"step={step}, mode={mode.name}, regex={patterns}, "
            f"collection={getattr(collection, 'name', collection)}"
        )
        if chosen in self._told:
            return
        self._told.add(chosen)
        near = self._near(patterns, collection)
        get_logger().warning(f"No tensor of {self.path} matches {chosen}{near}")

    def _near(self, patterns: list[str] | None, collection: str | Collection | None) -> str:
        """What may have been meant, as the end of a message."""
        if patterns:
            known = self._listed(None, number_of(ModeKeys.GLOBAL), [])
            return _core.did_patterns_mean(patterns, known)
        if isinstance(collection, str) and self._reader.collection(collection) is None:
            return _core.did_you_mean(collection, list(self._reader.collections()))
        return ""

    def _select(
        self,
        step: int | None,
        mode: int,
        patterns: list[str] | None,
        collection: str | Collection | None,
    ) -> list[str]:
        if collection is not None and patterns is not None:
            raise SMDebugValueError("either a regex or a collection can be given, not both")
        if collection is None:
            # Of no patterns none matches.
            return [] if patterns == [] else self._listed(step, mode, patterns or [])
        if isinstance(collection, str) and collection not in self._handed_out:
            return self._listed(step, mode, [], collection)
        # Whoever has a collection may have changed it.
        known = self._listed(step, mode, [])
        if isinstance(collection, str):
            collection = self.collection(collection)
        if not isinstance(collection, Collection):
            refuse_type("collection", collection, "a Collection or a name")
        chosen = collection.tensor_names.intersection(known)
        if collection.include_regex:
            chosen.update(self._listed(step, mode, collection.include_regex))
        return sorted(chosen)

    def _listed(
        self, step: int | None, mode: int, patterns: list[str], collection: str | None = None
    ) -> list[str]:
        found: list[str] = self._reader.tensor_names(
            None if step is None else integer("step", step), mode, patterns, collection
        )
        return found

    def tensors(
        self,
        *,
        step: int | None = None,
        mode: ModeKeys = ModeKeys.GLOBAL,
        regex: Regex | None = None,
        collection: str | Collection | None = None,
    ) -> list[str]:
        """The same as tensor_names(), which the first releases called so."""
        return self.tensor_names(step=step, mode=mode, regex=regex, collection=collection)

    def has_tensor(self, tname: str) -> bool:
        """Whether anything was saved under the name, or under scalar/ and the name."""
        return bool(self._reader.has_tensor(text("tname", tname, "a name")))

    def tensor(self, tname: str) -> Tensor:
        """The tensor; TensorUnavailable if nothing was saved under the name.

        A scalar is found by the name it was saved with, too: "loss" is "scalar/loss" if no
        tensor is called loss.
        """
        return Tensor(text("tname", tname, "a name"), self, self.cache)

    def steps(
        self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False
    ) -> list[int]:
        """Saved steps that are complete, or all, in order."""
        steps: list[int] = self._reader.steps(
            number_of(mode), flag("show_incomplete_steps", show_incomplete_steps)
        )
        return steps

    def modes(self) -> KeysView[ModeKeys]:
        """Modes that steps were saved in, never GLOBAL."""
        return dict.fromkeys(ModeKeys(number) for number in self._reader.modes()).keys()

    def mode(self, global_step: int) -> ModeKeys | None:
        """The mode of a global step; None if it is not known."""
        number = self._reader.mode(integer("global_step", global_step))
        return None if number is None else ModeKeys(number)

    def mode_step(self, global_step: int) -> int | None:
        """What a global step is in its mode; None if it is not known."""
        step: int | None = self._reader.mode_step(integer("global_step", global_step))
        return step

    def mode_modestep(self, global_step: int) -> tuple[ModeKeys | None, int | None]:
        """Mode, and step within it, of a global step."""
        return self.mode(global_step), self.mode_step(global_step)

    def global_step(self, mode: ModeKeys, mode_step: int) -> int | None:
        """The global step of a step of a mode; None if it is not known."""
        step: int | None = self._reader.global_step(
            number_of(mode), integer("mode_step", mode_step)
        )
        return step

    def workers(self) -> list[str]:
        """Names of the workers that declared themselves, sorted."""
        workers: list[str] = self._reader.workers()
        return workers

    def collections(self) -> dict[str, Collection]:
        """The run's collections, by name, and those that collection() has made."""
        for name, json_text in self._reader.collections().items():
            self._hand_out(name, json_text)
        return {name: collection for name, (_, collection) in self._handed_out.items()}

    def collection(self, coll_name: str) -> Collection:
        """The collection of that name; a new empty one if the run has none."""
        return self._hand_out(
            coll_name, self._reader.collection(text("coll_name", coll_name, "a name"))
        )

    def _hand_out(self, name: str, json_text: str | None) -> Collection:
        """The same object as long as the run says the same of it."""
        known = self._handed_out.get(name)
        if known is not None and known[0] == json_text:
            return known[1]
        made = Collection(name) if json_text is None else Collection.from_json(json_text)
        self._handed_out[name] = (json_text, made)
        return made

    def has_passed_step(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> StepState:
        """What is known about a step."""
        return StepState(self._reader.has_passed_step(integer("step", step), number_of(mode)))

    def wait_for_steps(
        self, required_steps: Iterable[int], mode: ModeKeys = ModeKeys.GLOBAL
    ) -> None:
        """Waits until each of the steps can be read.

        StepUnavailable for one that never will be; NoMoreData if the job ended
        before it.
        """
        steps = integers("required_steps", required_steps)
        self._reader.wait_for_steps(steps, number_of(mode))

    def inputs(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        """The values at a step of the tensors in the collection "inputs"."""
        values: list[Array] = self._reader.inputs(integer("step", step), number_of(mode))
        return values

    def labels(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        """The values at a step of the tensors named like labels."""
        values: list[Array] = self._reader.labels(integer("step", step), number_of(mode))
        return values

    def predictions(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        """The values at a step of the tensors named like predictions."""
        values: list[Array] = self._reader.predictions(integer("step", step), number_of(mode))
        return values

    def refresh_data(self) -> None:
        """Looks for new steps now, whatever `dynamic_refresh` says."""
        self._reader.refresh()

    def refresh_tensor(self, tname: str, steps: object = None) -> None:
        """The same, for all tensors."""
        del tname, steps
        self.refresh_data()

    def maybe_refresh(self, name: str | None = None) -> None:
        """Looks for new steps if queries do."""
        del name
        if self.dynamic_refresh:
            self.refresh_data()

    def run_info(self) -> RunInfo:
        """Which run the folder holds, and how it is now."""
        return RunInfo(*_core.run_info(self._place))

    def damage(self) -> list[Damage]:
        """What was found damaged so far. Damaged files hide nothing but themselves."""
        return [Damage(*found) for found in self._reader.damage()]

    def to_pandas(
        self,
        *,
        mode: ModeKeys = ModeKeys.GLOBAL,
        regex: Regex | None = None,
        collection: str | Collection | None = None,
        reductions: str | Iterable[str] | None = None,
    ) -> pandas.DataFrame:
        """A table of numbers; see smdebug.trials.table for its columns.

        `regex` and `collection` choose tensors as in tensor_names(), and the log has what
        matches nothing. `reductions` are computed where they were not saved.
        """
        from smdebug.trials import table

        chosen = self._choose(None, mode, regex, collection)
        return table.make(self, chosen, number_of(mode), None, reductions)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trial):
            return NotImplemented
        return (self.name, self.path) == (other.name, other.path)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(name={self.name}, path={self.path}, "
            f"steps={_shortened(self.steps())}, "
            f"collections={_shortened(self.collections())}, "
            f"tensor_names={_shortened(self._select(None, ModeKeys.GLOBAL.value, None, None))})"
        )

    def _repr_html_(self) -> str:
        return html.of_trial(self)


def _checked(range_steps: StepRange | None) -> StepRange | None:
    """A range that is allowed, else AssertionError as in smdebug 1.0."""
    if range_steps is None:
        return None
    if not isinstance(range_steps, (tuple, list)) or len(range_steps) != 2:
        refuse_type("range_steps", range_steps, "a tuple of begin and end")
    begin, end = range_steps
    for side in (begin, end):
        if side is not None and not (isinstance(side, int) and side >= 0):
            raise AssertionError(f"range_steps={range_steps}: {side!r} is not a step")
    if begin is not None and end is not None and begin >= end:
        raise AssertionError(f"range_steps={range_steps}: the begin is not below the end")
    return begin, end


def _patterns(regex: Regex | None) -> list[str] | None:
    return None if regex is None else names("regex", regex, "a regular expression")


def _shortened(items: Iterable[object]) -> str:
    listed = list(items)
    if len(listed) <= _MOST_IN_REPR:
        return repr(listed)
    more = f", ... {len(listed) - _MOST_IN_REPR} more]"
    return repr(listed[:_MOST_IN_REPR])[:-1] + more
