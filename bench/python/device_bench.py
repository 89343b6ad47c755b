#!/usr/bin/env python3
"""Counts what a hook asks of a device, and measures what its way costs; prints one JSON object.

The counts are those of the fake device of tests/fake_device, per saved step: how often the training
waits for the device, how often any thread does, and how many transfers there are. Times are of
tensors in memory of the CPU, as step_bench.py measures them: once as they are saved there, and once
by the way of a device, where nothing is to be gained by it; on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import step_bench
import torch
from models import make_job
from smdebug.pytorch.devices import CPU_AS_DEVICE
from step_bench import IDLE, SAVING, Configuration, Figures, Training, add_hook

ROOT = Path(__file__).resolve().parents[2]
MODEL = "modules100"
STEPS = 20
# At every step: 201 tensors.
COUNTED = tuple(wanted for wanted in SAVING if wanted.name in ("reductions", "raw"))


def count(wanted: Configuration, folder: Path) -> Figures:
    """What the fake device is asked for at a step; the bare training waits for nothing."""
    sys.path.append(str(ROOT / "tests/python"))
    from support import fake_device

    device = fake_device.load()
    training = Training(make_job(MODEL, small=True))
    training.model.to(device.name)
    training.inputs = training.inputs.to(device.name)
    training.targets = training.targets.to(device.name)
    hook = add_hook(training, wanted, folder / f"counted-{wanted.name}")
    training.seconds(2)
    hook.end_step()  # It would end in the next one.
    torch.accelerator.synchronize()
    device.reset()
    training.seconds(STEPS)
    asked = device.training.asked
    hook.close()
    assert hook.stats["steps_saved"] == (STEPS + 2 if wanted.saves else 1), hook.stats
    waits = device.training.waits
    return {
        "training_waits": waits / STEPS,
        "waits": (waits + device.others.waits) / STEPS,
        "transfers": (device.training.transfers + device.others.transfers) / STEPS,
        "asked": asked / STEPS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each configuration")
    parser.add_argument("--rounds", type=int, default=6, help="for each configuration")
    args = parser.parse_args()
    results: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        for wanted in (IDLE, *COUNTED):
            results[f"device/{wanted.name}"] = count(wanted, Path(folder))
        # Threads that wait for each other would be most of what is measured.
        torch.set_num_threads(1)
        for wanted in COUNTED:
            for way in ("cpu", "device"):
                os.environ[CPU_AS_DEVICE] = "1" if way == "device" else "0"
                results[f"way/{way}/{wanted.name}"] = step_bench.measure(
                    make_job(MODEL, small=False), wanted, Path(folder), args.seconds, args.rounds
                )
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
