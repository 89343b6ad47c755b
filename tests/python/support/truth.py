"""What the files of a run hold, as its writer was told; no reader is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.scenario import Array

PREFIX = "smdebug/reductions/"

# Tensor, step over all modes, worker.
Key = tuple[str, int, str]


def decoded_worker(in_file_names: str) -> str:
    """The name of a worker, from that in file names: a device starts with "_"."""
    if not in_file_names.startswith("_"):
        return in_file_names
    return in_file_names.replace("_", "/").replace("-", ":")


@dataclass
class Truth:
    values: dict[Key, Array] = field(default_factory=dict)
    reductions: dict[Key, dict[str, Array]] = field(default_factory=dict)
    shapes: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    # By worker and name, as its collections file has them.
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add_record(self, name: str, step: int, worker: str, value: Array) -> None:
        """A record of a value or of a reduction; the last of a name counts."""
        if not name.startswith(PREFIX):
            self.values[name, step, worker] = value
            return
        reduction, _, tensor = name[len(PREFIX) :].partition("/")
        self.reductions.setdefault((tensor, step, worker), {})[reduction] = value

    def add_collections(self, folder: Path) -> None:
        """Those of the workers that have a file in `folder`."""
        ending = "_collections.json"
        for file in (folder / "collections/000000000").glob("*" + ending):
            worker = decoded_worker(file.name[: -len(ending)])
            self.collections[worker] = json.loads(file.read_text("utf-8"))["collections"]

    def tensors(self) -> set[str]:
        return {key[0] for part in self._parts() for key in part}

    def workers_at(self, tensor: str, step: int) -> set[str]:
        return {key[2] for part in self._parts() for key in part if key[:2] == (tensor, step)}

    def _parts(self) -> tuple[dict[Key, Any], ...]:
        return self.values, self.reductions, self.shapes
