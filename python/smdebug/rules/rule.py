"""The base class of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from smdebug.analysis.utils import no_refresh
from smdebug.core.logger import get_logger
from smdebug.core.modes import ModeKeys
from smdebug.exceptions import RuleEvaluationConditionMet, StepUnavailable
from smdebug.rules.action import Actions
from smdebug.rules.finding import Finding
from smdebug.rules.req_tensors import RequiredTensors, list_of_trials

if TYPE_CHECKING:
    from smdebug.trials.trial import Trial


class Rule(ABC):
    """A condition that a run is checked for, step by step.

    A rule defines invoke_at_step(), which returns whether the condition is met. It may
    define set_required_tensors() to have tensors read, or their absence found, first.
    """

    def __init__(
        self,
        base_trial: Trial,
        action_str: str | None = "",
        other_trials: Trial | list[Trial] | None = None,
    ) -> None:
        self.base_trial = base_trial
        others = list_of_trials("other_trials", other_trials)
        self.other_trials = None if other_trials is None else others
        self.trials = [base_trial, *others]
        self.req_tensors = RequiredTensors(base_trial, others)
        self.logger = get_logger()
        self.rule_name = type(self).__name__
        self.action_str = action_str
        self.actions = Actions(
            action_str,
            self.rule_name,
            getattr(base_trial, "path", None),
            getattr(getattr(base_trial, "_reader", None), "run_id", None),
        )
        self.report: dict[str, Any] = {
            "RuleTriggered": 0,
            "Violations": 0,
            "Details": {},
            "Datapoints": 0,
            "RuleParameters": "",
        }
        self._found: list[Finding] = []

    def set_required_tensors(self, step: int) -> None:
        """Adds to `req_tensors` what invoke_at_step() needs; nothing by default."""
        del step

    @abstractmethod
    def invoke_at_step(self, step: int) -> bool | None:
        """Whether the condition is met at a global step."""

    def add_finding(
        self,
        message: str,
        *,
        tensor: str = "",
        value: float = 0.0,
        threshold: float = 0.0,
        worker: str = "",
    ) -> None:
        """Adds evidence of why the rule fires at the step that is checked.

        To be called by invoke_at_step(), which then returns True. `smdebug watch` and
        `smdebug check` show it: what was measured of which tensor, what it was compared with, and
        one sentence that a person understands.
        """
        found = Finding(
            -1, ModeKeys.GLOBAL, tensor, worker, float(value), float(threshold), message
        )
        self._found.append(found)

    def _evidence(self) -> list[Finding]:
        """Of the step that was checked last."""
        return self._found

    def invoke(self, step: int) -> None:
        """Checks a global step, once it can be read; one that has nothing but scalars, too.

        RuleEvaluationConditionMet if the condition is met there.
        """
        try:
            self.base_trial.wait_for_steps([step])
        except StepUnavailable:
            if not self.base_trial._reader.has_scalars_at(step):
                raise
        self._found = []
        with no_refresh(self.trials):
            self.req_tensors.clear()
            self.set_required_tensors(step)
            self.req_tensors.fetch()
            is_met = self.invoke_at_step(step)
        if is_met:
            self.actions.invoke(step=step)
            raise RuleEvaluationConditionMet(self.rule_name, step)
