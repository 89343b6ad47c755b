"""Rules about losses and the beginning of a training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rule_definitions.definitions.run import Pick, Run, Step, each, mean, variance


def _mean_loss(step: Step, pick: Pick) -> float | None:
    losses = [mean(value) for name, value in step.tensors.items() if pick(name) and value.size]
    return float(np.mean(losses)) if losses else None


def poor_weight_initialization(
    run: Run,
    pick_inputs: Pick,
    pick_gradients: Pick,
    pick_losses: Pick,
    threshold: float = 10,
    distribution_range: float = 0.001,
    patience: int = 5,
    steps: int = 10,
) -> list[int]:
    """In the first steps layers differ, gradients are all alike or the loss does not fall."""
    best, since, looked_at = np.inf, 0, 0
    fired = []
    for number, step in run.items():
        inputs = [v for name, v in step.tensors.items() if pick_inputs(name) and v.size]
        gradients = [v for name, v in step.tensors.items() if pick_gradients(name) and v.size]
        loss = _mean_loss(step, pick_losses)
        if not inputs and not gradients and loss is None:
            continue
        looked_at += 1
        if looked_at > steps:
            break
        variances = [v for v in map(variance, inputs) if not np.isnan(v)]
        ranges = [
            float(np.subtract(*np.percentile(value.astype(np.float64), (95, 5))))
            for value in gradients
            if value.size >= 8
        ]
        is_stuck = False
        if loss is not None:
            falls = loss < best
            best, since = (loss, 0) if falls else (best, since + 1)
            is_stuck = since >= patience
        are_alike = any(spread < distribution_range for spread in ranges)
        layers_differ = len(variances) >= 2 and max(variances) > threshold * min(variances)
        if layers_differ or are_alike or is_stuck:
            fired.append(number)
    return fired


def loss_not_decreasing(
    run: Run,
    pick: Pick,
    num_steps: int = 10,
    diff_percent: float = 0.1,
    increase_threshold_percent: float = 5,
    mode: str | None = None,
) -> list[int]:
    """Every num_steps: the loss fell by too little, rose by too much, or is NaN or infinite.

    Until there is a loss, every single number is taken for one.
    """
    past: dict[tuple[str, str], list[tuple[int, float]]] = {}
    last_check: dict[tuple[str, str], int] = {}
    fired = set()
    has_losses = False
    for number, step, name, value in each(run, lambda _: True):
        has_losses = has_losses or any(map(pick, step.tensors))
        if not pick(name) if has_losses else value.size != 1:
            continue
        now = mean(value)
        places = {"GLOBAL": number, step.mode: step.mode_step}
        for known, place in places.items():
            past.setdefault((name, known), []).append((place, now))
        wanted = mode or next(m for m in ("EVAL", "TRAIN", "GLOBAL") if (name, m) in past)
        if wanted not in places:
            continue
        key = (name, wanted)
        at = places[wanted]
        older = [loss for when, loss in past[key] if when <= at - num_steps]
        is_due = key not in last_check or at - last_check[key] >= num_steps
        if not older or not is_due:
            continue
        last_check[key] = at
        if _does_not_fall(older[-1], now, diff_percent, increase_threshold_percent):
            fired.add(number)
    return sorted(fired)


def _does_not_fall(before: float, now: float, diff_percent: float, increase: float) -> bool:
    if np.isnan(now) or now == np.inf:
        return True
    if before == 0:
        percent = 0.0 if now >= 0 else np.inf
    else:
        with np.errstate(invalid="ignore"):
            percent = 100 * float(np.float64(before) - now) / abs(before)
    return percent < diff_percent if now <= before else -percent > increase


@dataclass
class _Blocks:
    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    last_validation: int = -1
    exceeding: int = 0

    def exceeds_for(self, patience: int, start_step: int, ratio_threshold: float) -> bool:
        """Judges the block of validation that has ended."""
        training = float(np.mean(self.training)) if self.training else 0.0
        is_judged = self.last_validation >= start_step and training != 0
        if is_judged:
            ratio = (np.mean(self.validation) - training) / abs(training)
            self.exceeding = self.exceeding + 1 if ratio > ratio_threshold else 0
        self.training, self.validation = [], []
        return is_judged and self.exceeding >= patience


def overfit(
    run: Run, pick: Pick, start_step: int = 0, patience: int = 1, ratio_threshold: float = 0.1
) -> list[int]:
    """The loss of validation is above that of training, block after block."""
    tensors: dict[str, _Blocks] = {}
    how = (patience, start_step, ratio_threshold)
    fired = set()
    for number, step, name, value in each(run, pick):
        blocks = tensors.setdefault(name, _Blocks())
        if step.mode == "EVAL":
            blocks.validation.append(mean(value))
            blocks.last_validation = number
        elif step.mode == "TRAIN":
            if blocks.validation and blocks.exceeds_for(*how):
                fired.add(number)
            blocks.training.append(mean(value))
    if any([blocks.validation and blocks.exceeds_for(*how) for blocks in tensors.values()]):
        fired.add(max(run))
    return sorted(fired)


def overfit_of_boosters(
    run: Run, patience: int = 1, ratio_threshold: float = 0.1, start_step: int = 0
) -> list[int]:
    """The metric of validation is above that of training, step after step."""
    exceeding: dict[str, int] = {}
    fired = set()
    for number, step, name, value in each(run, lambda name: not name.startswith("train-")):
        phase, _, metric = name.partition("-")
        training = step.tensors.get(f"train-{metric}")
        if phase not in ("validation", "eval", "test") or training is None:
            continue
        if number < start_step or mean(training) == 0:
            continue
        ratio = (mean(value) - mean(training)) / abs(mean(training))
        exceeding[name] = exceeding.get(name, 0) + 1 if ratio > ratio_threshold else 0
        if exceeding[name] >= patience:
            fired.add(number)
    return sorted(fired)


def overtraining(
    run: Run,
    pick: Pick,
    patience_train: int = 5,
    patience_validation: int = 10,
    delta: float = 0.01,
) -> list[int]:
    """Neither phase has found a better loss for as long as its patience."""
    best = {"training": np.inf, "validation": np.inf}
    since = {"training": 0, "validation": 0}
    seen = {"training": 0, "validation": 0}
    fired = []
    for number, step in run.items():
        loss = _mean_loss(step, pick)
        if loss is None or step.mode == "PREDICT":
            continue
        phase = "validation" if step.mode == "EVAL" else "training"
        seen[phase] += 1
        if loss < np.inf and best[phase] - loss > delta:
            best[phase] = loss
            since[phase] = 0
        else:
            since[phase] += 1
        done = seen["validation"] == 0 or since["validation"] >= patience_validation
        if since["training"] >= patience_train and done:
            fired.append(number)
    return fired
