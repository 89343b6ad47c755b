"""Draws docs/rules/figures: what a rule measures, in a training that goes wrong and in its twin.

PYTHONPATH=tests python -m rules.figures build/release/bin/smdebug docs/rules/figures
"""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

import numpy as np
import torch
from rules.network_trainings import QUESTIONS, trainings
from rules.plot import Chart, Points
from rules.scores import train
from smdebug import modes
from smdebug.trials import create_trial

Statistic = Callable[["Run", int], "float | None"]


class Run:
    """A run, read step by step."""

    def __init__(self, folder: Path) -> None:
        self.trial = create_trial(str(folder))
        self.counts: dict[int, int] = {}

    def steps(self) -> list[int]:
        return self.trial.steps()

    def values(
        self, step: int, collection: str | None = None, regex: str | None = None
    ) -> dict[str, np.ndarray]:
        names = self.trial.tensor_names(step=step, collection=collection, regex=regex)
        return {name: self.trial.tensor(name).value(step) for name in names}

    def earlier(self, step: int) -> int | None:
        before = [known for known in self.steps() if known < step]
        training = [known for known in before if self.trial.mode(known) == modes.TRAIN]
        return training[-1] if training else None


def _train_only(measure: Statistic) -> Statistic:
    return lambda run, step: measure(run, step) if run.trial.mode(step) == modes.TRAIN else None


def _least(numbers: list[float]) -> float | None:
    return min(numbers) if numbers else None


def _most(numbers: list[float]) -> float | None:
    return max(numbers) if numbers else None


def gradient_size(run: Run, step: int) -> float | None:
    return _least(
        [float(np.abs(g).mean()) for g in run.values(step, collection="gradients").values()]
    )


def gradient_range(run: Run, step: int) -> float | None:
    gradients = [g for g in run.values(step, collection="gradients").values() if g.size >= 8]
    return _least([float(np.subtract(*np.percentile(g, [95, 5]))) for g in gradients])


def nan_tensors(run: Run, step: int) -> float | None:
    tensors = run.values(step).values()
    return float(sum(not np.isfinite(t).all() for t in tensors if t.dtype.kind == "f"))


def dead_units(run: Run, step: int) -> float | None:
    outputs = run.values(step, regex=r"relu\d*_output_0").values()
    return _most([100 * float((out.reshape(len(out), -1) <= 0).all(0).mean()) for out in outputs])


def saturated_units(run: Run, step: int) -> float | None:
    inputs = run.values(step, regex=r"tanh\d*_input_0").values()
    return _most([100 * float((np.abs(x) >= 9.4999).all(0).mean()) for x in inputs])


def zeros(run: Run, step: int) -> float | None:
    gradients = run.values(step, collection="gradients").values()
    return _most([100 * float((g == 0).mean()) for g in gradients])


def update_ratio(run: Run, step: int) -> float | None:
    before = run.earlier(step)
    if before is None:
        return None
    ratios = []
    for name, now in run.values(step, collection="weights").items():
        old = run.trial.tensor(name).value(before)
        ratios.append(float(np.linalg.norm(now - old) / (np.linalg.norm(old) + 1e-9)))
    return _most(ratios)


def smallest_change(run: Run, step: int) -> float | None:
    before = run.earlier(step)
    if before is None:
        return None
    tensors = run.values(step, collection="weights").items()
    return _least([float(np.abs(w - run.trial.tensor(n).value(before)).max()) for n, w in tensors])


def class_ratio(run: Run, step: int) -> float | None:
    for label in run.values(step, regex="^labels$").get("labels", np.array([])).tolist():
        run.counts[label] = run.counts.get(label, 0) + 1
    if sum(run.counts.values()) < 500:
        return None
    return max(run.counts.values()) / min(run.counts.values())


def right_predictions(run: Run, step: int) -> float | None:
    found = run.values(step, regex="^(labels|predictions)$")
    if len(found) < 2:
        return None
    labels, predictions = found["labels"], found["predictions"]
    parts = []
    for number in range(4):
        mine = labels[predictions == number]
        if mine.size or (labels == number).any():
            parts.append(float((mine == number).mean()) if mine.size else 0.0)
    return _least(parts)


def loss(run: Run, step: int) -> float | None:
    losses = run.values(step, collection="losses").values()
    return float(np.mean([np.mean(x) for x in losses])) if losses else None


def validation_loss(run: Run, step: int) -> float | None:
    return loss(run, step) if run.trial.mode(step) == modes.EVAL else None


def overfit_ratio(run: Run, step: int) -> float | None:
    validation = validation_loss(run, step)
    if validation is None:
        return None
    steps = run.steps()
    train = []
    for known in reversed(steps[: steps.index(step)]):
        if run.trial.mode(known) == modes.EVAL:
            break
        train.append(loss(run, known))
    mean = float(np.mean([x for x in train if x is not None] or [math.nan]))
    return (validation - mean) / mean


def weight_variance(run: Run, step: int) -> float | None:
    return _least([float(np.var(w)) for w in run.values(step, collection="weights").values()])


def image_mean(run: Run, step: int) -> float | None:
    inputs = run.values(step, regex="^Cnn_input_0$").values()
    return _most([float(np.abs(x.mean(axis=(0, 2, 3))).max()) for x in inputs])


def padding(run: Run, step: int) -> float | None:
    inputs = run.values(step, regex="emb.*_input_0$").values()
    return _most([100 * float((x == 0).mean()) for x in inputs])


@dataclasses.dataclass(frozen=True)
class Figure:
    """What to draw for a rule."""

    fault: str
    twin: str
    label: str
    measure: Statistic
    threshold: float | None = None
    log: bool = False
    first: int | None = None  # Only so many points.


FIGURES = {
    "AllZero": Figure("dead_relu", "tanh_network", "most zeros in a gradient, %", zeros, 100),
    "CheckInputImages": Figure(
        "raw_pixels", "normalised_images", "largest channel mean", image_mean, 0.2, True
    ),
    "ClassImbalance": Figure(
        "rare_class", "uneven_classes", "largest / smallest class", class_ratio, 10
    ),
    "Confusion": Figure(
        "ignored_class", "plain", "least part of predictions right", right_predictions, 0.9
    ),
    "DeadRelu": Figure("dead_relu", "plain", "most dead units, %", dead_units, 50),
    "ExplodingTensor": Figure(
        "nan_at_a_step", "plain", "tensors with NaN or infinities", nan_tensors
    ),
    "LossNotDecreasing": Figure("zero_learning_rate", "plain", "loss", loss),
    "NLPSequenceRatio": Figure("mostly_padding", "full_sequences", "padding, %", padding, 50),
    "Overfit": Figure(
        "fifty_samples",
        "plenty_of_data",
        "(validation - training) / training",
        overfit_ratio,
        0.1,
        True,
    ),
    "Overtraining": Figure("fifty_samples", "plenty_of_data", "validation loss", validation_loss),
    "PoorWeightInitialization": Figure(
        "zero_weights", "plain", "least width of a gradient", gradient_range, 0.001, True, 10
    ),
    "SaturatedActivation": Figure(
        "saturated_tanh", "tanh_network", "most saturated units, %", saturated_units, 50
    ),
    "TensorVariance": Figure(
        "collapsed_weights", "plain", "least variance of a weight", weight_variance, 1e-9, True
    ),
    "UnchangedTensor": Figure(
        "forgotten_layer", "plain", "least change of a weight", smallest_change, None, True
    ),
    "VanishingGradient": Figure(
        "sigmoid_stack", "deep_relu", "least mean |gradient|", gradient_size, 1e-7, True
    ),
    "WeightUpdateRatio": Figure(
        "huge_learning_rate", "converged", "largest update ratio", update_ratio, 10, True
    ),
}
_TRAIN_ONLY = (update_ratio, smallest_change, right_predictions, gradient_size, gradient_range)


def fired_steps(smdebug: str, folder: Path, rule: str) -> list[int]:
    spec = f"{rule}:{QUESTIONS[rule]}" if QUESTIONS[rule] else rule
    command = [smdebug, "check", "--json", "--no-reports", str(folder), "--rule", spec]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    steps: list[int] = json.loads(answer.stdout)[0]["fired_steps"]
    return steps


def draw(smdebug: str, rule: str, figure: Figure, fault: Path, twin: Path) -> str:
    measure = figure.measure
    if measure in _TRAIN_ONLY:
        measure = _train_only(measure)
    chart = Chart(rule, figure.label, figure.threshold, figure.log)
    for name, folder in ((figure.fault, fault), (figure.twin, twin)):
        run = Run(folder)
        points: Points = []
        for step in run.steps():
            value = measure(run, step)
            if value is not None and math.isfinite(value):
                points.append((step, value))
        chart.add(name.replace("_", " "), points[: figure.first])
    chart.fired = fired_steps(smdebug, fault, rule)
    return chart.svg()


def main(smdebug: str, out: Path) -> None:
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            training.name: train(training, Path(folder))
            for training in trainings(seeds=(1,))
            if any(training.name in (figure.fault, figure.twin) for figure in FIGURES.values())
        }
        for rule, figure in FIGURES.items():
            text = draw(smdebug, rule, figure, runs[figure.fault], runs[figure.twin])
            (out / f"{rule}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
