"""An interpreter that has imported slow modules and runs each script in a fork of itself.

`python warm_python.py MODULE...` takes messages from the socket that is its standard input; see
scripts.WarmPython. A script finds everything as in an interpreter of its own: it is `__main__`,
with its own arguments, environment, working folder and output, and Python ends after it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PATHS = sys.path[1:]  # The first is the folder of this file.


def serve() -> list[str] | None:
    """Answers messages; returns in a fork, with the arguments of its script, and at the end."""
    with socket.socket(fileno=os.dup(0)) as client:
        while True:
            message, files, _, _ = socket.recv_fds(client, 1 << 20, 1)
            if not message:
                return None
            asked: dict[str, Any] = json.loads(message)
            if "wait" in asked:
                _, status = os.waitpid(asked["wait"], 0)
                client.send(str(os.waitstatus_to_exitcode(status)).encode())
                continue
            pid = os.fork()
            if pid == 0:
                become(asked, files[0])
                return list(asked["arguments"])
            os.close(files[0])
            client.send(str(pid).encode())


def become(asked: dict[str, Any], output: int) -> None:
    """Takes what was asked for in place of what this process had."""
    empty = os.open(os.devnull, os.O_RDONLY)
    for file, number in ((empty, 0), (output, 1), (output, 2)):
        os.dup2(file, number)
    for file in (empty, output):
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])


def run(arguments: list[str]) -> None:
    """Runs `FILE ARGUMENTS` or `-m MODULE ARGUMENTS`."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[:] = ["", *PATHS]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    file = Path(arguments[0])
    sys.path[:] = [str(file.parent), *PATHS]
    main = ModuleType("__main__")
    main.__file__ = arguments[0]
    sys.modules["__main__"] = main
    exec(compile(file.read_bytes(), arguments[0], "exec"), vars(main))


for module in sys.argv[1:]:
    with contextlib.suppress(ImportError):  # Whoever needs it will see.
        importlib.import_module(module)
gc.freeze()  # No fork looks for garbage in what it shares.
script = serve()
if script is not None:
    run(script)
