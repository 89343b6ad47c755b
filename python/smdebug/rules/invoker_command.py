"""`python -m smdebug.rules.rule_invoker`: one rule over one run.

Besides the options that --help lists, each parameter of the rule is one: --threshold 0.1. Exits
with 0 if the rule did not fire, and with 1 if it did or could not be evaluated. With --serve alone
it evaluates a rule for the `smdebug` program, as smdebug.rules.rule_server describes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from smdebug.analysis.utils import parse_bool, parse_list_from_str
from smdebug.exceptions import NoMoreData
from smdebug.rules.rule_classes import convert_parameters, find_rule, make_rule
from smdebug.rules.rule_invoker import firings
from smdebug.trials import create_trial

_OK, _FIRED = 0, 1
_MOST_STEPS = 1000


def _parse(argv: Sequence[str]) -> tuple[argparse.Namespace, dict[str, str]]:
    parser = argparse.ArgumentParser(
        prog="python -m smdebug.rules.rule_invoker",
        description="Checks a run with one rule, until the job has ended.",
        epilog="Each parameter of the rule is an option, too: --threshold 0.1",
        allow_abbrev=False,
    )
    parser.add_argument("--trial-dir", required=True, help="the run")
    parser.add_argument(
        "--rule-name", required=True, help="a built-in rule, or path/to/file.py:ClassName"
    )
    parser.add_argument("--other-trials", help="runs to compare with, separated by commas")
    parser.add_argument("--start-step", type=int, help="the first step, over all modes")
    parser.add_argument("--end-step", type=int, help="steps below this one")
    parser.add_argument(
        "--raise-rule-eval-cond-exception", default="false", help="end when the rule fires"
    )
    parser.add_argument("--json", action="store_true", help="one object per line")
    options, rest = parser.parse_known_args(argv)
    given: dict[str, str] = {}
    words = iter(rest)
    for word in words:
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            parser.error(f"{word} is not an option")
        if not equals and (value := next(words, "")) == "":
            parser.error(f"{name} needs a value")
        given[name[2:].replace("-", "_")] = value
    return options, given


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    if words == ["--serve"]:
        from smdebug.rules.rule_server import serve

        return serve()
    options, texts = _parse(words)
    steps = (options.start_step, options.end_step)
    rule_class = find_rule(options.rule_name)
    given = convert_parameters(rule_class, texts, has_others=options.other_trials is not None)
    trial = create_trial(options.trial_dir, range_steps=None if steps == (None, None) else steps)
    others = [create_trial(path) for path in parse_list_from_str(options.other_trials)]
    rule = make_rule(rule_class, trial, others, given)
    fired_total = 0
    fired_steps: list[int] = []  # The first ones.
    status, details = "NoIssuesFound", ""
    try:
        for fired in firings(rule, *steps):
            if parse_bool(options.raise_rule_eval_cond_exception, False):
                raise fired
            fired_total += 1
            if len(fired_steps) < _MOST_STEPS:
                fired_steps.append(fired.step)
            _tell(options.json, {"event": "finding", "step": fired.step, "message": str(fired)})
            status, details = "IssuesFound", details or str(fired)
    except NoMoreData:
        pass
    report = {
        "event": "report",
        "name": rule.rule_name,
        "status": status,
        "details": details,
        "fired_total": fired_total,
        "fired_steps": fired_steps,
    }
    _tell(options.json, report)
    return _FIRED if fired_steps else _OK


def _tell(as_json: bool, told: dict[str, Any]) -> None:
    if as_json:
        print(json.dumps(told), flush=True)
    elif told["event"] == "finding":
        print(f"step {told['step']}: {told['message']}", flush=True)
    else:
        steps = "1 step" if told["fired_total"] == 1 else f"{told['fired_total']} steps"
        print(f"{told['name']}  {told['status']} at {steps}", flush=True)
