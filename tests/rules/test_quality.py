"""Precision and recall of every rule, with documented defaults and with robust=true.

Where there is PyTorch, networks are trained; elsewhere, with XGBoost, boosters are.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from rules.scores import Score, Training, add, fired, table, train
from support.driver import program

SEEDS = (1, 2, 3)
WAYS = {"documented": False, "robust": True}
HAS_TORCH = importlib.util.find_spec("torch") is not None
KIND = "network_trainings" if HAS_TORCH else "booster_trainings"
RULES: list[str] = importlib.import_module(f"rules.{KIND}").RULES
Scores = dict[str, dict[str, Score]]
Answers = dict[str, dict[str, list[str]]]


def trainings() -> list[Training]:
    return list(importlib.import_module(f"rules.{KIND}").trainings(SEEDS))


def judge(number: int, folder: Path) -> Answers:
    """Trains, in a process of its own, and asks in both ways."""
    os.environ["SMDEBUG_LOG_LEVEL"] = "off"
    training = trainings()[number]
    train(training, folder)
    smdebug = str(program("smdebug"))
    return {way: fired(smdebug, training, folder, robust) for way, robust in WAYS.items()}


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    folder = tmp_path_factory.mktemp("trainings")
    every = trainings()
    scores: Scores = {way: {} for way in WAYS}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=spawn) as pool:
        answers = pool.map(judge, range(len(every)), [folder] * len(every), chunksize=4)
        for training, answer in zip(every, answers):
            for way in WAYS:
                add(scores[way], training, answer[way])
    return scores


def false_alarms(scores: dict[str, Score]) -> Iterator[str]:
    for rule, score in sorted(scores.items()):
        yield from (f"{rule} on {alarm}" for alarm in score.false_alarms)


def test_the_table(scores: Scores, capsys: pytest.CaptureFixture[str]) -> None:
    """Shows it, and each false alarm of the documented defaults."""
    with capsys.disabled():
        print("\n" + table(scores, RULES))
        print("\nFalse alarms of the documented defaults:")
        print("\n".join(false_alarms(scores["documented"])))
    assert sorted(scores["documented"]) == RULES


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", RULES)
def test_every_fault_is_found(scores: Scores, rule: str, way: str) -> None:
    score = scores[way][rule]
    assert score.found > 0
    assert score.missed == []


@pytest.mark.parametrize("rule", RULES)
def test_robust_rules_raise_no_false_alarm(scores: Scores, rule: str) -> None:
    assert scores["robust"][rule].false_alarms == []
