#!/usr/bin/env python3
"""Measures how long smdebug takes to import; prints one JSON object.

What it builds on is imported before and not counted: NumPy for `smdebug`, PyTorch for
`smdebug.pytorch`. Each import is in a process of its own; the best of several counts, since
whatever disturbs one slows it down.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

# Module -> what is imported before.
MODULES = {"smdebug": "numpy", "smdebug.pytorch": "torch"}

PROGRAM = """
import time
import {before}
begin = time.perf_counter()
import {module}
print(time.perf_counter() - begin)
"""


def import_seconds(module: str, before: str) -> float:
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module, before=before)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SMDEBUG_LOG_LEVEL": "off"},
    ).stdout
    return float(output.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    results = {}
    for module, before in MODULES.items():
        best = min(import_seconds(module, before) for _ in range(args.runs))
        results[f"import/{module}"] = {"ms": 1e3 * best}
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
