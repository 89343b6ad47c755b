"""Runs a script as SageMaker would, or alone, with clean folders."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from smdebug.core.config_constants import (
    CONFIG_FILE_PATH_ENV_STR,
    DEFAULT_SAGEMAKER_OUTDIR,
    DEFAULT_SAGEMAKER_TENSORBOARD_PATH,
    TENSORBOARD_CONFIG_FILE_PATH_ENV_STR,
)


class SagemakerSimulator:
    """Inside, the process takes itself for a training job of SageMaker.

    The hook's JSON configuration is `json_file_contents`, written to
    `json_config_path`. With `cleanup` the folders are removed before and after,
    and files and environment are put back.
    """

    def __init__(
        self,
        json_config_path: str = "/tmp/zcc_config.json",
        tensorboard_dir: str = "/tmp/tensorboard",
        training_job_name: str = "sm_job",
        json_file_contents: str = "{}",
        cleanup: bool = True,
    ) -> None:
        self.out_dir = DEFAULT_SAGEMAKER_OUTDIR
        self.json_config_path = json_config_path
        self.tb_json_config_path = DEFAULT_SAGEMAKER_TENSORBOARD_PATH
        self.tensorboard_dir = tensorboard_dir
        self.training_job_name = training_job_name
        self.json_file_contents = json_file_contents
        self.cleanup = cleanup
        self._before: dict[str, str | None] = {}

    def __enter__(self) -> SagemakerSimulator:
        if self.cleanup:
            _remove(self.out_dir, self.tensorboard_dir)
        _forget_hook()
        _write(self.json_config_path, self.json_file_contents)
        _write(self.tb_json_config_path, json.dumps({"LocalPath": self.tensorboard_dir}))
        environment = {
            "TRAINING_JOB_NAME": self.training_job_name,
            CONFIG_FILE_PATH_ENV_STR: self.json_config_path,
            TENSORBOARD_CONFIG_FILE_PATH_ENV_STR: self.tb_json_config_path,
        }
        self._before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        return self

    def __exit__(self, *_: object) -> None:
        _forget_hook()
        if not self.cleanup:
            return
        _remove(self.out_dir, self.tensorboard_dir)
        for path in (self.json_config_path, self.tb_json_config_path):
            Path(path).unlink(missing_ok=True)
        for name, value in self._before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class ScriptSimulator:
    """Runs a script that hooks by itself, with clean folders before and after."""

    def __init__(self, out_dir: str = "/tmp/test", tensorboard_dir: str | None = None) -> None:
        self.out_dir = out_dir
        self.tensorboard_dir = tensorboard_dir

    def __enter__(self) -> ScriptSimulator:
        _remove(self.out_dir, self.tensorboard_dir)
        _forget_hook()
        return self

    def __exit__(self, *_: object) -> None:
        _forget_hook()
        _remove(self.out_dir, self.tensorboard_dir)


def _remove(*folders: str | None) -> None:
    for folder in filter(None, folders):
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def _forget_hook() -> None:
    """So that the script's get_hook() does not find the hook of an earlier one."""
    singleton = sys.modules.get("smdebug.core.singleton_utils")
    if singleton is not None:
        singleton.del_hook()
