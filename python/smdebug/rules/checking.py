"""Running many rules over a run in one pass."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any, Union

from smdebug import _core
from smdebug._internal.checks import flag, integer, names, path, refuse_type
from smdebug.exceptions import SMDebugRuntimeError, SMDebugValueError
from smdebug.trials.tensor import worker_of
from smdebug.trials.trial import Trial

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
    """Judges the steps that a run has now, each read once; it waits for none.

    A rule is "Name", "Name:param=value:param=value" or 'Name{"param": "value"}', where Name may be
    "path/to/file.py:ClassName": a process of this Python evaluates that rule. The steps are
    start_step <= step < end_step, over all modes. A tensor that several workers saved is judged
    by what the first by name saved, or `worker`, or with `all_workers` each apart. The reports,
    in the order of the rules, are those of `smdebug check --json`; with `write_reports` they are
    kept in `<run>/rules/`, too. SMDebugValueError and InsufficientInformationForRuleInvocation for
    rules that are refused; one that fails later has the status Error.
    """
    wanted = rules if isinstance(rules, str) or not isinstance(rules, Iterable) else list(rules)
    chosen = names("rules", wanted, "a rule")
    if isinstance(other_trials, (str, os.PathLike)) or not isinstance(other_trials, Iterable):
        refuse_type("other_trials", other_trials, "a list of paths or trials")
    others = [
        other._place if isinstance(other, Trial) else path("other_trials", other)
        for other in other_trials
    ]
    texts = _core.check_run(
        run._reader if isinstance(run, Trial) else _opened(path("run", run)),
        chosen,
        integer("start_step", start_step),
        None if end_step is None else integer("end_step", end_step),
        worker_of(worker),
        flag("all_workers", all_workers),
        others,
        flag("write_reports", write_reports),
        sys.executable or "",
    )
    return [json.loads(text) for text in texts]


def _opened(place: str) -> Any:
    """The run there as it is now."""
    place = place.strip()
    if not place:
        raise SMDebugValueError("check() needs the path of a run, not an empty string")
    if "://" not in place:
        place = os.path.abspath(os.path.expanduser(place))
        if not os.path.exists(place):
            raise SMDebugRuntimeError(f"{place}: no such folder")
    return _core.Trial(place, "", None, None, False)
