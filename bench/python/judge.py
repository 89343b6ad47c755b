"""A rule in Python, as the documents of smdebug 1.0 write one, over a finished run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from smdebug.rules import Rule, invoke_rule
from smdebug.trials import create_trial


class VanishingGradient(Rule):  # type: ignore[misc, unused-ignore]  # 1.0 has no types.
    """Whether the mean magnitude of any gradient is small."""

    def __init__(self, base_trial: Any, threshold: float = 1e-7) -> None:  # noqa: ANN401
        super().__init__(base_trial, action_str="")
        self.threshold = threshold

    def invoke_at_step(self, step: int) -> bool:
        for name in self.base_trial.tensor_names(collection="gradients"):
            mean = self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
            if mean < self.threshold:
                return True
        return False


def judge_rate(run: Path, steps: int, repetitions: int = 3) -> float:
    """Steps per second over the run that bench/rules_bench.cc writes: the best of several."""
    trial = create_trial(str(run))
    assert len(trial.steps()) >= steps
    assert len(trial.tensor_names(collection="gradients")) == 50
    rule = VanishingGradient(trial)
    best = 0.0
    for _ in range(repetitions):
        begin = time.perf_counter()
        invoke_rule(rule, start_step=0, end_step=steps, raise_eval_cond=True)
        best = max(best, steps / (time.perf_counter() - begin))
    return best
