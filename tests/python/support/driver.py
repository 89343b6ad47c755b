"""Runs scenarios in the C++ driver, one process for many of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support.scenario import Scenario

ROOT = Path(__file__).resolve().parents[3]


def program(name: str) -> Path:
    """A program of the build that the suites run against."""
    path = Path(os.environ.get("SMDEBUG_BIN_DIR", ROOT / "build/release/bin")) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: build it with `make test`")
    return path


class DriverError(Exception):
    """The hook, or the driver, refused a scenario; the text says why."""


class Driver:
    """The driver process. Use as a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [program("scenario_driver")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        if self._process.returncode != 0:
            raise DriverError(f"the driver exited with {self._process.returncode}")

    def play(self, scenario: Scenario, folder: Path) -> list[dict[str, Any]]:
        """Plays `scenario` with its tensors laid out in a file in `folder`.
        Returns the counters of each hook."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(scenario.to_dict(folder / "blob")) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise DriverError(f"the driver died with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise DriverError(answer["error"])
        stats: list[dict[str, Any]] = answer["stats"]
        return stats
