"""What the tests of actions share: servers on this machine, and an environment without others."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.trail import Trail
from support.web_server import WebServer


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("SMDEBUG_SMTP", "SMDEBUG_SMS", "SMDEBUG_ACTION", "SMDEBUG_STOP")):
            monkeypatch.delenv(name)
    monkeypatch.delenv("TRAINING_JOB_NAME", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture
def trail(tmp_path: Path) -> Trail:
    """The audit trail of a run in the test's folder, line by line."""

    def read() -> list[dict[str, Any]]:
        lines = (tmp_path / "rules/actions.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    return read
