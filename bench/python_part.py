"""Runs the benchmarks of the Python package, ours and smdebug 1.0 in turn.

Each is the same script, once in .venv-torch, where the package of this tree is installed, and
once in .venv-reftorch, where smdebug 1.0 is; that of XGBoost in .venv-xgb17 and .venv-refxgb. Turns
are short, a model each, so that a machine that changes its pace changes it for both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = {"ours": ".venv-torch", "reference": ".venv-reftorch"}
# The same XGBoost for both.
XGBOOST_ENVIRONMENTS = {"ours": ".venv-xgb17", "reference": ".venv-refxgb"}
MODELS = ("mlp", "lenet", "resnet18", "transformer", "modules100")

# Benchmark -> figure -> value.
Figures = dict[str, dict[str, float]]


def run_python(folder: Path, quick: bool, skip_reference: bool) -> dict[str, Figures]:
    """What "ours" and the "reference" cost: all figures of all benchmarks."""
    amount = ["--seconds", "0.1", "--rounds", "1"] if quick else ["--seconds", "6"]
    scripts = [["import_bench.py", "--runs", "1" if quick else "5"]]
    for model in MODELS:
        scripts.append(["step_bench.py", model, "--dir", str(folder), *amount])
    scripts.append(["device_bench.py", "--dir", str(folder), *amount])
    turns = ["--turns", "1", "--rounds", "2"] if quick else []
    scripts.append(["xgboost_bench.py", "--dir", str(folder), *turns])
    results: dict[str, Figures] = {side: {} for side in ENVIRONMENTS}
    for script, *arguments in scripts:
        environments = XGBOOST_ENVIRONMENTS if script == "xgboost_bench.py" else ENVIRONMENTS
        for side, environment in environments.items():
            is_ours_alone = script == "device_bench.py"
            if side == "ours" or not (skip_reference or is_ours_alone):
                results[side].update(run_script(environment, script, arguments))
    return results


def run_script(environment: str, script: str, arguments: list[str]) -> Figures:
    python = ROOT / environment / "bin/python"
    if not python.exists():
        sys.exit(f"compare: there is no {environment}; `make bench` makes it")
    print(f"compare: running {script} {arguments[0]} in {environment}", file=sys.stderr)
    output = subprocess.run(
        [python, ROOT / "bench/python" / script, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    ).stdout
    figures: Figures = json.loads(output)
    return figures


def by_counter(figures: Figures) -> dict[str, float]:
    """The figures under one key each, as the rows name those of smdebug 1.0."""
    return {
        f"{name}/{counter}": value
        for name, counters in figures.items()
        for counter, value in counters.items()
    }
