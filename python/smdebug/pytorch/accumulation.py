"""Which forward passes make up one step where gradients are accumulated."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer

from smdebug._internal.checks import refuse_type, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smdebug.pytorch.watched import WatchedModule

# A step is what lies between two steps of the optimizer.
AUTO = "auto"
# Such a step ends nonetheless after so many forward passes.
MOST_FORWARDS = 1000


def checked_forwards(name: str, given: object) -> int | str:
    """A number of forward passes, or "auto"."""
    if isinstance(given, (str, bytes)):
        if given != AUTO:
            refuse_type(name, given, "a whole number of at least 1, or 'auto'")
        return AUTO
    return whole_number(name, given, least=1)


class Accumulation:
    """Counts the forward passes of a step: a number of them, or all up to the optimizer's step.

    Where nothing `gathers`, as in an evaluation, each is a step.
    """

    def __init__(self, forwards: int | str) -> None:
        self._forwards = MOST_FORWARDS if isinstance(forwards, str) else forwards
        self._follows = forwards == AUTO
        self._passes = 0  # Of this step; 0 if the next one begins another.
        self.concerns = Concerns()
        self.misfit = ""  # Why steps are not what the training does, once they were not.

    def begin_pass(self, gathers: bool) -> bool:
        """A forward pass begins; whether it begins a step."""
        limit = self._forwards if gathers else 1
        ends = self._passes >= limit
        self._passes = 1 if ends else self._passes + 1
        return self._passes == 1

    def is_endless(self, gathers: bool) -> bool:
        """Whether the next forward pass is one too many for an optimizer that never steps."""
        if not (self._follows and gathers and self._passes == self._forwards):
            return False
        self._note(
            f"is of a step that was ended after {self._forwards} forward passes: no optimizer of "
            "torch.optim that has parameters of the model stepped meanwhile"
        )
        return True

    def end_pass_alone(self, gathers: bool) -> None:
        """The pass that begins a step leads to no step of the optimizer if it has no gradients."""
        if self._follows and gathers and self._passes == 1 and not torch.is_grad_enabled():
            self._passes = 0

    def end_step(self) -> None:
        """The next forward pass begins a step."""
        self._passes = 0

    def may_be_last_pass(self, gathers: bool) -> bool:
        """Whether gradients are saved now; where that shows only later, the last ones count."""
        return self._follows or not gathers or self._passes == self._forwards

    def fits(self, watched: list[WatchedModule], optimizer: Optimizer) -> bool:
        """The optimizer has stepped; whether the step may end here, which it does with "auto"."""
        if not self._passes or not self.concerns.one_of(watched, optimizer):
            return True
        if self._follows:
            self._passes = 0
        elif self._passes != self._forwards:
            self._note(
                f"is not what the optimizer has: it stepped after {self._passes} forward passes, "
                f'and forwards_per_step is {self._forwards}. "auto" follows the optimizer'
            )
            return False
        return True

    def _note(self, misfit: str) -> None:
        self.misfit = self.misfit or misfit


class Concerns:
    """Which optimizers have parameters of watched modules."""

    def __init__(self) -> None:
        # With how many parameters the optimizer had, and how many modules there were.
        self._known: weakref.WeakKeyDictionary[Optimizer, tuple[tuple[int, int], bool]] = (
            weakref.WeakKeyDictionary()
        )

    def one_of(self, watched: list[WatchedModule], optimizer: Optimizer) -> bool:
        """Whether `optimizer` has a parameter of one of the modules."""
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        seen = (count, len(watched))
        known = self._known.get(optimizer)
        if known is None or known[0] != seen:
            known = (seen, _have_common(watched, optimizer.param_groups))
            self._known[optimizer] = known
        return known[1]


def _have_common(watched: list[WatchedModule], groups: Iterable[dict[str, Any]]) -> bool:
    theirs = {id(parameter) for group in groups for parameter in group["params"]}
    return any(id(p) in theirs for root in watched for p in root.look())
