"""The logger `smdebug`: to standard output, each text three times at most."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import Counter

from smdebug.core.config_constants import LOG_DUPLICATION_THRESHOLD

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "off": logging.CRITICAL + 10,
}


class DuplicateLogFilter(logging.Filter):
    """Lets each text through LOG_DUPLICATION_THRESHOLD times."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        text = str(record.msg)
        self.seen[text] += 1
        return self.seen[text] <= LOG_DUPLICATION_THRESHOLD


class MaxLevelFilter(logging.Filter):
    """Lets through what is below a level."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self.level = level

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno < self.level


def get_logger(name: str = "smdebug") -> logging.Logger:
    """The logger of smdebug, set up by SMDEBUG_LOG_* at the first call."""
    logger = logging.getLogger(name)
    if getattr(logger, "_smdebug_ready", False):
        return logger
    context = os.environ.get("SMDEBUG_LOG_CONTEXT", f"{socket.gethostname()}:{os.getpid()}")
    form = logging.Formatter(
        fmt=f"[%(asctime)s.%(msecs)03d {context} %(levelname)s %(filename)s:%(lineno)d] "
        "%(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )
    out = logging.StreamHandler(sys.stdout)
    handlers: list[logging.Handler] = [out]
    if os.environ.get("SMDEBUG_LOG_ALL_TO_STDOUT", "TRUE").lower() == "false":
        out.addFilter(MaxLevelFilter(logging.ERROR))
        errors = logging.StreamHandler(sys.stderr)
        errors.setLevel(logging.ERROR)
        handlers.append(errors)
    if path := os.environ.get("SMDEBUG_LOG_PATH"):
        handlers.append(logging.FileHandler(path))
    for handler in handlers:
        handler.setFormatter(form)
        logger.addHandler(handler)
    logger.addFilter(DuplicateLogFilter())
    level = os.environ.get("SMDEBUG_LOG_LEVEL", "info").lower()
    logger.setLevel(_LEVELS.get(level, logging.INFO))
    logger.propagate = False
    logger._smdebug_ready = True  # type: ignore[attr-defined]
    return logger
