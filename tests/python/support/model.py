"""What a run must hold after a scenario, worked out from the documentation.

This is a second implementation of the hook's promises, slow and plain, that the
C++ one is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from support.config import MODES, CollectionSpec, HookSpec
from support.plan import Planned, make_plan, plan_collection
from support.reductions import Reduced, reduce
from support.scenario import (
    Array,
    BeginStep,
    Close,
    EndStep,
    Save,
    SaveScalar,
    Scenario,
    SetMode,
)


@dataclass(frozen=True)
class Stamp:
    step: int
    mode: str
    mode_step: int


@dataclass
class SavedTensor:
    """What a step holds of one tensor."""

    value: Array
    raw: bool
    shape: bool  # An entry without a record.
    reductions: dict[str, Reduced] = field(default_factory=dict)


@dataclass(frozen=True)
class SavedScalar:
    name: str  # In full.
    value: float
    stamp: Stamp  # Where it was saved, whichever file it rides in.


@dataclass
class SavedStep:
    stamp: Stamp
    tensors: dict[str, SavedTensor] = field(default_factory=dict)
    # All that ride in the files of this step, then those saved at it.
    published: list[SavedScalar] = field(default_factory=list)
    # By full name, the value that smdebug 1.0 shows at this step.
    scalars: dict[str, float] = field(default_factory=dict)


@dataclass
class Run:
    steps: list[SavedStep]
    plan: dict[str, Planned]

    @property
    def scalar_count(self) -> int:
        return sum(len(step.published) for step in self.steps)


def saved_tensor(value: Array, deciding: list[Planned]) -> SavedTensor | None:
    """What the due collections of a tensor ask for together; None for nothing."""
    forms = [collection.form for collection in deciding]
    raw = any(form.save_raw_tensor for form in forms)
    has_record = raw and value.size > 0
    # The record has the shape. Where there is none, an entry has it; and of a tensor without
    # elements it is all there is.
    shape = not has_record and (raw or any(form.save_shape for form in forms))
    names = dict.fromkeys(name for form in forms for name in form.reductions)
    reductions = {} if value.dtype == object else {name: reduce(value, name) for name in names}
    shape = shape or (value.size == 0 and bool(reductions))
    if not (has_record or shape or reductions):
        return None
    return SavedTensor(value, has_record, shape, reductions)


class Model:
    """One hook, played action by action."""

    def __init__(self, hook: HookSpec) -> None:
        self._hook = hook
        self._plan = make_plan(hook)
        self._mode = "GLOBAL"
        self._step = -1
        self._mode_steps = dict.fromkeys(MODES, -1)
        self._last_steps = dict.fromkeys(MODES, -1)
        self._begun: Stamp | None = None
        self._current: SavedStep | None = None
        self._waiting: list[SavedScalar] = []
        self._steps: list[SavedStep] = []

    def run(self) -> Run:
        return Run(self._steps, self._plan)

    def set_mode(self, mode: str) -> None:
        if mode != self._mode:
            self.end_step()
        self._mode = mode

    def begin_step(self, step: int | None) -> None:
        self.end_step()
        mode_step = self._mode_steps[self._mode] + 1 if step is None else step
        self._step = self._step + 1 if step is None else step
        for mode, number in ((self._mode, mode_step), ("GLOBAL", self._step)):
            self._mode_steps[mode] = number
            self._last_steps[mode] = self._step
        self._begun = Stamp(self._step, self._mode, self._mode_steps[self._mode])
        self._current = SavedStep(self._begun)

    def end_step(self) -> None:
        step, self._current = self._current, None
        if step is not None and step.tensors:
            self._publish(step)

    def close(self) -> None:
        self.end_step()
        if not self._waiting:
            return
        # Leftover scalars go to the last step, or after it if it has its file.
        stamp = self._begun or self._scalar_stamp()
        last = self._steps[-1].stamp.step if self._steps else -1
        if stamp.step <= last:
            stamp = Stamp(last + 1, stamp.mode, stamp.mode_step + 1)
        self._publish(SavedStep(stamp))

    def save(self, action: Save) -> None:
        if self._current is None:
            return
        stamp = self._current.stamp
        joined = [self._join(name, action.name) for name in action.collections or ()]
        matching = [c for c in self._plan.values() if c.saved and c.matches(action.name)]
        for collection in matching + joined:
            collection.seen_names.add(action.name)
        asked = matching if action.collections is None else joined
        deciding = [c for c in asked if c.due(stamp.mode, stamp.mode_step)]
        saved = saved_tensor(action.value, deciding) if deciding else None
        if saved is None:
            return
        for collection in deciding:
            collection.listed_names.add(action.name)
        self._current.tensors[action.name] = saved

    def save_scalar(self, action: SaveScalar) -> None:
        if self._hook.dry_run:
            return
        scalar = SavedScalar("scalar/" + action.name, action.value, self._scalar_stamp())
        self._waiting.append(scalar)

    def _scalar_stamp(self) -> Stamp:
        """The latest step of the mode, or the one about to begin."""
        if self._mode_steps[self._mode] < 0:
            return Stamp(self._step + 1, self._mode, 0)
        return Stamp(self._last_steps[self._mode], self._mode, self._mode_steps[self._mode])

    def _join(self, collection: str, tensor: str) -> Planned:
        if collection not in self._plan:
            spec = CollectionSpec(collection)
            planned = plan_collection(self._hook, spec, saved=True, configured=False)
            self._plan[collection] = planned
        self._plan[collection].tensor_names.add(tensor)
        return self._plan[collection]

    def _publish(self, step: SavedStep) -> None:
        earlier = [scalar for scalar in self._waiting if scalar.stamp != step.stamp]
        here = [scalar for scalar in self._waiting if scalar.stamp == step.stamp]
        step.published = earlier + here
        step.scalars = {scalar.name: scalar.value for scalar in step.published}
        self._waiting = []
        if not self._hook.dry_run:
            self._steps.append(step)


def play(scenario: Scenario) -> list[Run]:
    """The runs that `scenario` leaves behind, one per hook."""
    models = [Model(hook) for hook in scenario.hooks]
    for action in scenario.actions:
        model = models[action.hook]
        if isinstance(action, SetMode):
            model.set_mode(action.mode)
        elif isinstance(action, BeginStep):
            model.begin_step(action.step)
        elif isinstance(action, EndStep):
            model.end_step()
        elif isinstance(action, Close):
            model.close()
        elif isinstance(action, Save):
            model.save(action)
        else:
            model.save_scalar(action)
    for model in models:
        model.close()
    return [model.run() for model in models]
