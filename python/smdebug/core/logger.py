"""The logger `smdebug`: to standard output, each message three times at most."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import Counter
from pathlib import Path

from smdebug.core.config_constants import LOG_DUPLICATION_THRESHOLD

_NAME = "smdebug"

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "off": logging.CRITICAL + 10,
}


class DuplicateLogFilter(logging.Filter):
    """Lets each message through LOG_DUPLICATION_THRESHOLD times."""

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
    """The logger of that name; the one of smdebug is set up by SMDEBUG_LOG_* at the first call.

    SMDEBUG_LOG_LEVEL, SMDEBUG_LOG_CONTEXT, SMDEBUG_LOG_ALL_TO_STDOUT and
    SMDEBUG_LOG_PATH are described in docs/reference/environment.md.
    """
    logger = logging.getLogger(name)
    if name == _NAME and not any(isinstance(f, DuplicateLogFilter) for f in logger.filters):
        _set_up(logger)
    return logger


def _set_up(logger: logging.Logger) -> None:
    level = os.environ.get("SMDEBUG_LOG_LEVEL", "info").strip().lower()
    logger.setLevel(_LEVELS.get(level, logging.INFO))
    logger.propagate = False
    logger.addFilter(DuplicateLogFilter())
    out = logging.StreamHandler(sys.stdout)
    handlers: list[logging.Handler] = [out]
    if os.environ.get("SMDEBUG_LOG_ALL_TO_STDOUT", "TRUE").strip().lower() == "false":
        out.addFilter(MaxLevelFilter(logging.ERROR))
        errors = logging.StreamHandler(sys.stderr)
        errors.setLevel(logging.ERROR)
        handlers.append(errors)
    refused = None
    if path := os.environ.get("SMDEBUG_LOG_PATH"):
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            handlers.append(logging.FileHandler(path))
        except OSError as error:
            refused = error
    context = os.environ.get("SMDEBUG_LOG_CONTEXT", socket.gethostname()).replace("%", "%%")
    if "SMDEBUG_LOG_CONTEXT" not in os.environ:
        context += ":%(process)d"  # That of a forked child is another.
    form = logging.Formatter(
        fmt="[%(asctime)s.%(msecs)03d "
        + context
        + " %(levelname)s %(filename)s:%(lineno)d] %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )
    for handler in handlers:
        handler.setFormatter(form)
        logger.addHandler(handler)
    if refused is not None:
        logger.warning(f"SMDEBUG_LOG_PATH: no log is written there: {refused}")
