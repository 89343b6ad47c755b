"""Networks of PyTorch that go wrong and that go well, and what is asked about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from rules.faults import FAULTS
from rules.healthy import HEALTHY
from rules.scores import MakeRun, Training
from rules.training import Job, run

from rules import twins

# Every rule that a training with PyTorch can be asked about, with what it cannot do without.
QUESTIONS = {
    "AllZero": "collection_names=gradients,relu_output:tensor_regex=relu._output",
    "CheckInputImages": "",
    "ClassImbalance": "",
    "Confusion": "",
    "DeadRelu": "",
    "ExplodingTensor": "",
    "LossNotDecreasing": "",
    "NLPSequenceRatio": "",
    "Overfit": "",
    "Overtraining": "",
    "PoorWeightInitialization": "",
    "SaturatedActivation": "",
    "TensorVariance": "collection_names=weights:min_threshold=1e-9:max_threshold=100",
    "UnchangedTensor": "collection_names=weights",
    "VanishingGradient": "",
    "WeightUpdateRatio": "",
}

RULES = sorted({*QUESTIONS, "SimilarAcrossRuns", "StalledTrainingRule"})


def _torch(make: Callable[[int], Job]) -> MakeRun:
    def train(seed: int, out_dir: Path) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        run(make(seed), out_dir)

    return train


def trainings(seeds: Iterable[int]) -> Iterator[Training]:
    for seed in seeds:
        for name, (job, rules) in FAULTS.items():
            yield Training(name, seed, _torch(job), QUESTIONS, rules)
        for name, job in HEALTHY.items():
            yield Training(name, seed, _torch(job), QUESTIONS)
        yield from _judged_by_time(seed)
        yield from _judged_by_another(seed)


def _judged_by_time(seed: int) -> Iterator[Training]:
    rule = "StalledTrainingRule"
    yield Training("stalled", seed, twins.stalled, {rule: ""}, (rule,))
    yield Training("under_way", seed, twins.under_way, {rule: ""})
    yield Training("over", seed, twins.over, {rule: ""})


def _judged_by_another(seed: int) -> Iterator[Training]:
    rule = "SimilarAcrossRuns"
    for make, rules in (
        (twins.other_seed, (rule,)),
        (twins.same_seed, ()),
        (twins.other_hardware, ()),
    ):
        yield Training(make.__name__, seed, make, {rule: ""}, rules, twins.descend)
