"""`python -m smdebug`: the command line, which evaluates rules of Python files with this Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import smdebug


def _program(folders: Iterable[str]) -> str | None:
    programs = (os.path.join(folder, "bin", "smdebug") for folder in folders)
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def main() -> None:
    """Becomes the program."""
    program = _program(smdebug.__path__)
    if program is None:
        sys.exit("smdebug: this installation of the package has no command line; install it again")
    os.environ.setdefault("SMDEBUG_PYTHON", sys.executable)
    os.execv(program, ["smdebug", *sys.argv[1:]])


if __name__ == "__main__":
    main()
