"""Closes hooks when the process ends: by itself, by an exception, or by SIGTERM."""

from __future__ import annotations

import atexit
import contextlib
import functools
import opcode
import os
import signal
import sys
import threading
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any, Callable

from smdebug import _core

if TYPE_CHECKING:
    from smdebug._hook.life import HookLife

# From a SIGTERM to the end of a process whose main thread does not get to it.
GRACE_SECONDS = 10.0

_error_before: BaseException | None = None
_was_asked_to_end = False
_open: weakref.WeakSet[HookLife] = weakref.WeakSet()
# The outermost frame of the last call of sys.exit, and what it was given.
_exit: tuple[FrameType, object] | None = None
_heeds_exit = False


def close_at_end(hook: HookLife) -> None:
    """Closes `hook` when the process ends, unless it is gone by then.

    SIGTERM is caught only where nobody else does; the process still ends by it, also if its main
    thread is stuck.
    """
    global _error_before, _heeds_exit
    if not _open:
        _error_before = getattr(sys, "last_value", None)
        atexit.register(_on_exit)
    if not _heeds_exit:
        _heeds_exit = True
        sys.exit = _noting(sys.exit)
    _open.add(hook)
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _ClosingDefault())
        _core.guard_termination(GRACE_SECONDS)


def open_hooks() -> list[HookLife]:
    """The hooks that are still there."""
    return list(_open)


def describe(error: BaseException) -> str:
    """The type of an error and, if it has one, its message."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def ending_of(error: BaseException | None) -> tuple[str, str]:
    """How a job ends through which `error` passes, and why, in the words of the core."""
    if error is None:
        return "finished", ""
    if isinstance(error, SystemExit):
        ending = _ending_with(error.code)
        # A kind of its own stands for what asked for the end, as Lightning's does for SIGTERM.
        is_asked_for = ending[0] == "finished" and type(error) is not SystemExit
        return ("interrupted", describe(error)) if is_asked_for else ending
    return ("failed" if isinstance(error, Exception) else "interrupted"), describe(error)


def _ending_with(code: object) -> tuple[str, str]:
    """How a job ends that calls sys.exit(code)."""
    if code is None:
        return "finished", ""
    if not isinstance(code, int):  # Python prints it.
        return "failed", f"exit status 1: {code}"
    status = code & 0xFF
    return ("failed", f"exit status {status}") if status else ("finished", "")


def _noting(leave: Callable[..., Any]) -> Callable[..., Any]:
    """`leave`, which is sys.exit, with a note of what the main thread gives it.

    At the end of the process nothing else shows it: Python has forgotten the exception by then.
    """

    @functools.wraps(leave)
    def call(*args: Any) -> Any:
        global _exit
        if threading.current_thread() is threading.main_thread():
            frame = sys._getframe()
            while frame.f_back is not None:
                frame = frame.f_back
            _exit = (frame, args[0] if args else None)
        return leave(*args)

    return call


def _exit_ending() -> tuple[str, str]:
    """How a job ends that no exception but a SystemExit can have ended."""
    if _exit is None:
        return "finished", ""
    frame, code = _exit
    # Whoever has caught it has let the script go on to its own end.
    last = frame.f_code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else 0
    if opcode.opname[last].startswith("RETURN"):
        return "finished", ""
    return _ending_with(code)


def _close_all(ending: tuple[str, str]) -> None:
    for hook in open_hooks():
        hook._close("close", *ending)


def _on_exit() -> None:
    # What ended the script, unless it was there before any hook was.
    error = getattr(sys, "last_value", None)
    is_new = error is not None and error is not _error_before
    ending = ending_of(error) if is_new else _exit_ending()
    if _was_asked_to_end and ending[0] == "finished":
        ending = _TERMINATED
    _close_all(ending)


_TERMINATED = ("interrupted", "SIGTERM")


class _ClosingDefault:
    """What SIGTERM does by default, once the hooks are closed.

    It passes for the default where others look at it. A handler that was installed later and calls
    what it found decides itself: nothing is ended, and a script that then comes to its end was
    interrupted.
    """

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        global _was_asked_to_end
        _core.heed_termination()
        _was_asked_to_end = True
        if signal.getsignal(number) is not self:
            return
        _close_all(_TERMINATED)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def __eq__(self, other: object) -> bool:
        return self is other or other is signal.SIG_DFL

    # By its value, signal.getsignal() would find the default itself.
    __hash__ = object.__hash__


def _restore_in_child() -> None:
    """A forked child has no hooks to close."""
    if isinstance(signal.getsignal(signal.SIGTERM), _ClosingDefault):
        with contextlib.suppress(ValueError):  # Not its main thread, and so not Python's.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


os.register_at_fork(after_in_child=_restore_in_child)
