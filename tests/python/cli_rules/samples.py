"""Rules in Python that tests hand to the program, as texts of files."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

WriteRule = Callable[[str], Path]

# As the documents of smdebug 1.0 have their users write them.
GRADIENT_RULE = """
from smdebug.rules.rule import Rule


class CustomGradientRule(Rule):
    def __init__(self, base_trial, threshold=10.0):
        super().__init__(base_trial)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        for tname in self.base_trial.tensor_names(collection="gradients"):
            t = self.base_trial.tensor(tname)
            abs_mean = t.reduction_value(step, "mean", abs=True)
            if abs_mean > self.threshold:
                return True
        return False


class VanishingGradientRule(Rule):
    def __init__(self, base_trial, threshold=0.0000001):
        super().__init__(base_trial, action_str="")
        self.threshold = float(threshold)

    def set_required_tensors(self, step):
        for tname in self.base_trial.tensor_names(collection="gradients"):
            self.req_tensors.add(tname, steps=[step])

    def invoke_at_step(self, step):
        for tensor in self.req_tensors.get():
            abs_mean = tensor.reduction_value(step, "mean", abs=True)
            if abs_mean < self.threshold:
                self.logger.info(f"{tensor.name} at {step}: {abs_mean}")
                return True
        return False
"""

LOW_LOSS = """
class LowLoss(Rule):
    def __init__(self, base_trial, threshold: float = 0.3):
        super().__init__(base_trial)
        self.threshold = threshold

    def invoke_at_step(self, step):
        loss = self.base_trial.tensor("loss").value(step).item()
        if loss < self.threshold:
            self.add_finding(
                "the loss is too good", tensor="loss", value=loss, threshold=self.threshold
            )
        return loss < self.threshold
"""

# Never comes back from step 1.
LOOPS = """
class Loops(Rule):
    def invoke_at_step(self, step):
        while step == 1:
            pass
        return False
"""

# Tells who it is at step 1, and waits there until a file is made.
WAITS = """
import os
from pathlib import Path


class Waits(Rule):
    def __init__(self, base_trial, folder):
        super().__init__(base_trial)
        self.folder = Path(folder)

    def invoke_at_step(self, step):
        if step == 1 and not (self.folder / "go").exists():
            (self.folder / "pid.new").write_text(str(os.getpid()))
            (self.folder / "pid.new").rename(self.folder / "pid")
            os.read(os.open(self.folder / "never", os.O_RDWR), 1)
        return step == 1
"""
