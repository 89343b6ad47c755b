"""What the core has to say, in the logger of smdebug."""

from __future__ import annotations

import logging

from smdebug import _core
from smdebug.core.logger import get_logger

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


def relay() -> None:
    """Logs the messages that the core has kept since the last call."""
    for level, text in _core.take_log():
        get_logger().log(_LEVELS[level], text)
