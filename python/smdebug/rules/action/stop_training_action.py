"""Stopping a job when a rule has fired."""

from __future__ import annotations

from smdebug._internal.passed_on import passed_on
from smdebug.rules.action.core_action import CoreAction

__getattr__ = passed_on(__name__)


class StopTrainingAction(CoreAction):
    """Stops the job that writes the run, on this machine, if its name begins with a prefix."""

    def __init__(self, rule_name: str, training_job_prefix: str) -> None:
        self._training_job_prefix = training_job_prefix
        super().__init__(rule_name, "stoptraining", training_job_prefix=training_job_prefix)
