"""`python -m smdebug.rules.rule_invoker`: one rule over one run.

Beside the options that --help tells, each parameter of the rule is one: --threshold 0.1. Exits with
0 if the rule did not fire, and with 1 if it did or could not be evaluated.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smdebug.analysis.utils import parse_bool, parse_list_from_str
from smdebug.exceptions import NoMoreData
from smdebug.rules.builtin import BUILT_IN_RULES
from smdebug.rules.rule import Rule
from smdebug.rules.rule_invoker import firings
from smdebug.trials import Trial, create_trial

_OK, _FIRED = 0, 1


def find_rule(name: str) -> type[Rule]:
    """A built-in rule, in any letter case, or `path/to/file.py:ClassName`; else ValueError."""
    path, colon, class_name = name.rpartition(":")
    if colon and path.endswith(".py"):
        return _load(Path(path), class_name)
    for known, rule in BUILT_IN_RULES.items():
        if known.lower() == name.lower():
            return rule
    raise ValueError(
        f"'{name}' is not a rule; expected path/to/file.py:ClassName or one of "
        f"{', '.join(BUILT_IN_RULES)}"
    )


def _load(path: Path, class_name: str) -> type[Rule]:
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    rule = getattr(module, class_name, None)
    if not (isinstance(rule, type) and issubclass(rule, Rule)):
        raise ValueError(f"{path} has no class {class_name} that derives from smdebug.rules.Rule")
    return rule


def make_rule(rule: type[Rule], trial: Trial, others: list[Trial], given: dict[str, str]) -> Rule:
    """The rule with the parameters that were given, as texts.

    ValueError for one that it does not have, and for one that it needs.
    """
    known = list(inspect.signature(rule).parameters.values())[1:]
    names = [parameter.name for parameter in known]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known)
    for name in given:
        if name not in names and not takes_any:
            raise ValueError(f"{rule.__name__} has no parameter {name}; it has {', '.join(names)}")
    arguments: dict[str, Any] = dict(given)
    if "other_trials" in names and others:
        arguments["other_trials"] = others
    for parameter in known:
        variadic = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.name in arguments or variadic:
            continue
        if parameter.default is parameter.empty:
            raise ValueError(f"{rule.__name__} needs --{parameter.name}")
    return rule(trial, **arguments)


def _parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, str]]:
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
    options, given = _parse(argv)
    steps = (options.start_step, options.end_step)
    rule_class = find_rule(options.rule_name)
    trial = create_trial(options.trial_dir, range_steps=None if steps == (None, None) else steps)
    others = [create_trial(path) for path in parse_list_from_str(options.other_trials)]
    rule = make_rule(rule_class, trial, others, given)
    fired_steps: list[int] = []
    status, details = "NoIssuesFound", ""
    try:
        for fired in firings(rule, *steps):
            if parse_bool(options.raise_rule_eval_cond_exception, False):
                raise fired
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
        print(f"{told['name']}  {told['status']} at {len(told['fired_steps'])} steps", flush=True)
