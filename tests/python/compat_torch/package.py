"""One of the two packages, in a process of its own environment."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


class Package:
    """A package that trains and reads on request. `log` gets what it prints."""

    def __init__(self, python: str, log: Path, path: str = "") -> None:
        self._log = log
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(_HERE.parent), path])),
            "PYTHONWARNINGS": "ignore",
            "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0",
            "SMDEBUG_LOG_LEVEL": "error",
        }
        environment.pop("TRAINING_JOB_NAME", None)
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [python, "-m", "compat_torch.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
            )

    def train(self, plan: dict[str, Any], run: Path) -> None:
        """Trains by a plan into the folder `run`."""
        self._ask({"train": {**plan, "run": str(run)}})

    def tell(self, run: Path) -> dict[str, Any]:
        """What its trial says about a run."""
        out = run.with_name(run.name + ".told")
        self._ask({"tell": str(run), "out": str(out)})
        told: dict[str, Any] = pickle.loads(out.read_bytes())
        return told

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = self._log.stat().st_size
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = self._process.stdout.readline().strip()
        said = self._log.read_bytes()[before:].decode()
        assert code == "0", f"{request} ended with {code!r}:\n{said[-3000:]}"

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=60)
