"""Messages of the core, passed on to the logger of Python."""

from __future__ import annotations

import logging

from smdebug import _core
from smdebug.core.logger import get_logger

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


def pass_on_log() -> None:
    """Logs what the core had to say since the last call. Its threads cannot do so themselves."""
    for level, message in _core.take_log():
        get_logger().log(_LEVELS[level], message)
