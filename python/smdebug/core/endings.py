"""Closes hooks when the process ends: by itself, by an exception, or by SIGTERM."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import weakref
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smdebug.core.hook import BaseHook

_open: weakref.WeakSet[BaseHook] = weakref.WeakSet()


def close_at_end(hook: BaseHook) -> None:
    """Closes `hook` when the process ends, unless it is gone by then.

    SIGTERM is caught only where nobody else does; the process still ends by it.
    """
    if not _open:
        atexit.register(_close_all)
    _open.add(hook)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _close_all() -> None:
    for hook in list(_open):
        hook.close()


def _on_sigterm(number: int, _frame: FrameType | None) -> None:
    _close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
