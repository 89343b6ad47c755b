"""The phases of a job that steps belong to."""

from __future__ import annotations

from enum import Enum

MODE_STEP_PLUGIN_NAME = "mode_step"
MODE_PLUGIN_NAME = "mode"


class ModeKeys(Enum):
    """The phase that a step belongs to; GLOBAL counts over all of them."""

    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4


ALLOWED_MODES = list(ModeKeys)
ALLOWED_MODE_NAMES = [mode.name for mode in ModeKeys]


def str_to_mode_keys(mode_str: str) -> ModeKeys:
    """The mode of that name, in any case; ValueError if there is none."""
    try:
        return ModeKeys[mode_str.upper()]
    except (KeyError, AttributeError):
        names = ", ".join(ALLOWED_MODE_NAMES)
        raise ValueError(f"mode: '{mode_str}' is not allowed; expected one of {names}") from None
