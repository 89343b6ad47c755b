"""The commands read what smdebug 1.0 itself wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import support
from support.scenario import Array
from support.smdebug_program import smdebug, smdebug_json

STEPS = 4


def weight(step: int) -> Array:
    return np.arange(6, dtype=np.float32).reshape(2, 3) + np.float32(step)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference") / "run"
    steps = [{"fc.weight": weight(step).tolist()} for step in range(STEPS)]
    writer = Path(support.__file__).with_name("reference_run.py")
    command = [sys.executable, str(writer), str(folder)]
    subprocess.run(command, input=json.dumps(steps), text=True, check=True)
    return folder


def test_every_value_is_sound_and_none_has_a_checksum(run: Path) -> None:
    report = smdebug_json("verify", run)
    assert report["well"]
    assert report["event_files"] == STEPS
    assert report["without_checksum"] == report["values"] == 3 * STEPS


def test_broken_framing_is_found_without_checksums(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for file in run.rglob("*"):
        if file.is_file():
            target = copy / file.relative_to(run)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    event = next((copy / "events").rglob("*.tfevents"))
    event.write_bytes(event.read_bytes()[:-3])
    damage = smdebug_json("verify", copy, code=1)["damage"]
    assert [one["file"] for one in damage] == [str(event.relative_to(copy))]


def test_tensors_and_steps_are_listed(run: Path) -> None:
    assert smdebug("steps", run).split() == [str(step) for step in range(STEPS)]
    (tensor,) = smdebug_json("ls", run)["tensors"]
    assert tensor["name"] == "fc.weight"
    assert tensor["dtype"] == "float32"
    assert tensor["shape"] == [2, 3]
    assert tensor["saved"] == {"value": True, "reductions": ["mean", "max"], "shape": False}


def test_values_and_reductions_are_shown(run: Path) -> None:
    shown = smdebug_json("show", run, "fc.weight", "--step", 2)
    assert shown["values"] == weight(2).tolist()
    assert shown["reductions"] == {"max": 7.0, "mean": 4.5}
    assert smdebug_json("plot", run, "fc.weight")["values"] == [2.5, 3.5, 4.5, 5.5]


def test_a_run_equals_itself(run: Path) -> None:
    assert smdebug_json("diff", run, run)["compared"] == STEPS
