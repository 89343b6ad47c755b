"""An argument of a wrong type is named, with what was given and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from smdebug.core.collection import Collection
from smdebug.rules import check
from smdebug.rules.req_tensors import RequiredTensors
from smdebug.trials import create_trial
from support.native_run import NativeRun, make_run

NUMBER: Any = 3
WORD: Any = "a"

WRONG: dict[str, Callable[[Any], object]] = {
    r"rules: 3 is not allowed; expected a rule": lambda run: check(run, NUMBER),
    r"rules: 3 is not allowed; expected a rule, or a list": lambda run: check(
        run, ["AllZero", NUMBER]
    ),
    r"run: 3 is not allowed; expected a path": lambda _: check(NUMBER, "AllZero"),
    r"start_step: 'a' .* a whole number": lambda run: check(run, "AllZero", start_step=WORD),
    r"end_step: 'a' .* a whole number": lambda run: check(run, "AllZero", end_step=WORD),
    r"worker: 3 .* the name of a worker": lambda run: check(run, "AllZero", worker=NUMBER),
    r"all_workers: 'a' .* True or False": lambda run: check(run, "AllZero", all_workers=WORD),
    r"other_trials: 3 .* a list of paths": lambda run: check(run, "AllZero", other_trials=NUMBER),
    r"other_trials: 'a' .* a list of paths": lambda run: check(run, "AllZero", other_trials=WORD),
    r"other_trials: 3 .* expected a path": lambda run: check(run, "AllZero", other_trials=[NUMBER]),
    r"include_regex: 3 .* a regular expression": lambda _: Collection("c", [NUMBER]),
    r"tensor_names: 3 .* a name": lambda _: Collection("c", tensor_names=[NUMBER]),
    r"save_config: '3' .* a SaveConfig": lambda _: Collection("c", save_config=NUMBER),
    r"regex: 3 .* a regular expression": lambda run: create_trial(run).tensor_names(regex=[NUMBER]),
    r"regex: 3 .* or a list, a tuple": lambda run: create_trial(run).to_pandas(regex=NUMBER),
    r"required_steps: 'a' .* a whole": lambda run: create_trial(run).wait_for_steps([WORD]),
    r"required_steps: 3 .* a list of": lambda run: create_trial(run).wait_for_steps(NUMBER),
    r"steps: 'a' .* a whole": lambda run: RequiredTensors(create_trial(run)).add("loss", [WORD]),
    r"steps: 3 .* a list of": lambda run: RequiredTensors(create_trial(run)).add("loss", NUMBER),
    r"worker: 3 .* a worker": lambda run: create_trial(run).tensor("loss").value(0, worker=NUMBER),
    r"range_steps: 3 .* a tuple": lambda run: create_trial(run, range_steps=NUMBER),
    r"include_regex: \[3\] .* a list of strings": lambda run: NativeRun(
        run, include_regex=[NUMBER]
    ),
    r"include_collections: 3 .* a list of strings": lambda run: NativeRun(
        run, include_collections=NUMBER
    ),
    r"save_all: 'a' .* True or False": lambda run: NativeRun(run, save_all=WORD),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "first")


@pytest.mark.parametrize("message", WRONG)
def test_the_argument_is_named(message: str, run: Path) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        WRONG[message](run)
