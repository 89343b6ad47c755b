"""Scripts run by tests, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Callable

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]
StartScript = Callable[..., "subprocess.Popen[str]"]


def run_python(
    arguments: list[str], environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Runs Python to its end in a folder; standard output has its errors, too."""
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=folder,
        timeout=300,
        check=False,
    )
