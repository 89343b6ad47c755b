"""What is known about a step, and the tensors of a trial."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from smdebug._internal.passed_on import passed_on

if TYPE_CHECKING:
    from smdebug.trials.tensor import Tensor

__getattr__ = passed_on(__name__)

__all__ = ["StepState", "Tensor"]


class StepState(Enum):
    """What is known about a step that was asked for."""

    UNAVAILABLE = 0
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2
