"""Running a rule over a run.

`python -m smdebug.rules.rule_invoker --help` does it from the command line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
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


def firings(
    rule_obj: Rule, start_step: int | None = 0, end_step: int | None = None
) -> Iterator[RuleEvaluationConditionMet]:
    """Checks the global steps start_step <= step < end_step, and gives each fire.

    Steps without what the rule needs are passed over. Without an end, NoMoreData is raised
    when the job has ended.
    """
    logger = get_logger()
    first = start_step or 0
    steps = itertools.count(first) if end_step is None else range(first, end_step)
    for step in steps:
        try:
            rule_obj.invoke(step)
        except (TensorUnavailableForStep, StepUnavailable, TensorUnavailable) as missing:
            logger.debug(str(missing))
        except RuleEvaluationConditionMet as fired:
            yield fired
            if fired.end_of_rule:
                break
        except NoMoreProfilerData as ended:
            logger.info(str(ended))
            break


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
    logger.info(f"Started execution of rule {name} at step {start_step or 0}")
    for fired in firings(rule_obj, start_step, end_step):
        if raise_eval_cond:
            raise fired
        logger.info(str(fired))
    logger.info(f"Ended execution of rule {name} at end_step {end_step}")


if __name__ == "__main__":
    from smdebug.rules.invoker_command import main

    raise SystemExit(main())
