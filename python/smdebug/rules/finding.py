"""What rules find."""

from __future__ import annotations

from typing import NamedTuple

from smdebug.core.modes import ModeKeys


class Finding(NamedTuple):
    """What a rule found, with the evidence."""

    step: int
    """Over all modes."""
    mode: ModeKeys
    tensor: str
    """Empty if it is about the step as a whole."""
    worker: str
    value: float
    """What was measured."""
    threshold: float
    """What it was compared with."""
    message: str
