"""What a configuration may hold; refused with the words of the core."""

from __future__ import annotations

import operator
from typing import NoReturn

from smdebug.exceptions import SMDebugValueError


def refuse(key: str, value: object, allowed: str) -> NoReturn:
    """Raises SMDebugValueError with what was given, and what may be."""
    raise SMDebugValueError(f"{key}: '{value}' is not allowed; expected {allowed}")


def whole_number(key: str, value: object, least: int | None = None) -> int:
    """The number that `value` is or spells: 100, "100" and 100.0, but not True or 2.5."""
    allowed = "a whole number" if least is None else f"a whole number of at least {least}"
    number: int | None = None
    if isinstance(value, (str, float)):
        try:
            number = int(value)
        except (ValueError, OverflowError):
            refuse(key, value, allowed)
        if isinstance(value, float) and number != value:
            refuse(key, value, allowed)
    elif not isinstance(value, bool):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            refuse(key, value, allowed)
    if number is None or (least is not None and number < least):
        refuse(key, value, allowed)
    return number


def boolean(key: str, value: object) -> bool:
    """The boolean that `value` is or spells: True, "true", 1 and "1"; likewise False."""
    text = str(value).strip().lower()
    if isinstance(value, (bool, int, str)):
        if text in ("true", "1"):
            return True
        if text in ("false", "0"):
            return False
    refuse(key, value, "true or false")
