"""The lock under which hooks make, once, what several threads may ask for first."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

# A thread that makes a hook makes what the hook needs, so it may take the lock again.
_lock = threading.RLock()


def making() -> AbstractContextManager[bool]:
    """The lock. Whoever finds a thing missing looks again once it holds this."""
    return _lock


def _after_fork_in_child() -> None:
    # The thread that held it may not be there any more.
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork_in_child)
