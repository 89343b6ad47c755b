"""Arguments of a hook: what is taken in several shapes, and what is refused at the call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import smdebug.pytorch as smd
import torch
from smdebug.core.collection import Collection
from smdebug.exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError
from support.log import logged
from support.torch_hooks import MakeHook, ReadRun

WRONG: list[tuple[dict[str, Any], type[SMDebugError], str]] = [
    ({"tensorboard_dir": b"x"}, SMDebugTypeError, r"tensorboard_dir: b'x' .* a path"),
    ({"tensorboard_dir": "a\0b"}, SMDebugValueError, r"tensorboard_dir: 'a\\0b' .* NUL"),
    ({"include_regex": 5}, SMDebugTypeError, "include_regex: 5 .* a regular expression"),
    ({"include_regex": [5]}, SMDebugTypeError, "include_regex: 5 "),
    ({"include_regex": b"x"}, SMDebugTypeError, "include_regex: b'x' "),
    ({"include_regex": "["}, SMDebugValueError, r"include_regex: '\[' .* regular expression"),
    ({"rules": 5}, SMDebugTypeError, "rules: 5 .* a rule"),
    ({"rules": [5]}, SMDebugTypeError, "rules: 5 "),
    ({"include_collections": 5}, SMDebugTypeError, "include_collections: 5 .* a name"),
    ({"include_collections": [5]}, SMDebugTypeError, "include_collections: 5 "),
    ({"include_collections": [None]}, SMDebugTypeError, "include_collections: None "),
    ({"include_collections": {"a": 1}}, SMDebugTypeError, "include_collections: {'a': 1} "),
    ({"export_tensorboard": "False"}, SMDebugTypeError, "export_tensorboard: 'False' .* True or"),
    ({"save_all": "true"}, SMDebugTypeError, "save_all: 'true' "),
    ({"forwards_per_step": "2"}, SMDebugTypeError, "forwards_per_step: '2' .* whole number"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), WRONG)
def test_what_is_wrong_is_refused_with_parameter_value_and_what_is_allowed(
    arguments: dict[str, Any],
    error: type[SMDebugError],
    text: str,
    make_hook: MakeHook,
    run_dir: Path,
) -> None:
    with pytest.raises(error, match=text):
        make_hook(**arguments)
    assert not run_dir.exists()


@pytest.mark.parametrize("out_dir", [b"x", 5, ["x"]])
def test_a_folder_that_is_no_path_is_refused(out_dir: Any) -> None:
    with pytest.raises(SMDebugTypeError, match=r"out_dir: .* a path"):
        smd.Hook(out_dir)


def test_a_folder_with_a_nul_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SMDebugValueError, match=r"out_dir: .* NUL"):
        smd.Hook(f"{tmp_path}/a\0b")
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_refused_as_an_error_of_smdebug() -> None:
    with pytest.raises(SMDebugError, match=r"out_dir .*'None' is not allowed; expected a path"):
        smd.Hook(None)


@pytest.mark.parametrize("of", [list, tuple, set, frozenset])
def test_names_may_be_in_any_collection(of: Any, make_hook: MakeHook, read_run: ReadRun) -> None:
    hook = make_hook(
        include_collections=of(["weights", "gradients"]),
        include_regex=of(["Linear_input"]),
        rules=of(["ExplodingTensor"]),
    )
    net = torch.nn.Linear(2, 1)
    hook.register_module(net)
    net(torch.ones(1, 2)).sum().backward()
    hook.save_tensor("mine", torch.ones(1), of(["one", "two"]))
    assert read_run().tensor_names(regex=of(["weight", "input"])) == [
        "Linear_input_0",
        "Linear_weight",
        "gradient/Linear_weight",
    ]


def test_one_name_is_a_list_of_one(make_hook: MakeHook) -> None:
    hook = make_hook(include_collections="weights", include_regex="a", rules="ExplodingTensor")
    assert hook.include_collections == ["losses", "weights"]
    assert (hook.include_regex, hook.rules) == (["a"], ["ExplodingTensor"])
    assert Collection("c", tensor_names="a").tensor_names == {"a"}
    assert smd.ReductionConfig(reductions="min", norms=("l1",)).reductions == ["min"]


BAD_PATTERN = r"collection unused: include_regex: '\[' is not allowed; expected a regular"


def test_a_bad_pattern_is_refused_by_the_call_that_gives_it(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    hook = make_hook(save_all=True)
    unused = hook.get_collection("unused")
    with pytest.raises(SMDebugValueError, match=BAD_PATTERN):
        unused.include("[")
    with pytest.raises(SMDebugValueError, match=BAD_PATTERN):
        unused.include(("good", ["["]))
    with pytest.raises(SMDebugValueError, match=BAD_PATTERN):
        unused.include_regex = ["["]
    with pytest.raises(SMDebugValueError, match=BAD_PATTERN):
        Collection("unused", include_regex="[")
    stored = Collection.from_dict({"name": "unused", "include_regex": ["["]})
    with pytest.raises(SMDebugValueError, match=BAD_PATTERN):
        hook.add_collection(stored)
    unused.include_regex.append(3)  # type: ignore[arg-type]
    with pytest.raises(SMDebugTypeError, match=r"include_regex: 3 .* a regular expression"):
        hook.add_collection(unused)
    unused.include_regex.clear()
    torch_step(hook)
    assert read_run().steps() == [0]


def test_a_bad_pattern_that_slipped_in_costs_its_collection_alone(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    with logged() as texts:
        hook = make_hook(include_collections=["weights", "odd"])
        hook.get_collection("odd").include_regex.append("[")
        torch_step(hook)
    assert any("collection odd: include_regex: '['" in text for text in texts)
    assert "Linear_weight" in read_run().tensor_names()


def test_what_is_no_pattern_is_left_out_and_told_of(make_hook: MakeHook, read_run: ReadRun) -> None:
    with logged() as texts:
        hook = make_hook(include_collections=["odd"])
        hook.get_collection("odd").include_regex.extend(["weight", 3])  # type: ignore[list-item]
        hook.save_scalar("early", 1)  # The core's hook is made for it.
        torch_step(hook)
    assert [text for text in texts if "include_regex: 3 is not a regular expression" in text]
    assert "Linear_weight" in read_run().tensor_names(collection="odd")
    assert read_run().has_tensor("early")


def test_add_module_tensors_takes_modules_alone(make_hook: MakeHook) -> None:
    mine = make_hook().get_collection("mine")
    with pytest.raises(SMDebugTypeError, match=r"module: 'fc' .* a torch\.nn\.Module"):
        mine.add_module_tensors("fc")
    with pytest.raises(SMDebugTypeError, match=r"inputs: 'no' .* True or False"):
        mine.add_module_tensors(torch.nn.Linear(2, 1), inputs="no")  # type: ignore[arg-type]
    assert mine.modules == {}


def torch_step(hook: smd.Hook) -> None:
    net = torch.nn.Linear(2, 1)
    hook.register_module(net)
    net(torch.ones(1, 2)).sum().backward()
    hook.close()


def test_steps_may_be_a_range_a_tuple_or_a_set() -> None:
    assert smd.SaveConfig(save_steps=range(3)).save_steps == [0, 1, 2]
    assert smd.SaveConfig(save_steps=(4, 2)).save_steps == [4, 2]
    assert smd.SaveConfig(save_steps={4, 2}).save_steps == [2, 4]
    with pytest.raises(SMDebugValueError, match="save_steps"):
        smd.SaveConfig(save_steps="12")  # type: ignore[arg-type]


@pytest.mark.parametrize("parameter", ["save_interval", "start_step", "end_step"])
def test_a_number_beyond_the_largest_is_refused_with_it(parameter: str) -> None:
    with pytest.raises(SMDebugValueError, match=f"{parameter}: '1{'0' * 20}' .* {sys.maxsize}"):
        smd.SaveConfig(**{parameter: 10**20})  # type: ignore[arg-type]
    with pytest.raises(SMDebugValueError, match=f"save_steps: .* {sys.maxsize}"):
        smd.SaveConfig(save_steps=[10**20])
