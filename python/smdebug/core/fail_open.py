"""Keeps what goes wrong in a hook away from the training."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from smdebug import _core
from smdebug.core.logger import get_logger

Method = TypeVar("Method", bound=Callable[..., Any])


def fails_open(method: Method) -> Method:
    """A method of a hook that raises nothing, and does nothing in a forked child.

    What it would raise is logged with its traceback and counted, and the part of the hook that
    the method belongs to is switched off by `_failed(name, error)`.
    """

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._active():
            return None
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            return _fail(self, method.__name__, error)

    return cast("Method", call)


def fails_once(method: Method) -> Method:
    """The same, for a method that is left out once it has failed."""
    name = method.__name__

    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:
        if name in self._off or not self._active():
            return None
        try:
            return method(self, *args)
        except Exception as error:
            return _fail(self, name, error)

    return cast("Method", call)


def _fail(hook: Any, name: str, error: Exception) -> None:
    if _core.is_strict():
        raise error
    try:
        hook._failed(name, error)
    except Exception:
        get_logger().exception("smdebug could not count a failure")
