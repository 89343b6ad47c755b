"""The exceptions that users catch: their classes, fields, texts, and that they travel."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from smdebug import exceptions as errors
from smdebug import modes

# Class, arguments, fields, and words that its text has.
CASES: list[tuple[type[errors.SMDebugError], dict[str, Any], list[str]]] = [
    (errors.InvalidCollectionConfiguration, {"c_name": "relu"}, ["relu"]),
    (errors.StepNotYetAvailable, {"step": 3, "mode": modes.TRAIN}, ["3", "TRAIN", "not yet"]),
    (errors.StepUnavailable, {"step": 3, "mode": modes.EVAL}, ["3", "EVAL", "not saved"]),
    (
        errors.TensorUnavailableForStep,
        {"tname": "t", "step": 3, "mode": modes.EVAL, "has_reductions": True},
        ["t", "3", "EVAL", "reductions"],
    ),
    (
        errors.ShapeUnavailableForStep,
        {"tname": "t", "step": 3, "mode": modes.EVAL},
        ["Shape", "t", "3", "EVAL"],
    ),
    (errors.TensorUnavailable, {"tname": "t"}, ["t", "not saved"]),
    (errors.InvalidWorker, {"worker": "worker_9"}, ["worker_9"]),
    (
        errors.NoMoreData,
        {"step": 3, "mode": modes.TRAIN, "last_step": 2},
        ["3", "TRAIN", "2", "end of training"],
    ),
    (errors.NoMoreProfilerData, {"timestamp": 5}, ["5"]),
    (errors.MissingCollectionFiles, {}, ["ended"]),
    (errors.IndexReaderException, {"message": "torn"}, ["torn"]),
    (
        errors.RuleEvaluationConditionMet,
        {"rule_name": "Vanishing", "step": 3, "end_of_rule": True},
        ["Vanishing", "3"],
    ),
    (
        errors.InsufficientInformationForRuleInvocation,
        {"rule_name": "Vanishing", "message": "no trial"},
        ["Vanishing", "no trial"],
    ),
]


@pytest.mark.parametrize(("kind", "fields", "words"), CASES, ids=lambda case: str(case)[:40])
def test_an_exception_tells_its_facts_and_keeps_them(
    kind: type[errors.SMDebugError], fields: dict[str, Any], words: list[str]
) -> None:
    made = [kind(*fields.values()), kind(**fields)]
    made += [pickle.loads(pickle.dumps(error)) for error in made]
    made += [copy.copy(made[0])]
    for error in made:
        assert type(error) is kind
        assert {name: getattr(error, name) for name in fields} == fields
        assert all(word in str(error) for word in words)
        assert str(error) == str(made[0])


def test_defaults() -> None:
    assert errors.TensorUnavailableForStep("t", 3).mode is modes.GLOBAL
    assert not errors.TensorUnavailableForStep("t", 3).has_reductions
    assert errors.ShapeUnavailableForStep("t", 3).mode is modes.GLOBAL
    assert not errors.RuleEvaluationConditionMet("rule", 3).end_of_rule


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.SMDebugTypeError, TypeError),
        (errors.SMDebugValueError, ValueError),
        (errors.SMDebugRuntimeError, RuntimeError),
        (errors.SMDebugNotImplementedError, NotImplementedError),
    ],
)
def test_they_are_caught_as_pythons_own(
    kind: type[errors.SMDebugError], builtin: type[Exception]
) -> None:
    with pytest.raises(builtin, match="why"):
        raise kind("why")
    assert issubclass(kind, errors.SMDebugError)
    assert str(pickle.loads(pickle.dumps(kind("why")))) == "why"


def test_every_exception_is_below_one_root() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert len(kinds) == len(CASES) + 6
    assert all(issubclass(kind, errors.SMDebugError) for kind in kinds)
