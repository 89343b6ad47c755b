"""Scripts run by tests, as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Callable

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]
StartScript = Callable[..., "Script"]


class Script:
    """A script that runs. Its standard output has its errors, too."""

    def __init__(self, python: WarmPython, pid: int, output: int) -> None:
        self.pid = pid
        self.stdout = os.fdopen(output, encoding="utf-8", errors="replace")
        self._python = python

    def finish(self, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """The rest of its output, and its end, which comes in time or by force."""
        timer = threading.Timer(timeout, os.kill, (self.pid, signal.SIGKILL))
        timer.start()
        try:
            with self.stdout:
                output = self.stdout.read()
            code = self._python.wait(self.pid)
        finally:
            timer.cancel()
        return subprocess.CompletedProcess([], code, output)

    def read_until(self, text: str, timeout: float = 300) -> None:
        """Reads its output up to a line that has `text`; fails if there is none."""
        timer = threading.Timer(timeout, os.kill, (self.pid, signal.SIGKILL))
        timer.start()
        try:
            lines = []
            for line in self.stdout:
                if text in line:
                    return
                lines.append(line)
        finally:
            timer.cancel()
        raise AssertionError(f"it never printed {text!r}, but {''.join(lines)}")


# With what it imports when the first optimizer is made.
TORCH = ("torch", "torch._dynamo")


class WarmPython:
    """Starts scripts in an interpreter that has imported `modules`; see warm_python.py.

    Importing PyTorch takes longer than what most scripts of tests do.
    """

    def __init__(self, *modules: str) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("warm_python.py")), *modules],
                stdin=theirs.fileno(),
                env=script_environment(),
            )

    def __enter__(self) -> WarmPython:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        assert self._process.wait(timeout=60) == 0

    def start(self, arguments: list[str], folder: Path, **environment: str) -> Script:
        """Starts `FILE ARGUMENTS` or `-m MODULE ARGUMENTS` in a folder."""
        asked = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": {**script_environment(), **environment},
        }
        reading, writing = os.pipe()
        try:
            socket.send_fds(self._socket, [json.dumps(asked).encode()], [writing])
        finally:
            os.close(writing)
        return Script(self, int(self._answer()), reading)

    def run(
        self, arguments: list[str], folder: Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a script to its end."""
        return self.start(arguments, folder, **environment).finish()

    def wait(self, pid: int) -> int:
        """The exit code of a script, when it has ended."""
        self._socket.send(json.dumps({"wait": pid}).encode())
        return int(self._answer())

    def _answer(self) -> bytes:
        answer = self._socket.recv(1 << 10)
        assert answer, "the interpreter that starts scripts has ended"
        return answer


def run_job(
    python: WarmPython, arguments: list[str], folder: Path, processes: int, **environment: str
) -> None:
    """Runs a job of several processes; RANK has the number of each, MASTER_PORT a free port."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        environment["MASTER_PORT"] = str(server.getsockname()[1])
    scripts = [
        python.start(arguments, folder, RANK=str(rank), **environment) for rank in range(processes)
    ]
    for done in [script.finish() for script in scripts]:
        assert done.returncode == 0, done.stdout


def script_environment() -> dict[str, str]:
    """One thread for each process, and what these tests import."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}


def run_python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs an interpreter of its own to its end; standard output has its errors, too."""
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=script_environment(),
        cwd=folder,
        timeout=300,
        check=False,
    )
