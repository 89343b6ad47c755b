"""What the logger of smdebug is given."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from smdebug.core.logger import DuplicateLogFilter, get_logger


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + logging.Formatter().formatException(record.exc_info)
        self.texts.append(text)


@contextmanager
def logged() -> Iterator[list[str]]:
    """The texts that are logged inside, whatever was logged before."""
    kept = _Kept()
    for each in get_logger().filters:
        if isinstance(each, DuplicateLogFilter):
            each.seen.clear()
    get_logger().addHandler(kept)
    try:
        yield kept.texts
    finally:
        get_logger().removeHandler(kept)
