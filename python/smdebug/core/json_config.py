"""A hook's JSON configuration, and its parts as smdebug 1.0 gives them.

A hook itself reads the file through the core, which knows every spelling and
refuses what is not allowed. The helpers here are for scripts that look into a
configuration, or fill collections from one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smdebug import _core
from smdebug._internal.checks import refuse
from smdebug._internal.passed_on import passed_on
from smdebug.analysis.utils import parse_bool
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.config_constants import (
    CONFIG_COLLECTION_CONFIG_KEY,
    CONFIG_COLLECTION_NAME_KEY,
    CONFIG_COLLECTION_PARAMS_KEY,
    CONFIG_HOOK_PARAMS_KEY,
    CONFIG_INCLUDE_REGEX_KEY,
    CONFIG_INCLUDE_WORKERS_KEY,
    CONFIG_OUTDIR_KEY,
    CONFIG_RDN_CFG_KEY,
    CONFIG_REDUCTION_CONFIGS_KEY,
    CONFIG_SAVE_ALL_KEY,
    CONFIG_SAVE_CONFIGS_KEY,
    DEFAULT_RESOURCE_CONFIG_FILE,
    DEFAULT_SAGEMAKER_OUTDIR,
    DEFAULT_SAGEMAKER_TENSORBOARD_PATH,
    EXPORT_TENSORBOARD_KEY,
    TENSORBOARD_CONFIG_FILE_PATH_ENV_STR,
    TENSORBOARD_DIR_KEY,
)
from smdebug.core.modes import ModeKeys
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import ALLOWED_PARAMS, SaveConfig

if TYPE_CHECKING:
    from smdebug.core.hook import BaseHook

__getattr__ = passed_on(__name__)

SaveParameters = dict[str, Any]

# Without conventions of a framework.
_NATIVE = _core.Framework.NATIVE

# The parameters, schedules aside, that mean the same for a collection and a hook.
_SHARED_PARAMS = (CONFIG_INCLUDE_REGEX_KEY, "reductions", "save_raw_tensor", "save_shape")


def create_hook_from_json_config(
    hook_cls: type[BaseHook],
    json_config_path: str | None,
    default_values: dict[str, Any] | None = None,
) -> BaseHook:
    """The hook that a JSON file configures.

    `default_values` are the parameters of its schedule where the file has none.
    """
    hook = hook_cls.create_from_json_file(json_config_path)
    if default_values and hook.save_config is None:
        hook.save_config = SaveConfig(**default_values)
    return hook


def get_json_config_as_dict(json_config_path: str | None) -> dict[str, Any]:
    """What the file holds; without a path, the file that a hook would read.

    FileNotFoundError if there is none.
    """
    path = Path(_core.hook_config_path(json_config_path))
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return config


def get_include_collections(params_dict: dict[str, Any]) -> list[str] | None:
    """The names of the collections that a configuration lists; None without a list."""
    listed = params_dict.get(CONFIG_COLLECTION_CONFIG_KEY)
    return None if listed is None else [_name_of(entry) for entry in listed]


def parse_save_config_dict(params: dict[str, Any], mode: ModeKeys | None = None) -> SaveParameters:
    """The parameters of a schedule among others: the bare ones, or those of a mode."""
    prefix = "" if mode is None else f"{mode.name.lower()}."
    found = {key: params[prefix + key] for key in ALLOWED_PARAMS if prefix + key in params}
    if "save_steps" in found:
        found["save_steps"] = _core.steps_from_json(
            f"{prefix}save_steps", json.dumps(found["save_steps"])
        )
    return found


def parse_save_config_modes_dict(
    params: dict[str, Any], base_config_modes: dict[ModeKeys, SaveParameters] | None = None
) -> dict[ModeKeys, SaveParameters]:
    """The parameters of each mode's schedule; later ones win: base, bare, of the mode."""
    base = base_config_modes or {}
    bare = parse_save_config_dict(params)
    return {
        mode: {**base.get(mode, {}), **bare, **parse_save_config_dict(params, mode)}
        for mode in ModeKeys
    }


def collect_hook_config_params(params_dict: dict[str, Any]) -> dict[str, Any]:
    """What a configuration says about the hook, with schedules by mode in `save_config_modes`."""
    hook = params_dict.get(CONFIG_HOOK_PARAMS_KEY) or {}
    loaded = _parse(hook)
    collected: dict[str, Any] = {
        CONFIG_RDN_CFG_KEY: ReductionConfig.from_json(loaded["reduction_config"] or "null"),
        CONFIG_REDUCTION_CONFIGS_KEY: {},
        CONFIG_SAVE_CONFIGS_KEY: {},
        CONFIG_INCLUDE_REGEX_KEY: loaded["include_regex"] or None,
        "out_dir": params_dict.get(CONFIG_OUTDIR_KEY) or DEFAULT_SAGEMAKER_OUTDIR,
        "save_config_modes": parse_save_config_modes_dict(hook),
        EXPORT_TENSORBOARD_KEY: loaded["export_tensorboard"],
        TENSORBOARD_DIR_KEY: loaded["tensorboard_dir"] or None,
    }
    for key in (CONFIG_SAVE_ALL_KEY, CONFIG_INCLUDE_WORKERS_KEY):
        if key in hook:
            collected[key] = loaded[key]
    return collected


def add_collections_to_manager(
    collection_manager: CollectionManager,
    params_dict: dict[str, Any],
    hook_params: dict[str, Any],
) -> None:
    """Adds the collections that a configuration lists, with schedules over those of the hook."""
    for entry in params_dict.get(CONFIG_COLLECTION_CONFIG_KEY) or []:
        collection = collection_manager.get(_name_of(entry))
        params = entry.get(CONFIG_COLLECTION_PARAMS_KEY) or {}
        loaded = _parse({key: params[key] for key in _SHARED_PARAMS if key in params})
        collection.include(loaded["include_regex"])
        schedules = parse_save_config_modes_dict(params, hook_params["save_config_modes"])
        collection.save_config = SaveConfig.from_dict(schedules)
        if loaded["reduction_config"]:
            collection.reduction_config = ReductionConfig.from_json(loaded["reduction_config"])
        collection.save_histogram = parse_bool(params.get("save_histogram"), True)


def get_tensorboard_dir_from_json_config() -> str | None:
    """Where SageMaker wants TensorBoard files; None if it wants none."""
    path = Path(
        os.environ.get(TENSORBOARD_CONFIG_FILE_PATH_ENV_STR) or DEFAULT_SAGEMAKER_TENSORBOARD_PATH
    )
    folder: str | None = _load(path).get("LocalPath")
    return folder


def get_node_id_from_resource_config() -> str | None:
    """What SageMaker calls this machine; None elsewhere."""
    host: str | None = _load(Path(DEFAULT_RESOURCE_CONFIG_FILE)).get("current_host")
    return host


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def _name_of(entry: dict[str, Any]) -> str:
    name = entry.get(CONFIG_COLLECTION_NAME_KEY)
    if not isinstance(name, str) or not name:
        refuse(f"{CONFIG_COLLECTION_CONFIG_KEY}: {CONFIG_COLLECTION_NAME_KEY}", name, "a name")
    return name


def _parse(hook_params: dict[str, Any]) -> dict[str, Any]:
    """The settings of a hook with these HookParameters, as the core reads them."""
    return _core.parse_hook_config(json.dumps({CONFIG_HOOK_PARAMS_KEY: hook_params}), _NATIVE)
