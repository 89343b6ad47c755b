"""Calls the `smdebug` program of the build under test."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from support.driver import program


def smdebug(*args: object, code: int = 0) -> str:
    """Standard output of `smdebug ARGS`, which must exit with `code`."""
    command = [str(program("smdebug")), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == code, f"{command} exited with {done.returncode}: {done.stderr}"
    return done.stdout


def smdebug_json(*args: object, code: int = 0) -> Any:  # noqa: ANN401 - as JSON is.
    return json.loads(smdebug(*args, "--json", code=code))
