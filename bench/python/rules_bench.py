#!/usr/bin/env python3
"""Measures rules of ours from Python; prints one JSON object.

Runs in .venv-torch: a rule in Python over the run that bench/rules_bench.cc has written, and how
soon `smdebug watch`, a process of its own, tells that a rule has fired in a live run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("SMDEBUG_LOG_LEVEL", "off")

import numpy as np
import smdebug.pytorch as smd
import torch
from judge import judge_rate

WATCHED_STEPS = 200


def index_file(run: Path, step: int) -> Path:
    return run / "index" / f"{step // 1000:09d}" / f"{step:012d}_worker_0.json"


def watch_latencies(program: Path, run: Path) -> list[float]:
    """Seconds from the last write of a step's last file to the line that tells of a finding."""
    hook = smd.Hook(
        out_dir=str(run),
        save_config=smd.SaveConfig(save_interval=1),
        include_collections=["weights"],
    )
    model = torch.nn.Linear(8, 8)
    hook.register_module(model)
    batch = torch.ones(1, 8)
    rule = "TensorVariance:tensor_regex=weight:min_threshold=1"
    command = [str(program), "watch", "--json", str(run), "--rule", rule]
    latencies = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        model(batch)
        for step in range(WATCHED_STEPS):
            model(batch)  # Ends the step before it.
            finding = json.loads(watch.stdout.readline())
            seen = time.time()
            assert finding["step"] == step, finding
            latencies.append(seen - index_file(run, step).stat().st_mtime)
        hook.close()
        watch.stdout.read()  # Up to its end.
    assert watch.returncode == 1, watch.returncode
    return latencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help="the command line, smdebug")
    parser.add_argument("--run", type=Path, required=True, help="the run to be judged")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.run.parent) as folder:
        latencies = np.array(watch_latencies(args.program, Path(folder) / "watched")) * 1e3
    figures = {
        "rules/python/50x4KiB": {"items_per_second": judge_rate(args.run, 1000)},
        "rules/watch": {
            "median_ms": float(np.median(latencies)),
            "p99_ms": float(np.quantile(latencies, 0.99)),
        },
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
