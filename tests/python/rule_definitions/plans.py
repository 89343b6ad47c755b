"""What a job does, step by step: drawn, written by the hook, and judged by rules."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from rule_definitions.definitions.run import Array, Run, Step
from smdebug.core.modes import ModeKeys
from smdebug.rules import check
from support.native_run import NativeRun

Tensors = Mapping[str, Any]
Plan = Sequence[tuple[str, Tensors]]
"""The mode and the tensors of each step; one without any leaves a gap."""

GLOBAL = (("GLOBAL",),)
TRAINED = (("TRAIN", "EVAL"), ("TRAIN", "EVAL", "PREDICT"))
ANY_MODES = (*GLOBAL, *TRAINED)
EIGHTHS = tuple(number / 8 for number in range(-32, 33))
"""Sums, and quotients by powers of two, are exact in all floating types."""
SPECIAL = (np.nan, np.inf, -np.inf)
NO_TIE = 1 / 65536
"""Added to a threshold, keeps it off every quotient that is not exact."""

_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def to_run(plan: Plan) -> Run:
    """The saved steps of a plan. A tensor without elements has no value that can be read."""
    counts: dict[str, int] = {}
    run = {}
    for number, (mode, tensors) in enumerate(plan):
        mode_step = number if mode == "GLOBAL" else counts.get(mode, 0)
        counts[mode] = counts.get(mode, 0) + 1
        if tensors:
            run[number] = Step(_with_elements(tensors), mode, mode_step)
    return run


def _with_elements(tensors: Tensors) -> Tensors:
    return {name: value for name, value in tensors.items() if np.size(value)}


def write(plan: Plan, out_dir: Path, collections: Mapping[str, str], **settings: Any) -> None:  # noqa: ANN401
    """Plays a plan to the hook. Collections are given by a regex of their names."""
    asked = [{"name": name, "include_regex": [regex]} for name, regex in collections.items()]
    with NativeRun(out_dir, collections=asked, **settings) as run:
        for mode, tensors in plan:
            run.save_step(tensors, None if mode == "GLOBAL" else ModeKeys[mode])


def spec(rule: str, **parameters: Any) -> str:  # noqa: ANN401
    """A rule with its parameters, without those that are None."""
    given = {
        name: json.dumps(value) if isinstance(value, bool) else value
        for name, value in parameters.items()
        if value is not None
    }
    as_text = {name: v if isinstance(v, (str, list)) else repr(v) for name, v in given.items()}
    return rule + json.dumps(as_text)


def fired(
    plan: Plan,
    *rules: str,
    collections: Mapping[str, str] | None = None,
    reductions: Sequence[str] = (),
    other: Plan | None = None,
) -> list[list[int]]:
    """The steps at which each rule fires over the plan, written whole or as reductions.

    Of a tensor without elements a reduction is there but no value, so it is left out.
    """
    if reductions:
        plan = [(mode, _with_elements(tensors)) for mode, tensors in plan]
    if not to_run(plan):
        return [[] for _ in rules]
    settings = {"reduction_config": {"reductions": list(reductions)}} if reductions else {}
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        run_dir, other_dir = Path(folder, "run"), Path(folder, "other")
        write(plan, run_dir, collections or {}, **settings)
        if other is not None:
            write(other, other_dir, collections or {})
        others = [] if other is None else [other_dir]
        reports = check(run_dir, rules, other_trials=others)
    for report in reports:
        # Of runs that lack what is judged, or a part of what was named.
        is_told = report["details"].startswith(("needs ", "is to look at "))
        assert report["status"] != "Error" or is_told, report
        assert report["steps_judged"] == len(to_run(plan)), report
    return [report["fired_steps"] for report in reports]


@st.composite
def plans(
    draw: st.DrawFn,
    tensors: st.SearchStrategy[Tensors],
    modes: Sequence[Sequence[str]] = ANY_MODES,
    most: int = 10,
) -> Plan:
    """Steps of some modes, some without anything saved, at least one with."""
    chosen = st.sampled_from(draw(st.sampled_from(modes)))
    steps = st.lists(st.tuples(chosen, tensors), min_size=1, max_size=most)
    return draw(steps.filter(lambda plan: any(tensors for _, tensors in plan)))


def some_of(names: Sequence[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Tensors]:
    """Tensors of some of the names."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, values))


@st.composite
def arrays(
    draw: st.DrawFn,
    shapes: Sequence[tuple[int, ...]] = ((), (0,), (1,), (3,), (8,), (2, 4), (2, 3)),
    numbers: Sequence[float] = EIGHTHS,
    dtypes: Sequence[str] = ("float32", "float64", "int32", "int64"),
) -> Array:
    """An array of such numbers, cut to whole ones for whole types, or all the same."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(st.sampled_from(shapes))
    kind = np.dtype(dtype).kind
    fitting = [x for x in numbers if kind == "f" or (np.isfinite(x) and (kind == "i" or x >= 0))]
    elements = st.sampled_from(fitting)
    values = draw(
        st.one_of(
            numpy_strategies.arrays(np.float64, shape, elements=elements),
            elements.map(lambda number: np.full(shape, number)),
        )
    )
    return np.asarray(values, dtype)
