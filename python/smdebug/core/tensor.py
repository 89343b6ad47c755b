"""What is known about a step, and the tensors of a trial."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smdebug.trials.tensor import Tensor

__all__ = ["StepState", "Tensor"]


class StepState(Enum):
    """What is known about a step that was asked for."""

    UNAVAILABLE = 0
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2


def __getattr__(name: str) -> object:
    # The class lives beside the trial, which imports this module.
    if name == "Tensor":
        from smdebug.trials.tensor import Tensor

        return Tensor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
