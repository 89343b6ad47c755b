"""A hook's JSON configuration in parts, and the simulated jobs that write one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from smdebug import ReductionConfig, SaveConfig, SaveConfigMode, modes
from smdebug.core import json_config, utils
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.sagemaker_utils import is_sagemaker_job
from smdebug.exceptions import SMDebugValueError

CONFIG: dict[str, Any] = {
    "LocalPath": "/run",
    "HookParameters": {
        "save_interval": "10",
        "train.save_interval": "5",
        "eval.start_step": "3",
        "save_steps": "1,2",
        "include_regex": "a{1,2}, b",
        "save_all": "true",
        "include_workers": "all",
        "export_tensorboard": "true",
        "tensorboard_dir": "/tb",
        "reductions": "min,abs_l1",
    },
    "CollectionConfigurations": [
        {
            "CollectionName": "relu",
            "CollectionParameters": {
                "include_regex": "x,y",
                "save_interval": "7",
                "reductions": "max",
                "save_raw_tensor": "True",
                "save_histogram": "False",
            },
        },
        {"CollectionName": "weights"},
    ],
}


def test_a_configuration_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hook.json"
    with pytest.raises(FileNotFoundError):
        json_config.get_json_config_as_dict(str(path))
    path.write_text(json.dumps(CONFIG))
    assert json_config.get_json_config_as_dict(str(path)) == CONFIG
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(path))
    assert json_config.get_json_config_as_dict(None) == CONFIG


def test_the_hooks_part_of_a_configuration() -> None:
    collected = json_config.collect_hook_config_params(CONFIG)
    schedules = collected.pop("save_config_modes")
    assert collected == {
        "out_dir": "/run",
        "include_regex": ["a{1,2}", "b"],
        "save_all": True,
        "include_workers": "all",
        "export_tensorboard": True,
        "tensorboard_dir": "/tb",
        "reduction_config": ReductionConfig(["min"], abs_norms=["l1"]),
        "reduction_configs": {},
        "save_configs": {},
    }
    assert schedules[modes.TRAIN] == {"save_interval": "5", "save_steps": [1, 2]}
    assert schedules[modes.EVAL]["start_step"] == "3"
    empty = json_config.collect_hook_config_params({"HookParameters": None})
    assert empty["out_dir"] == "/opt/ml/output/tensors"
    assert empty["save_config_modes"] == {mode: {} for mode in modes}


def test_a_configuration_is_refused_by_the_core() -> None:
    with pytest.raises(SMDebugValueError, match="did you mean 'save_interval'"):
        json_config.collect_hook_config_params({"HookParameters": {"save_intervall": 3}})


def test_the_collections_of_a_configuration() -> None:
    assert json_config.get_include_collections(CONFIG) == ["relu", "weights"]
    assert json_config.get_include_collections({}) is None
    with pytest.raises(SMDebugValueError, match="CollectionName"):
        json_config.get_include_collections({"CollectionConfigurations": [{}]})
    manager = CollectionManager()
    hook = json_config.collect_hook_config_params(CONFIG)
    json_config.add_collections_to_manager(manager, CONFIG, hook)
    relu, weights = manager.get("relu"), manager.get("weights")
    assert relu.include_regex == ["x", "y"]
    assert relu.reduction_config == ReductionConfig(["max"], save_raw_tensor=True)
    assert not relu.save_histogram
    assert relu.save_config is not None
    assert relu.save_config.get_save_config(modes.EVAL) == SaveConfigMode(7, 3, None, [1, 2])
    assert weights.save_config is not None
    assert weights.save_config.get_save_config(modes.TRAIN) == SaveConfigMode(5, save_steps=[1, 2])


def test_schedules_of_a_configuration() -> None:
    params = {"save_interval": 3, "train.save_steps": [1], "eval.end_step": 9}
    assert json_config.parse_save_config_dict(params) == {"save_interval": 3}
    assert json_config.parse_save_config_dict(params, modes.TRAIN) == {"save_steps": [1]}
    by_mode = json_config.parse_save_config_modes_dict(params, {modes.EVAL: {"start_step": 2}})
    assert by_mode[modes.EVAL] == {"start_step": 2, "save_interval": 3, "end_step": 9}
    with pytest.raises(SMDebugValueError, match=r"train\.save_steps"):
        json_config.parse_save_config_dict({"train.save_steps": "1,x"}, modes.TRAIN)


def test_tensorboard_of_sagemaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tensorboard.json"
    monkeypatch.setenv("TRAINING_JOB_NAME", "job")
    monkeypatch.setenv("TENSORBOARD_CONFIG_FILE_PATH", str(path))
    assert json_config.get_tensorboard_dir_from_json_config() is None
    assert not json_config.collect_hook_config_params(CONFIG)["export_tensorboard"]
    path.write_text('{"LocalPath": "/from/sagemaker"}')
    assert json_config.get_tensorboard_dir_from_json_config() == "/from/sagemaker"
    assert json_config.collect_hook_config_params(CONFIG)["tensorboard_dir"] == "/from/sagemaker"
    assert json_config.get_node_id_from_resource_config() is None


class HookOfTest:
    """Stands for a hook whose file has no schedule."""

    save_config: SaveConfig | None = None

    @classmethod
    def create_from_json_file(cls, json_file_path: str | None = None) -> HookOfTest:
        assert json_file_path == "hook.json"
        return cls()


def test_default_values_are_the_schedule_where_the_file_has_none() -> None:
    made: Any = json_config.create_hook_from_json_config(
        HookOfTest,  # type: ignore[arg-type, unused-ignore]
        "hook.json",
        {"save_interval": 10},
    )
    assert made.save_config == SaveConfig(save_interval=10)


def simulator(folder: Path, *, cleanup: bool) -> utils.SagemakerSimulator:
    made = utils.SagemakerSimulator(
        str(folder / "hook.json"), str(folder / "tb"), "job", '{"LocalPath": "/x"}', cleanup
    )
    assert made.out_dir == "/opt/ml/output/tensors"
    made.out_dir = str(folder / "out")
    made.tb_json_config_path = str(folder / "config/tb.json")
    return made


def test_a_simulated_job_of_sagemaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", "before.json")
    (tmp_path / "out").mkdir()
    with simulator(tmp_path, cleanup=True) as job:
        assert not Path(job.out_dir).exists()
        assert is_sagemaker_job()
        assert json_config.get_json_config_as_dict(None) == {"LocalPath": "/x"}
        assert json_config.get_tensorboard_dir_from_json_config() == job.tensorboard_dir
        Path(job.tensorboard_dir).mkdir()
    assert not is_sagemaker_job()
    assert os.environ["SMDEBUG_CONFIG_FILE_PATH"] == "before.json"
    assert [entry.name for entry in tmp_path.iterdir()] == ["config"]


def test_a_simulated_job_leaves_all_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRAINING_JOB_NAME", "SMDEBUG_CONFIG_FILE_PATH", "TENSORBOARD_CONFIG_FILE_PATH"):
        monkeypatch.setenv(name, "before")  # Put back after the test.
    (tmp_path / "out").mkdir()
    with simulator(tmp_path, cleanup=False):
        pass
    assert (tmp_path / "out").exists()
    assert os.environ["TRAINING_JOB_NAME"] == "job"


def test_a_simulated_script(tmp_path: Path) -> None:
    out, tensorboard = tmp_path / "out", tmp_path / "tb"
    out.mkdir()
    with utils.ScriptSimulator(str(out), str(tensorboard)) as script:
        assert not out.exists()
        assert script.out_dir == str(out)
        tensorboard.mkdir()
    assert not tensorboard.exists()
