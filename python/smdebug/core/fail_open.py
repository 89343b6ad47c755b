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
            if _core.is_strict():
                raise
            try:
                self._failed(method.__name__, error)
            except Exception:
                get_logger().exception("smdebug could not count a failure")
            return None

    return cast("Method", call)
