"""Waiting for what another thread or process does, but not for ever."""

from __future__ import annotations

import threading
import time
from typing import Callable

LIMIT = 120.0  # Seconds: far more than anything takes, even on a busy machine.


def wait_until(holds: Callable[[], bool], may_go_on: Callable[[], bool] = lambda: True) -> None:
    """Returns when `holds()`; fails if `may_go_on` does not, or after LIMIT."""
    end = time.monotonic() + LIMIT
    pause = threading.Event()
    while not holds():
        assert may_go_on(), "it has ended"
        assert time.monotonic() < end, f"it did not come in {LIMIT} s"
        pause.wait(0.01)
