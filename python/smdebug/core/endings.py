"""Closes hooks when the process ends: by itself, by an exception, or by SIGTERM."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import weakref
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smdebug.core.hook import BaseHook

_error_before: BaseException | None = None
_open: weakref.WeakSet[BaseHook] = weakref.WeakSet()


def close_at_end(hook: BaseHook) -> None:
    """Closes `hook` when the process ends, unless it is gone by then.

    SIGTERM is caught only where nobody else does; the process still ends by it.
    """
    global _error_before
    if not _open:
        _error_before = getattr(sys, "last_value", None)
        atexit.register(_on_exit)
    _open.add(hook)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def ending_of(error: BaseException | None) -> tuple[str, str]:
    """How a job ends through which `error` passes, and why, as the core's hook is told."""
    if error is None or (isinstance(error, SystemExit) and not error.code):
        return "finished", ""
    reason = f"{type(error).__name__}: {error}"
    return ("failed" if isinstance(error, Exception) else "interrupted"), reason


def _close_all(ending: tuple[str, str]) -> None:
    for hook in list(_open):
        hook._close("close", *ending)


def _on_exit() -> None:
    # What ended the script, unless it was there before any hook was.
    error = getattr(sys, "last_value", None)
    _close_all(ending_of(None if error is _error_before else error))


def _on_sigterm(number: int, _frame: FrameType | None) -> None:
    _close_all(("interrupted", "SIGTERM"))
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
