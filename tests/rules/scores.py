"""Asks every rule about trainings that go wrong and trainings that go well, and counts."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

MakeRun = Callable[[int, Path], None]


@dataclasses.dataclass(frozen=True)
class Training:
    """One run, what is asked about it, and the rules that have to fire at it."""

    name: str
    seed: int
    make: MakeRun
    questions: Mapping[str, str]  # Parameters by rule.
    broken: tuple[str, ...] = ()
    # Makes the run that it is compared with.
    make_other: MakeRun | None = None

    @property
    def folder(self) -> str:
        return f"{self.name}_{self.seed}"

    @property
    def other_folder(self) -> str:
        return f"{self.folder}_other"


def train(training: Training, folder: Path) -> Path:
    """Runs it; where the run is."""
    out_dir = folder / training.folder
    training.make(training.seed, out_dir)
    if training.make_other is not None:
        training.make_other(training.seed, folder / training.other_folder)
    return out_dir


def spec(rule: str, parameters: str, robust: bool) -> str:
    parts = [rule, parameters, "robust=true" if robust else ""]
    return ":".join(part for part in parts if part)


def fired(smdebug: str, training: Training, folder: Path, robust: bool) -> dict[str, list[str]]:
    """The findings of each rule that fired, as texts."""
    command = [smdebug, "check", "--json", "--no-reports", str(folder / training.folder)]
    for rule, parameters in training.questions.items():
        command += ["--rule", spec(rule, parameters, robust)]
    if training.make_other is not None:
        command += ["--other-trial", str(folder / training.other_folder)]
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
    for rule in training.questions:
        score = scores.setdefault(rule, Score())
        if rule in training.broken:
            if rule in answers:
                score.found += 1
            else:
                score.missed.append(training.folder)
        elif not training.broken and rule in answers:
            score.false_alarms.append(f"{training.folder}: {answers[rule][0]}")


def table(scores: dict[str, dict[str, Score]], rules: list[str]) -> str:
    """Precision and recall of each rule, for each way of asking."""
    lines = [f"{'rule':<28}" + "".join(f"{way + ': precision':>24}{'recall':>8}" for way in scores)]
    for rule in rules:
        row = f"{rule:<28}"
        for by_rule in scores.values():
            score = by_rule[rule]
            asked = score.found + len(score.missed)
            recall = f"{score.recall:.2f}" if asked else "-"
            row += f"{score.precision:>24.2f}{recall:>8}"
        lines.append(row)
    return "\n".join(lines)
