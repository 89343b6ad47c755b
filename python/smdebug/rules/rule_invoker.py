"""Running a rule over a run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from smdebug.core.logger import get_logger
from smdebug.exceptions import (
    NoMoreProfilerData,
    RuleEvaluationConditionMet,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)

if TYPE_CHECKING:
    from smdebug.rules.rule import Rule


def invoke_rule(
    rule_obj: Rule,
    start_step: int | None = 0,
    end_step: int | None = None,
    raise_eval_cond: bool = False,
) -> None:
    """Checks the global steps start_step <= step < end_step, one after the other.

    Steps without what the rule needs are passed over. A rule that fires is logged,
    or ends the run over the steps if `raise_eval_cond`. Without an end, NoMoreData
    is raised when the job has ended.
    """
    logger = get_logger()
    name = type(rule_obj).__name__
    first = start_step or 0
    steps = itertools.count(first) if end_step is None else range(first, end_step)
    logger.info(f"Started execution of rule {name} at step {first}")
    for step in steps:
        try:
            rule_obj.invoke(step)
        except (TensorUnavailableForStep, StepUnavailable, TensorUnavailable) as missing:
            logger.debug(str(missing))
        except RuleEvaluationConditionMet as fired:
            if raise_eval_cond:
                raise
            logger.info(str(fired))
            if fired.end_of_rule:
                break
        except NoMoreProfilerData as ended:
            logger.info(str(ended))
            break
    logger.info(f"Ended execution of rule {name} at end_step {end_step}")
