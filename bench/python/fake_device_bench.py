#!/usr/bin/env python3
"""Counts what a hook asks of a device in a training step; prints one JSON object.

The device is that of tests/fake_device, which counts. Nothing is timed, and no machine is needed
that has another device than a CPU. A bare training asks for nothing that is counted here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("SMDEBUG_LOG_LEVEL", "off")
os.environ.pop("TRAINING_JOB_NAME", None)
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/python"))

import smdebug.pytorch as smd
import torch
from models import make_job
from step_bench import REDUCED
from support import fake_device

Figures = dict[str, float]

PARAMETERS = ["weights", "biases", "gradients", "losses"]
CONFIGURATIONS = {
    "raw": {"include_collections": PARAMETERS},
    "reductions": {"include_collections": PARAMETERS, "reduction_config": REDUCED},
    "all": {"save_all": True},
}
INTERVAL = 3
STEPS = 4 * INTERVAL


def count(name: str, out_dir: Path) -> Figures:
    """What `name` asks for at each step that is saved, and at each other one."""
    device = fake_device.load()
    job = make_job("transformer", small=False)
    model = job.model.to(device.name)
    inputs, targets = job.inputs.to(device.name), job.targets.to(device.name)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    save_config = smd.SaveConfig(save_interval=INTERVAL)
    hook = smd.Hook(str(out_dir), save_config=save_config, **CONFIGURATIONS[name])
    hook.register_module(model)
    hook.register_loss(job.loss)
    idle = 0
    torch.accelerator.synchronize()
    device.reset()
    for step in range(STEPS):
        before = asked(device)
        optimizer.zero_grad()
        job.loss(model(inputs), targets).backward()
        optimizer.step()
        # The step after one that is saved may be where that one ends.
        if step % INTERVAL == INTERVAL - 1:
            idle += asked(device) - before
    hook.end_step()
    waits = device.training.waits
    hook.close()
    saved = STEPS // INTERVAL
    return {
        "transfers": (device.training.transfers + device.others.transfers) / saved,
        "waits": waits / saved,
        "other_waits": device.others.waits / saved,
        "idle": idle / saved,
    }


def asked(device: fake_device.FakeDevice) -> int:
    """What the training thread has asked of the device that a bare step does not."""
    training = device.training
    records = training["event_records"] + training["event_queries"] + training["stream_waits"]
    return training.waits + training.transfers + records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, help="where to write runs; removed afterwards")
    args = parser.parse_args()
    reason = fake_device.unavailable()
    if reason:
        sys.exit(f"fake_device_bench: {reason}")
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        results = {f"device/{name}": count(name, Path(folder) / name) for name in CONFIGURATIONS}
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
