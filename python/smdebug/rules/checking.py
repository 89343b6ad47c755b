"""Running many rules over a run in one pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Union

from smdebug import _core
from smdebug.trials.trial import Trial
from smdebug.trials.utils import create_trial

Run = Union[str, "os.PathLike[str]", Trial]


def check(
    run: Run,
    rules: str | Iterable[str],
    start_step: int = 0,
    end_step: int | None = None,
    *,
    worker: str | None = None,
    all_workers: bool = False,
    other_trials: Iterable[Run] = (),
    write_reports: bool = False,
) -> list[dict[str, Any]]:
    """Judges the steps that a run has now, each read once, with built-in rules.

    A rule is "Name", "Name:param=value:param=value" or 'Name{"param": "value"}'. The steps are
    start_step <= step < end_step, over all modes. A tensor that several workers saved is judged
    by what the first by name saved, or `worker`, or with `all_workers` each apart. The reports,
    in the order of the rules, are those of `smdebug check --json`; with `write_reports` they are
    kept in `<run>/rules/`, too. SMDebugValueError and InsufficientInformationForRuleInvocation for
    rules that are refused; one that fails later has the status Error.
    """
    trial = run if isinstance(run, Trial) else create_trial(os.fspath(run))
    others = [
        other._place if isinstance(other, Trial) else os.fspath(other) for other in other_trials
    ]
    texts = _core.check_run(
        trial._reader,
        [rules] if isinstance(rules, str) else list(rules),
        start_step,
        end_step,
        worker,
        all_workers,
        others,
        write_reports,
    )
    return [json.loads(text) for text in texts]
