"""A headless Chromium, driven over the WebDriver protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromedriver")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1200,900",
]


def is_there() -> bool:
    return all(shutil.which(program) for program in PROGRAMS)


class Browser:
    """One window."""

    def __init__(self, address: str) -> None:
        self._address = address
        options = {"args": ARGUMENTS, "binary": shutil.which("chromium")}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, page: Path) -> None:
        """Opens a file, and returns when it is loaded."""
        self._ask("POST", f"{self._session}/url", {"url": page.resolve().as_uri()})

    def run(self, script: str) -> Any:  # noqa: ANN401
        """What a script returns in the page."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def console(self) -> list[str]:
        """What the page has complained about since the last call."""
        entries = self._ask("POST", f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries]

    def screenshot(self, path: Path) -> None:
        """A picture of the whole page."""
        page, frame = self.run(
            "return [document.body.getBoundingClientRect().bottom + window.scrollY,"
            " window.outerHeight - window.innerHeight]"
        )
        size = {"width": 1200, "height": min(int(page + frame) + 20, 16000)}
        self._ask("POST", f"{self._session}/window/rect", size)
        picture = self._ask("GET", f"{self._session}/screenshot")
        path.write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        self._ask("DELETE", self._session)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is closed in the end."""
    with tempfile.TemporaryDirectory() as folder:
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**_environment(), "TMPDIR": folder},
        )
        try:
            window = Browser(f"http://127.0.0.1:{_port(driver)}")
            try:
                yield window
            finally:
                window.close()
        finally:
            driver.terminate()
            driver.communicate()


def _environment() -> dict[str, str]:
    # The driver is on this machine.
    return {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


def _port(driver: subprocess.Popen[str]) -> int:
    assert driver.stdout is not None
    for line in driver.stdout:
        words = line.strip().rstrip(".").split()
        if "on port" in line and words[-1].isdigit() and words[-1] != "0":
            return int(words[-1])
    raise AssertionError("chromedriver did not start")
