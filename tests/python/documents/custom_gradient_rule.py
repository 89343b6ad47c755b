"""A rule as users write it: it fires where gradients are small."""

from __future__ import annotations

from typing import Any

from smdebug.rules.rule import Rule


class CustomGradientRule(Rule):
    """Fires where the mean magnitude of a gradient is below the threshold."""

    def __init__(self, base_trial: Any, threshold: float = 10.0) -> None:  # noqa: ANN401
        super().__init__(base_trial)
        self.threshold = float(threshold)

    def invoke_at_step(self, step: int) -> bool:
        for name in self.base_trial.tensor_names(collection="gradients"):
            abs_mean = self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
            if abs_mean < self.threshold:
                return True
        return False
