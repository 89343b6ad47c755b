"""`python -m smdebug.rules.rule_invoker --serve`: evaluates a rule for the `smdebug` program.

Questions come on standard input and answers go to standard output, one JSON object per line each.
What the rule itself prints goes to standard error. `load` names a class of a file and parameters,
and is refused with a reason if it cannot be had; `open` makes the rule for a run; `judge` has it
check a step. The server ends when its input does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, Callable, TextIO

from smdebug.exceptions import (
    IndexReaderException,
    NoMoreData,
    NoMoreProfilerData,
    RuleEvaluationConditionMet,
    SMDebugRuntimeError,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from smdebug.rules.finding import Finding
from smdebug.rules.rule import Rule
from smdebug.rules.rule_classes import convert_parameters, load_rule, make_rule
from smdebug.trials.utils import create_trial

Answer = dict[str, Any]


class RuleServer:
    """A rule, from its file to its verdicts."""

    def __init__(self) -> None:
        self._class: type[Rule] | None = None
        self._parameters: dict[str, Any] = {}
        self._rule: Rule | None = None

    def answer(self, question: dict[str, Any]) -> Answer:
        """The answer to one question; never raises what the rule raises."""
        asked: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "load": self._load,
            "open": self._open,
            "judge": self._judge,
        }
        try:
            return asked[question["ask"]](question)
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return {"error": _last_line(error)}

    def _load(self, question: dict[str, Any]) -> Answer:
        try:
            rule_class = load_rule(Path(question["file"]), question["class"])
            given = convert_parameters(
                rule_class, question["parameters"], has_others=question["has_other_trials"]
            )
        except ValueError as error:
            return {"refused": str(error)}
        self._class, self._parameters = rule_class, given
        return {}

    def _open(self, question: dict[str, Any]) -> Answer:
        assert self._class is not None
        steps = (question["start_step"], question["end_step"])
        trial = create_trial(question["run"], range_steps=None if steps == (None, None) else steps)
        if trial._reader.run_id != question["run_id"]:
            raise SMDebugRuntimeError(f"{trial.path} holds another run than the one that is judged")
        others = [create_trial(path) for path in question["other_trials"]]
        self._rule = make_rule(self._class, trial, others, self._parameters)
        return {}

    def _judge(self, question: dict[str, Any]) -> Answer:
        assert self._rule is not None
        step = question["step"]
        try:
            self._rule.invoke(step)
        except RuleEvaluationConditionMet as fired:
            return {"findings": self._findings(step), "over": fired.end_of_rule}
        except (TensorUnavailableForStep, StepUnavailable, TensorUnavailable) as missing:
            file = getattr(missing, "missing_file", "")
            if file:
                return {"damaged": file, "reason": "is missing, but the index names it"}
            return {"lacks": str(missing)}
        except (NoMoreData, NoMoreProfilerData):
            return {"over": True}
        except (IndexReaderException, SMDebugRuntimeError) as error:
            if not error.file:
                raise
            return {"damaged": error.file, "reason": error.reason}
        return {"findings": []}

    def _findings(self, step: int) -> list[Answer]:
        assert self._rule is not None
        found = [_as_json(finding) for finding in self._rule._evidence()]
        return found or [{"message": f"{type(self._rule).__name__} is true at step {step}"}]


def _as_json(finding: Finding) -> Answer:
    return {
        "tensor": str(finding.tensor),
        "worker": str(finding.worker),
        "value": _number(finding.value),
        "threshold": _number(finding.threshold),
        "message": str(finding.message),
    }


def _number(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _last_line(error: BaseException) -> str:
    lines = "".join(traceback.format_exception_only(type(error), error)).split("\n")
    return next(line.strip() for line in reversed(lines) if line.strip())


def _own_streams() -> tuple[TextIO, TextIO]:
    """Input and output for questions and answers; others find nothing in theirs, and write to
    standard error."""
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _end_with_parent() -> None:
    """Has the system kill this process when the one that started it ends in any way."""
    pr_set_pdeathsig = 1
    # Elsewhere than on Linux it ends with its input.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, int(signal.SIGKILL), 0, 0, 0)


def serve() -> int:
    """Answers questions until there are no more."""
    _end_with_parent()
    questions, answers = _own_streams()
    server = RuleServer()
    for line in questions:
        answer = server.answer(json.loads(line))
        sys.stdout.flush()
        try:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
        except BrokenPipeError:
            break
    return 0
