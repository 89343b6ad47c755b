"""Trials, tensors and collections as notebooks show them.

However large a run is, little is read and little is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from smdebug import _core
from smdebug.core.modes import ModeKeys

if TYPE_CHECKING:
    from smdebug.core.collection import Collection
    from smdebug.trials.tensor import Tensor
    from smdebug.trials.trial import Trial

MOST_TENSORS = 40
MOST_NAMES = 100
MOST_POINTS = 48
MOST_NAME_LENGTH = 120
# A value that takes more to read is not read for a picture.
MOST_BYTES = 64 * 1024

_WIDTH, _HEIGHT, _MARGIN = 120, 22, 2


def of_trial(trial: Trial) -> str:
    """The steps, workers and collections of a run, and its first tensors."""
    from smdebug.analysis.utils import no_refresh

    steps = trial.steps()
    with no_refresh(trial):
        names = trial._select(None, ModeKeys.GLOBAL.value, None, None)
        damage = trial.damage()
        facts = [
            ("path", _text(trial.path)),
            ("steps", _steps(steps) + (" (ended)" if trial.loaded_all_steps else "")),
            ("modes", _text(", ".join(mode.name for mode in trial.modes()))),
            ("workers", _names(trial.workers())),
            ("collections", _names(trial.collections())),
            ("tensors", str(len(names))),
        ]
        if damage:
            facts.append(("damaged", _names(found.file for found in damage)))
        rows = [_tensor_row(trial.tensor(name)) for name in names[:MOST_TENSORS]]
    table = _table(("tensor", "steps", "", "", "last"), rows, len(names) - len(rows))
    return _block("Trial", trial.name, facts) + (table if rows else "")


def of_tensor(tensor: Tensor) -> str:
    """Where a tensor was saved, and how it went."""
    from smdebug.analysis.utils import no_refresh

    steps = tensor.steps()
    with no_refresh(tensor.trial):
        facts = [("trial", _text(tensor.trial.name)), ("steps", _steps(steps))]
        if steps:
            value_bytes, reductions = tensor.saved(steps[-1])
            saved = ["value"] if value_bytes is not None else []
            saved += [f"abs_{name}" if of_abs else name for name, of_abs in reductions]
            facts.append(("saved", _names(saved)))
            facts.append(("workers", _names(tensor.workers(steps[-1]))))
        what, drawn = _series(tensor)
    picture = f"<div>{_text(what)} {sparkline(drawn)} {_last(drawn)}</div>" if drawn else ""
    return _block("Tensor", tensor.name, facts) + picture


def of_collection(collection: Collection) -> str:
    """What is in a collection, and how it is saved."""
    facts = [
        ("regex", _names(collection.include_regex)),
        ("tensors", _names(sorted(collection.tensor_names))),
        ("save", _text(collection.save_config or "as the hook")),
        ("reductions", _text(collection.reduction_config or "as the hook")),
    ]
    return _block("Collection", collection.name, facts)


def sparkline(values: Sequence[float]) -> str:
    """A small picture of numbers, with a gap for each that is not finite."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    across = (_WIDTH - 2 * _MARGIN) / max(len(values) - 1, 1)
    runs: list[list[str]] = [[]]
    for position, value in enumerate(values):
        if not math.isfinite(value):
            runs.append([])
            continue
        # Halves first: the difference of two finite numbers may not be finite.
        part = (value / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else 0.5
        x = _MARGIN + position * across
        y = _HEIGHT - _MARGIN - part * (_HEIGHT - 2 * _MARGIN)
        runs[-1].append(f"{x:.1f},{y:.1f}")
    lines = "".join(_line(run) for run in runs if run)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">'
        f"<title>{low:.6g} to {high:.6g}</title>"
        f'<g fill="none" stroke="currentColor">{lines}</g></svg>'
    )


def _line(points: list[str]) -> str:
    if len(points) == 1:
        x, y = points[0].split(",")
        return f'<circle cx="{x}" cy="{y}" r="1"/>'
    return f'<polyline points="{" ".join(points)}"/>'


def _series(tensor: Tensor) -> tuple[str, list[float]]:
    """What is drawn of a tensor, at some of its steps; empty if it takes too much."""
    return _core.glance(tensor._reader, MOST_POINTS, MOST_BYTES)


def _tensor_row(tensor: Tensor) -> tuple[str, ...]:
    steps = tensor.steps()
    what, values = _series(tensor)
    return _text(tensor.name), _steps(steps), _text(what), sparkline(values), _last(values)


def _last(values: Sequence[float]) -> str:
    return f"{values[-1]:.6g}" if values else ""


def _steps(steps: list[int]) -> str:
    if len(steps) < 2:
        return ", ".join(map(str, steps)) or "none"
    return f"{len(steps)}: {steps[0]} to {steps[-1]}"


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    text = ", ".join(_text(name) for name in listed[:MOST_NAMES])
    more = len(listed) - MOST_NAMES
    return (text + f", and {more} more") if more > 0 else text or "none"


def _text(value: object) -> str:
    text = str(value)
    if len(text) > MOST_NAME_LENGTH:
        text = text[: MOST_NAME_LENGTH - 1] + "…"
    return escape(text)


def _block(kind: str, name: str, facts: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th style="text-align:left">{key}</th><td style="text-align:left">{value}</td></tr>'
        for key, value in facts
    )
    return f"<div><b>{kind}</b> {_text(name)}</div><table>{rows}</table>"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]], more: int) -> str:
    first = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>{rest}"
