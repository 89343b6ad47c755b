"""Precision and recall of every rule, with documented defaults and with robust=true."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import torch
from rules.quality import RULES, Score, add, fired, table, train, trainings
from support.driver import program

WAYS = {"documented": False, "robust": True}
Scores = dict[str, dict[str, Score]]
Answers = dict[str, dict[str, list[str]]]


def judge(number: int, folder: Path) -> Answers:
    """Trains, in a process of its own, and asks in both ways."""
    os.environ["SMDEBUG_LOG_LEVEL"] = "off"
    torch.set_num_threads(1)
    training = list(trainings())[number]
    train(training, folder)
    smdebug = str(program("smdebug"))
    return {way: fired(smdebug, training, folder, robust) for way, robust in WAYS.items()}


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    folder = tmp_path_factory.mktemp("trainings")
    every = list(trainings())
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
        print("\n" + table(scores))
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
