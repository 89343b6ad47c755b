"""What is left of a callback in a copied or unpickled model: a function that does nothing."""

from __future__ import annotations

from typing import Callable


def ignore(*_args: object, **_kwargs: object) -> None:
    """Does nothing, whatever it is called with."""


def _get_ignore() -> Callable[..., None]:
    return ignore


def reduce() -> tuple[Callable[[], Callable[..., None]], tuple[()]]:
    """What pickle and copy make of a callback."""
    return _get_ignore, ()
