"""Trains what goes wrong and what goes well, asks every rule, and counts right and wrong answers."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from rules.faults import FAULTS
from rules.healthy import HEALTHY
from rules.training import run

SEEDS = (1, 2, 3)

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


@dataclasses.dataclass(frozen=True)
class Training:
    """One training, and the rules that have to fire at it."""

    name: str
    seed: int
    broken: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return f"{self.name}_{self.seed}"


def trainings(seeds: Iterable[int] = SEEDS) -> Iterator[Training]:
    for seed in seeds:
        for name, (_, rules) in FAULTS.items():
            yield Training(name, seed, rules)
        for name in HEALTHY:
            yield Training(name, seed)


def train(training: Training, folder: Path) -> Path:
    """Runs it; where the run is."""
    out_dir = folder / training.folder
    torch.manual_seed(training.seed)
    make = FAULTS[training.name][0] if training.broken else HEALTHY[training.name]
    run(make(training.seed), out_dir)
    return out_dir


def spec(rule: str, robust: bool) -> str:
    parts = [rule, QUESTIONS[rule], "robust=true" if robust else ""]
    return ":".join(part for part in parts if part)


def fired(smdebug: str, out_dir: Path, robust: bool) -> dict[str, list[str]]:
    """The findings of each rule that fired, as texts."""
    rules = [argument for rule in QUESTIONS for argument in ("--rule", spec(rule, robust))]
    command = [smdebug, "check", "--json", "--no-reports", str(out_dir), *rules]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return {
        report["name"]: [
            f"step {finding['step']}, {finding['tensor']}: {finding['message']}"
            for finding in report["findings"]
        ]
        for report in json.loads(answer.stdout)
        if report["status"] == "IssuesFound"
    }


@dataclasses.dataclass
class Score:
    """How often a rule was right."""

    found: int = 0
    missed: list[str] = dataclasses.field(default_factory=list)
    false_alarms: list[str] = dataclasses.field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found / max(1, self.found + len(self.missed))

    @property
    def precision(self) -> float:
        return self.found / max(1, self.found + len(self.false_alarms))


def add(scores: dict[str, Score], training: Training, answers: dict[str, list[str]]) -> None:
    """Counts the answers about one training. What else a fault makes fire does not count."""
    for rule in QUESTIONS:
        score = scores.setdefault(rule, Score())
        if rule in training.broken:
            if rule in answers:
                score.found += 1
            else:
                score.missed.append(training.folder)
        elif not training.broken and rule in answers:
            score.false_alarms.append(f"{training.folder}: {answers[rule][0]}")


def table(scores: dict[str, dict[str, Score]]) -> str:
    """Precision and recall of each rule, for each way of asking."""
    lines = [f"{'rule':<26}" + "".join(f"{way + ': precision':>24}{'recall':>8}" for way in scores)]
    for rule in QUESTIONS:
        row = f"{rule:<26}"
        for by_rule in scores.values():
            score = by_rule[rule]
            asked = score.found + len(score.missed)
            recall = f"{score.recall:.2f}" if asked else "-"
            row += f"{score.precision:>24.2f}{recall:>8}"
        lines.append(row)
    return "\n".join(lines)
