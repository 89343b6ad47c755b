"""Boosters of XGBoost that go wrong and that go well, and what is asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Callable

from rules.boosters import FAULTS, HEALTHY, BoosterJob, run
from rules.scores import MakeRun, Training

QUESTIONS = {
    "AllZero": "collection_names=labels,predictions",
    "ClassImbalance": "",
    "Confusion": "",
    "FeatureImportanceOverweight": "",
    "LossNotDecreasing": "",
    "Overfit": "",
    "Overtraining": "",
    "TreeDepth": "",
}
RULES = sorted(QUESTIONS)


def _booster(make: Callable[[int], BoosterJob]) -> MakeRun:
    return lambda seed, out_dir: run(make(seed), out_dir)


def trainings(seeds: Iterable[int]) -> Iterator[Training]:
    for seed in seeds:
        for job, rules in FAULTS.items():
            yield Training(job.__name__, seed, _booster(job), QUESTIONS, rules)
        for job in HEALTHY:
            yield Training(job.__name__, seed, _booster(job), QUESTIONS)
