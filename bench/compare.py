#!/usr/bin/env python3
"""Measures smdebug 2 beside smdebug 1.0 on this machine and prints one table.

The C++ part runs every program in <build>/bin and <build>/libtorch/bin that ends
in _bench for the benchmarks named in rows.py, and bench/python/reference_bench.py in .venv-ref, one
after the other, both with their runs in <build>, and between them
bench/python/rules_bench.py in .venv-torch. The Python part is that of python_part.py.
Writes what was measured, and where, to <build>/report.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from python_part import ENVIRONMENTS, Figures, by_counter, run_python, run_script
from rows import CPP_ROWS, LESS_IS_BETTER, PYTHON_ROWS, UNITS, Row

ROOT = Path(__file__).resolve().parent.parent
REPETITIONS = 3

Rates = dict[str, dict[str, float]]  # Benchmark -> counter -> best figure.
COUNTERS = {row.counter or UNITS[row.unit][0] for row in CPP_ROWS}
SMALL_COUNTERS = {
    row.counter or UNITS[row.unit][0] for row in CPP_ROWS if row.unit in LESS_IS_BETTER
}


def run_ours(program: Path, names: set[str], folder: Path) -> Rates:
    """The best of several runs of each benchmark of `names` in `program`."""
    pattern = "|".join(f"^{re.escape(name)}(/|$)" for name in sorted(names))
    output = subprocess.run(
        [
            program,
            f"--benchmark_filter={pattern}",
            "--benchmark_format=json",
            f"--benchmark_repetitions={REPETITIONS}",
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SMDEBUG_BENCH_DIR": str(folder)},
    ).stdout
    rates: Rates = {}
    for entry in json.loads(output)["benchmarks"] if output.strip() else []:
        if entry.get("run_type") == "aggregate":
            continue
        name = matching_name(entry.get("run_name", entry["name"]), names)
        if entry.get("error_occurred"):
            sys.exit(f"compare: {program.name}: {name}: {entry.get('error_message')}")
        best = rates.setdefault(name, {})
        for counter in COUNTERS & entry.keys():
            choose = min if counter in SMALL_COUNTERS else max
            value = float(entry[counter])
            best[counter] = choose(best.get(counter, value), value)
    return rates


def matching_name(run_name: str, names: set[str]) -> str:
    """Benchmark adds "/real_time" and the like to the name it was given."""
    return next(name for name in names if f"{run_name}/".startswith(f"{name}/"))


def run_reference(folder: Path) -> dict[str, float]:
    python = ROOT / ".venv-ref/bin/python"
    script = ROOT / "bench/python/reference_bench.py"
    output = subprocess.run(
        [python, script, "--dir", folder, "--runs", folder / "runs"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests/python")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    rates: dict[str, float] = json.loads(output)
    return rates


def measured_row(row: Row, ours: Rates, reference: dict[str, float]) -> dict[str, Any]:
    counter, scale = UNITS[row.unit]
    counter = row.counter or counter
    mine = ours.get(row.ours, {}).get(counter)
    mine = None if mine is None else mine / scale
    theirs = reference.get(row.reference or "", 0.0) / scale or None
    limit = ours.get(row.limit or "", {}).get(counter, 0.0) / scale or None
    spread = ours.get(row.ours, {}).get(f"{counter}_spread")
    # Nothing measurable has no ratio.
    ratio = mine / theirs if mine and theirs and min(mine, theirs) > 0 else None
    if ratio and row.unit in LESS_IS_BETTER:
        ratio = 1 / ratio
    of_limit = mine / limit if mine and limit else None
    targets = [(ratio, row.target), (of_limit, row.of_limit), (mine, row.least)]
    enough = all(value >= least for value, least in targets if value and least)
    too_much = mine is not None and row.most is not None and mine > row.most
    return {
        "title": row.title,
        "unit": row.unit,
        "ours": mine,
        "spread": None if spread is None else spread / scale,
        "reference": theirs,
        "reference_spread": reference.get(f"{row.reference}_spread"),
        "ratio": ratio,
        "limit": limit,
        "of_limit": of_limit,
        "target": {
            "ratio": row.target,
            "of_limit": row.of_limit,
            "least": row.least,
            "most": row.most,
        },
        "reached": enough and not too_much,
    }


def target_text(row: dict[str, Any]) -> str:
    """The targets of a row in words, and whether they are reached."""
    target = row["target"]
    parts = []
    if target["ratio"]:
        parts.append(f"{target['ratio']:g}x")
    if target["of_limit"]:
        parts.append(f"{target['of_limit']:.0%}")
    if target["least"]:
        parts.append(f"{target['least']:,.0f}")
    if target["most"] is not None:
        parts.append(f"at most {target['most']:g}")
    if not parts or row["ours"] is None:
        return ", ".join(parts) or "-"
    return ", ".join(parts) + (" ok" if row["reached"] else " MISSED")


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def with_spread(value: float | None, spread: float | None) -> str:
    text = number(value, ",.3g" if value is not None and abs(value) < 1 else ",.1f")
    return text if spread is None else f"{text} ±{spread:,.1f}"


def print_table(rows: list[dict[str, Any]]) -> None:
    header = ["", "unit", "ours", "smdebug 1.0", "ratio", "limit", "of limit", "target"]
    lines = [header]
    for row in rows:
        lines.append(
            [
                row["title"],
                row["unit"],
                with_spread(row["ours"], row["spread"]),
                with_spread(row["reference"], row["reference_spread"]),
                number(row["ratio"], ",.1f"),
                number(row["limit"], ",.1f"),
                number(row["of_limit"], ".0%"),
                target_text(row),
            ]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [line[0].ljust(widths[0]), line[1].ljust(widths[1])]
        cells += [cell.rjust(width) for cell, width in zip(line[2:], widths[2:])]
        print("  ".join(cells).rstrip())


def machine() -> dict[str, Any]:
    """The facts that make numbers comparable, and none that names the machine."""
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+) kB$", Path("/proc/meminfo").read_text(), re.M)
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": len(models),
        "memory_gib": round(int(memory.group(1)) / 2**20, 1) if memory else None,
        "kernel": platform.release(),
    }


def commit() -> str:
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(describe, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() or "unknown"


def run_cpp(build: Path, skip_reference: bool) -> tuple[list[str], list[dict[str, Any]]]:
    """The programs that were run, and the rows of what they measured."""
    names = {row.ours for row in CPP_ROWS} | {row.limit for row in CPP_ROWS if row.limit}
    programs = sorted([*build.glob("bin/*_bench"), *build.glob("libtorch/bin/*_bench")])
    ours: Rates = {}
    for program in programs:
        print(f"compare: running {program.name}", file=sys.stderr)
        ours.update(run_ours(program, names, build))
    rules = ["--program", str(build / "bin/smdebug"), "--run", str(build / "runs/gradients")]
    ours.update(run_script(ENVIRONMENTS["ours"], "rules_bench.py", rules))
    reference: dict[str, float] = {}
    if not skip_reference:
        print("compare: running smdebug 1.0", file=sys.stderr)
        reference = run_reference(build)
    shutil.rmtree(build / "runs", ignore_errors=True)
    rows = [measured_row(row, ours, reference) for row in CPP_ROWS]
    return [program.name for program in programs], rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--skip-reference", action="store_true", help="measure ours alone")
    parser.add_argument("--only", choices=("cpp", "python"), help="run one part alone")
    parser.add_argument(
        "--quick", action="store_true", help="run the Python part too short to tell"
    )
    args = parser.parse_args()
    args.build.mkdir(parents=True, exist_ok=True)

    rows: list[dict[str, Any]] = []
    programs: list[str] = []
    python: dict[str, Figures] = {}
    if args.only != "python":
        programs, rows = run_cpp(args.build, args.skip_reference)
    if args.only != "cpp":
        python = run_python(args.build, args.quick, args.skip_reference)
        reference = by_counter(python["reference"])
        rows += [measured_row(row, python["ours"], reference) for row in PYTHON_ROWS]
    print_table(rows)
    report = {
        "machine": machine(),
        "commit": commit(),
        "command": "make bench",
        "programs": programs,
        "rows": rows,
        "python": python,
    }
    path = args.build / "report.json"
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"compare: wrote {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
