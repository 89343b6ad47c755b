"""Pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.browser import Browser, browser, is_there


@pytest.fixture(scope="session")
def window() -> Iterator[Browser]:
    if not is_there():
        pytest.skip("there is no chromium with its chromedriver; install chromium-driver")
    with browser() as opened:
        yield opened
