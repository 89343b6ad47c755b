"""What a configuration may hold; refused with the words of the core."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any, NoReturn

from smdebug import _core
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError

# The largest number that the core has.
MOST = 2**63 - 1


def refuse(key: str, value: object, allowed: str) -> NoReturn:
    """Raises SMDebugValueError with what was given, and what may be."""
    raise SMDebugValueError(f"{key}: '{value}' is not allowed; expected {allowed}")


def refuse_type(key: str, value: object, allowed: str) -> NoReturn:
    """The same for a value of a wrong type: SMDebugTypeError."""
    raise SMDebugTypeError(f"{key}: {value!r} is not allowed; expected {allowed}")


def whole_number(key: str, value: object, least: int | None = None) -> int:
    """The number that `value` is or spells: 100, "100" and 100.0, but not True or 2.5."""
    spelt = str(value)
    if isinstance(value, float) and value.is_integer():
        spelt = str(int(value))
    elif hasattr(value, "__index__") and not isinstance(value, bool):
        spelt = str(operator.index(value))
    return _core.whole_number(key, spelt, least)


def integer(key: str, value: object, allowed: str = "a whole number") -> int:
    """`value`, an int or what can be an index, as NumPy's are; SMDebugTypeError for the rest."""
    if isinstance(value, bool):
        refuse_type(key, value, allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        refuse_type(key, value, allowed)
    if not -MOST <= number <= MOST:
        refuse(key, value, f"a whole number of at most {MOST}")
    return number


def integers(key: str, value: object) -> list[int]:
    """The whole numbers in a list or anything else that can be gone through."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        refuse_type(key, value, "a list of whole numbers")
    return [integer(key, item) for item in value]


def not_negative(key: str, value: object) -> float:
    """`value`, a number of at least 0, infinity included; SMDebugTypeError for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        refuse_type(key, value, "a number of at least 0")
    if not value >= 0:
        refuse(key, value, "a number of at least 0")
    return float(value)


def flag(key: str, value: object) -> bool:
    """The boolean that `value` is, also as 0 or 1; a string is none."""
    if isinstance(value, (str, bytes)):
        refuse_type(key, value, "True or False")
    if not isinstance(value, int) or value not in (0, 1):
        refuse(key, value, "true or false")
    return bool(value)


def text(key: str, value: object, allowed: str = "a string") -> str:
    """`value`, if it is a string."""
    if not isinstance(value, str):
        refuse_type(key, value, allowed)
    return value


def path(key: str, value: object) -> str:
    """The path that `value` is or stands for, as a pathlib.Path does."""
    given = value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        refuse_type(key, given, "a path")
    if "\0" in value:
        refuse(key, value.replace("\0", "\\0"), "a path without a NUL character")
    return value


def names(key: str, value: object, each: str = "a name") -> list[str]:
    """The strings in a list, a tuple or a set, however nested; or the only one. None has none."""
    return [] if value is None else list(_texts(key, value, each))


def _texts(key: str, value: object, each: str) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(key, item, each)
    elif isinstance(value, (set, frozenset)):
        found: list[Any] = [item for part in value for item in _texts(key, part, each)]
        yield from sorted(found)
    else:
        refuse_type(key, value, f"{each}, or a list, a tuple or a set of them")
