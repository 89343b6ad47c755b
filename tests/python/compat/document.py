"""The document of a run as smdebug 1.0's trial tells it.

tests/testing/run_document.h describes documents, and makes them with ours.
"""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from smdebug.core.modes import ModeKeys
from smdebug.core.tensor import StepState
from smdebug.trials import create_trial
from support.config import MODES, REDUCTIONS_OF_1_0
from support.driver import Document, Questions
from support.scenario import Array

Trial = Any  # smdebug 1.0 has no types.
Tensor = Any


def read_with_1_0(folder: Path, questions: Questions | None = None) -> Document:
    """The document of the run in `folder`; {"error": class} if it does not open."""
    questions = questions or {}
    window = str(questions.get("window", 1000))
    both = questions.get("begin_step"), questions.get("end_step")
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW=window))
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        document: Document = answer(
            lambda: document_of(open_trial(folder, both), folder, questions)
        )
        return document


def open_trial(folder: Path, both: tuple[int | None, int | None]) -> Trial:
    return create_trial(str(folder), range_steps=None if both == (None, None) else both, cache=True)


def answer(ask: Callable[[], Any]) -> Any:  # noqa: ANN401
    """What `ask` gives, or the class of what it raises."""
    try:
        return ask()
    except Exception as error:
        return {"error": type(error).__name__}


def document_of(trial: Trial, folder: Path, questions: Questions) -> Document:
    settle(trial)
    names = trial.tensor_names()
    computed = questions.get("computed", False)
    return {
        "workers": trial.workers(),
        "num_workers": trial.num_workers,
        "loaded_all_steps": trial.loaded_all_steps,
        "last_complete_step": trial.last_complete_step,
        "last_index_token": relative_token(trial, folder),
        "steps": steps_of(trial),
        "stamps": [
            [s, trial.mode(s).name, trial.mode_step(s)]
            for s in trial.steps(show_incomplete_steps=True)
        ],
        "modes": [mode for mode in MODES if ModeKeys[mode] in trial.modes()],
        "collections": {n: c.to_json_dict() for n, c in trial.collections().items()},
        "tensors": {name: tensor_of(trial.tensor(name), computed=computed) for name in names},
        "damage": [],
        "answers": answers_of(trial, questions),
    }


def settle(trial: Trial) -> None:
    """Queries until no query changes anything any more."""
    for _ in range(1000):
        before = trial.last_index_token
        trial.steps()
        if trial.last_index_token == before:
            return
    raise AssertionError("every query changes what the next one finds")


def relative_token(trial: Trial, folder: Path) -> str:
    token = trial.last_index_token
    return "" if token is None else str(Path(token).relative_to(folder))


def steps_of(owner: Any) -> Document:  # noqa: ANN401
    """Of a trial or of one of its tensors."""
    steps = {}
    for mode in MODES:
        every = owner.steps(ModeKeys[mode], show_incomplete_steps=True)
        if every or mode == "GLOBAL":
            steps[mode] = {"complete": owner.steps(ModeKeys[mode]), "all": every}
    return steps


def tensor_of(tensor: Tensor, *, computed: bool) -> Document:
    at: Document = {}
    for mode in MODES:
        key = ModeKeys[mode]
        for step in tensor.steps(key, show_incomplete_steps=True):
            at.setdefault(mode, {})[str(step)] = {
                worker: entry_of(tensor, step, key, worker, computed=computed)
                for worker in sorted(tensor.workers(step, key))
            }
    return {"original_name": tensor.original_name, "steps": steps_of(tensor), "at": at}


def entry_of(tensor: Tensor, step: int, mode: ModeKeys, worker: str, *, computed: bool) -> Document:
    def saved() -> Document:
        shown = tensor.reduction_values(step, mode, worker)
        return {("abs_" if is_abs else "") + op: number(v) for (op, is_abs), v in shown.items()}

    entry = {
        "value": answer(lambda: value_document(tensor.value(step, mode, worker))),
        "shape": answer(lambda: list(tensor.shape(step, mode, worker))),
        "reductions": answer(saved),
    }
    if computed and mode == ModeKeys.GLOBAL:

        def reduction(op: str, *, is_abs: bool) -> float | str:
            return number(tensor.reduction_value(step, op, mode, worker, abs=is_abs))

        entry["computed"] = {
            prefix + op: answer(partial(reduction, op, is_abs=is_abs))
            for op in REDUCTIONS_OF_1_0
            for prefix, is_abs in (("", False), ("abs_", True))
        }
    return entry


def value_document(value: Array) -> Document:
    document: Document = {"dtype": value.dtype.name, "shape": list(value.shape)}
    if value.dtype.kind in "UO":
        return {**document, "dtype": "str", "strings": [str(text) for text in value]}
    return {**document, "bytes": value.tobytes().hex()}


def number(value: Any) -> float | str:  # noqa: ANN401
    """A reduction as documents have it; of a complex one, the magnitude."""
    array = np.asarray(value)
    plain = abs(array.item()) if array.dtype.kind == "c" else float(array.item())
    return plain if math.isfinite(plain) else str(plain)


def answers_of(trial: Trial, questions: Questions) -> Document | None:
    asked: dict[str, Callable[[Any], Any]] = {
        "passed": lambda q: passed_of(trial, ModeKeys[q[0]], q[1]),
        "lookups": lambda q: answer(lambda: lookup_of(trial, q)),
        "names": lambda q: answer(lambda: names_of(trial, q)),
        "waits": lambda q: answer(lambda: wait_of(trial, ModeKeys[q[0]], q[1])),
        "previous": lambda q: answer(
            lambda: trial.tensor(q[0]).prev_steps(q[2], q[3], ModeKeys[q[1]])
        ),
        "model": lambda q: answer(
            lambda: [value_document(v) for v in getattr(trial, q[0])(q[2], ModeKeys[q[1]])]
        ),
    }
    answers = {
        key: [give(q) for q in questions[key]] for key, give in asked.items() if questions.get(key)
    }
    return answers or None


def passed_of(trial: Trial, mode: ModeKeys, step: int) -> Document:
    state = answer(lambda: trial.has_passed_step(step, mode).name)
    found = {"state": state, "global_step": trial.global_step(mode, step)}
    if mode == ModeKeys.GLOBAL:
        of = trial.mode(step)
        found.update(mode=of and of.name, mode_step=trial.mode_step(step))
    return found


def lookup_of(trial: Trial, question: Document) -> Document:
    tensor = trial.tensor(question["tensor"])
    step, mode, worker = question["step"], ModeKeys[question["mode"]], question.get("worker")
    return {
        "value": answer(lambda: value_document(tensor.value(step, mode, worker))),
        "shape": answer(lambda: list(tensor.shape(step, mode, worker))),
        "workers": answer(lambda: sorted(tensor.workers(step, mode))),
    }


def names_of(trial: Trial, question: Document) -> list[str]:
    names: list[str] = trial.tensor_names(
        step=question.get("step"),
        mode=ModeKeys[question.get("mode", "GLOBAL")],
        regex=question.get("regex"),
        collection=question.get("collection"),
    )
    return names


def wait_of(trial: Trial, mode: ModeKeys, steps: list[int]) -> str:
    # 1.0 waits for ever for a step that may still come.
    for step in steps:
        if trial.has_passed_step(step, mode) == StepState.NOT_YET_AVAILABLE:
            return "not yet"
        try:
            trial.wait_for_steps([step], mode)
        finally:
            trial.dynamic_refresh = True
    return "ready"
