"""Keeps what goes wrong in a hook away from the training; the core decides what becomes of it."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from smdebug.core.logger import get_logger

Method = TypeVar("Method", bound=Callable[..., Any])


def fails_open(method: Method) -> Method:
    """A method of a hook that raises nothing unless SMDEBUG_STRICT is set, and ends with the hook.

    What it would raise goes to `_failed(name, error)`.
    """
    guarded = counts_late(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return None if self._closed else guarded(self, *args, **kwargs)

    return cast("Method", call)


def counts_late(method: Method) -> Method:
    """The same, for a method whose calls after the end are counted by the core."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            if must_raise(self, method.__name__, error):
                raise
        return None

    return cast("Method", call)


def fails_once(method: Method) -> Method:
    """The same, for a method that is left out once it has failed."""
    name = method.__name__
    guarded = fails_open(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:
        return None if name in self._off else guarded(self, *args)

    return cast("Method", call)


def must_raise(hook: Any, name: str, error: Exception) -> bool:
    """Has the core count `error`; whether it is to be raised nonetheless."""
    try:
        return bool(hook._failed(name, error))
    except Exception:
        get_logger().exception("smdebug could not count a failure")
        return False
