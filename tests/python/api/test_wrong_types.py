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

WRONG: dict[str, Callable[[Any], object]] = {
    r"rules: 3 is not allowed; expected a rule": lambda run: check(run, 3),
    r"rules: 3 is not allowed; expected a rule, or a list": lambda run: check(run, ["AllZero", 3]),
    r"run: 3 is not allowed; expected a path": lambda _: check(3, "AllZero"),
    r"start_step: 'a' .* a whole number": lambda run: check(run, "AllZero", start_step="a"),
    r"end_step: 'a' .* a whole number": lambda run: check(run, "AllZero", end_step="a"),
    r"worker: 3 .* the name of a worker": lambda run: check(run, "AllZero", worker=3),
    r"all_workers: 'no' .* True or False": lambda run: check(run, "AllZero", all_workers="no"),
    r"other_trials: 3 .* a list of paths": lambda run: check(run, "AllZero", other_trials=3),
    r"other_trials: 'a' .* a list of paths": lambda run: check(run, "AllZero", other_trials="a"),
    r"other_trials: 4 .* a path": lambda run: check(run, "AllZero", other_trials=[4]),
    r"include_regex: 3 .* a regular expression": lambda _: Collection("c", [3]),
    r"tensor_names: 3 .* a name": lambda _: Collection("c", tensor_names=[3]),
    r"save_config: '3' .* a SaveConfig": lambda _: Collection("c", save_config=3),
    r"regex: 3 .* a regular expression": lambda run: create_trial(run).tensor_names(regex=[3]),
    r"regex: 4 .* a regular expression": lambda run: create_trial(run).to_pandas(regex=4),
    r"required_steps: 'a' .* a whole": lambda run: create_trial(run).wait_for_steps(["a"]),
    r"required_steps: 3 .* a list of": lambda run: create_trial(run).wait_for_steps(3),
    r"steps: 'a' .* a whole": lambda run: RequiredTensors(create_trial(run)).add("loss", ["a"]),
    r"steps: 3 .* a list of": lambda run: RequiredTensors(create_trial(run)).add("loss", 3),
    r"worker: 4 .* a worker": lambda run: create_trial(run).tensor("loss").value(0, worker=4),
    r"range_steps: 3 .* a tuple": lambda run: create_trial(run, range_steps=3),
    r"include_regex: \[3\] .* a list of strings": lambda run: NativeRun(run, include_regex=[3]),
    r"include_collections: 3 .* a list of strings": lambda run: NativeRun(
        run, include_collections=3
    ),
    r"save_all: 'x' .* True or False": lambda run: NativeRun(run, save_all="x"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "first")


@pytest.mark.parametrize("message", WRONG)
def test_the_argument_is_named(message: str, run: Path) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        WRONG[message](run)
