"""The C++ programs that the suites drive, one process for many requests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, TypeVar

from support.scenario import Scenario

# What is asked of a run and what is answered; tests/testing/run_document.h
# describes both.
Questions = dict[str, Any]
Document = dict[str, Any]

Started = TypeVar("Started", bound="LineProgram")

ROOT = Path(__file__).resolve().parents[3]


def program(name: str) -> Path:
    """A program of the build that the suites run against."""
    path = Path(os.environ.get("SMDEBUG_BIN_DIR", ROOT / "build/release/bin")) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: build it with `make test`")
    return path


class DriverError(Exception):
    """The library, or a driver, refused what it was asked; the text says why."""


class LineProgram:
    """A process that answers each JSON object with one. Use as a context manager."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = subprocess.Popen(
            [program(name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self: Started) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        if self._process.returncode != 0:
            raise DriverError(f"{self._name} exited with {self._process.returncode}")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise DriverError(f"{self._name} died with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Driver(LineProgram):
    """Plays scenarios through the C++ hook."""

    def __init__(self) -> None:
        super().__init__("scenario_driver")

    def play(self, scenario: Scenario, folder: Path) -> list[dict[str, Any]]:
        """Plays `scenario` with its tensors laid out in a file in `folder`.
        Returns the counters of each hook."""
        answer = self.ask(scenario.to_dict(folder / "blob"))
        if "error" in answer:
            raise DriverError(answer["error"])
        stats: list[dict[str, Any]] = answer["stats"]
        return stats


class RunReader(LineProgram):
    """Reads runs through the C++ trial."""

    def __init__(self) -> None:
        super().__init__("read_run")

    def read(self, folder: Path, questions: Questions | None = None) -> Document:
        """The document of the run in `folder`; {"error": class} if it does not open."""
        document = self.ask({"path": str(folder), "questions": questions or {}})
        if "fault" in document:
            raise DriverError(document["fault"])
        return document
