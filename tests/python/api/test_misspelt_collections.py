"""A name of a collection that is misspelt is answered in the same words wherever it is given."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import smdebug.pytorch as smd  # noqa: E402
from smdebug.exceptions import InvalidCollectionConfiguration, SMDebugValueError  # noqa: E402
from support.driver import program  # noqa: E402
from support.log import logged  # noqa: E402
from support.torch_nets import Net, fit  # noqa: E402

UNKNOWN = (
    "include_collections: 'weigths' is not allowed; expected one of all, biases, default, "
    "gradients, losses, weights; did you mean 'weights'?"
)
EMPTY = (
    "collection 'gradeints' has neither include_regex nor tensor_names, so no tensor could ever "
    "be in it; did you mean 'gradients'?"
)


@pytest.fixture(autouse=True)
def _no_other(no_torch_hook: None) -> None:
    pass


def written(tmp_path: Path, **document: object) -> Path:
    path = tmp_path / "hook.json"
    path.write_text(json.dumps({"LocalPath": str(tmp_path / "run"), **document}))
    return path


def said_by_smdebug_config(path: Path) -> str:
    command = [str(program("smdebug")), "config", "--framework", "pytorch", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    return done.stderr


def said_by_a_training(hook: smd.Hook) -> list[str]:
    with logged() as said:
        fit(hook, Net(), 3)
        hook.close()
    return [text for text in said if text.startswith("Left out: ")]


@pytest.mark.parametrize("steps", [[], [{"CollectionName": "biases"}]])
def test_an_included_name_in_json(steps: list[object], tmp_path: Path) -> None:
    parameters = {"include_collections": "weigths"}
    path = written(tmp_path, HookParameters=parameters, CollectionConfigurations=steps)
    with pytest.raises(SMDebugValueError) as refused:
        smd.Hook.create_from_json_file(str(path))
    assert str(refused.value) == UNKNOWN
    assert UNKNOWN in said_by_smdebug_config(path)
    assert smd.get_hook() is None
    assert not (tmp_path / "run").exists()


def test_a_configured_collection_in_json(tmp_path: Path) -> None:
    entry = {"CollectionName": "gradeints", "CollectionParameters": {"save_interval": "2"}}
    path = written(tmp_path, CollectionConfigurations=[entry])
    with pytest.raises(InvalidCollectionConfiguration) as refused:
        smd.Hook.create_from_json_file(str(path))
    assert (refused.value.c_name, str(refused.value)) == ("gradeints", EMPTY)
    assert EMPTY in said_by_smdebug_config(path)
    assert smd.get_hook() is None


def test_an_included_name_in_a_script(tmp_path: Path) -> None:
    hook = smd.Hook(str(tmp_path / "run"), include_collections="weigths")
    assert said_by_a_training(hook) == [f"Left out: {UNKNOWN}"]


@pytest.mark.parametrize("included", [[], ["gradeints"]])
def test_a_collection_that_is_asked_for_in_a_script(included: list[str], tmp_path: Path) -> None:
    hook = smd.Hook(str(tmp_path / "run"), include_collections=included)
    hook.get_collection("gradeints").save_config = smd.SaveConfig(save_interval=2)
    assert said_by_a_training(hook) == [f"Left out: {EMPTY}"]


def test_a_script_may_complete_what_it_includes(tmp_path: Path) -> None:
    hook = smd.Hook(str(tmp_path / "run"), include_collections=["weigths", "tables"])
    hook.get_collection("weigths").include("fc.weight$")
    hook.add_collection(smd.Collection("tables", include_regex="fc_output"))
    hook.get_collection("only for save_tensor")
    assert said_by_a_training(hook) == []
    trial = smd.create_trial(hook.out_dir)
    assert trial.tensor_names(collection="weigths") == ["Net_fc.weight", "gradient/Net_fc.weight"]
    assert trial.tensor_names(collection="tables") == ["fc_output_0"]
