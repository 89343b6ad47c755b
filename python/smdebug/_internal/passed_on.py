"""Names that modules of smdebug 1.0 passed on from others, for scripts that import them there.

Each stays where it is defined, and is looked up there when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable

# Each module of smdebug, and the modules, itself as a dot, whose names it passes on.
_PASSED_ON = """
core.access_layer.utils:
  core.logger = get_logger
  core.utils = is_s3
  exceptions = SMDebugError
core.collection:
  core.modes = ModeKeys
  exceptions = SMDebugTypeError SMDebugValueError
core.collection_manager:
  core.utils = is_s3 load_json_as_dict
core.hook:
  core.access_layer.utils = training_has_ended
  core.collection = CollectionKeys NON_HISTOGRAM_COLLECTIONS NON_REDUCTION_COLLECTIONS
  core.collection = SCALAR_COLLECTIONS SM_METRIC_COLLECTIONS
  core.collection_manager = CollectionManager
  core.config_constants = DEFAULT_SAVED_COLLECTIONS DEFAULT_WORKER_NAME LATEST_GLOBAL_STEP_SAVED
  core.config_constants = LATEST_GLOBAL_STEP_SEEN LATEST_MODE_STEP TRAINING_RUN
  core.hook_utils = get_tensorboard_dir verify_and_get_out_dir
  core.json_config = create_hook_from_json_config
  core.logger = get_logger
  core.modes = ALLOWED_MODES ALLOWED_MODE_NAMES ModeKeys
  core.reductions = get_reduction_tensor_name
  core.sagemaker_utils = is_sagemaker_job
  core.utils = FRAMEWORK flatten get_tb_worker is_first_process match_inc remove_claim_file
  core.utils = size_and_shape validate_custom_tensor_value
  exceptions = InvalidCollectionConfiguration SMDebugRuntimeError SMDebugTypeError
core.hook_utils:
  core.logger = get_logger
  core.utils = is_s3
core.json_config:
  core.config_constants = CONFIG_FILE_PATH_ENV_STR DEFAULT_CONFIG_FILE_PATH DEFAULT_WORKER_NAME
  core.logger = get_logger
  core.sagemaker_utils = is_sagemaker_job
  core.save_config = SaveConfigMode
  core.utils = merge_two_dicts split
  exceptions = SMDebugValueError
core.reduction_config:
  core.logger = get_logger
  core.utils = split
core.save_config:
  core.utils = step_in_range
  exceptions = SMDebugValueError
core.tensor:
  core.modes = ModeKeys
  core.reductions = get_numpy_reduction
  trials.tensor = Tensor
  exceptions = InvalidWorker NoMoreData SMDebugNotImplementedError SMDebugRuntimeError
  exceptions = SMDebugValueError ShapeUnavailableForStep StepNotYetAvailable StepUnavailable
  exceptions = TensorUnavailableForStep
core.utils:
  core.config_constants = CONFIG_FILE_PATH_ENV_STR DEFAULT_SAGEMAKER_OUTDIR
  core.config_constants = DEFAULT_SAGEMAKER_TENSORBOARD_PATH TENSORBOARD_CONFIG_FILE_PATH_ENV_STR
  core.logger = get_logger
  exceptions = SMDebugError SMDebugNotImplementedError SMDebugRuntimeError
exceptions:
  . = modes
pytorch.collection:
  core.collection = CollectionKeys DEFAULT_PYTORCH_COLLECTIONS
pytorch.hook:
  core.collection = DEFAULT_PYTORCH_COLLECTIONS
  core.config_constants = DEFAULT_WORKER_NAME
  core.singleton_utils = set_hook
  core.utils = FRAMEWORK make_numpy_array
  pytorch.collection = CollectionManager
rules.action.message_action:
  core.logger = get_logger
rules.action.stop_training_action:
  core.logger = get_logger
rules.req_tensors:
  exceptions = TensorUnavailable
trials.local_trial:
  core.collection_manager = CollectionManager
  core.utils = get_path_to_collections list_collection_files_in_directory
trials.s3_trial:
  core.collection_manager = CollectionManager
  core.utils = get_path_to_collections
trials.trial:
  analysis.utils = refresh
  core.access_layer.utils = has_training_ended
  core.collection = CollectionKeys
  core.config_constants = INCOMPLETE_STEP_WAIT_WINDOW_DEFAULT INCOMPLETE_STEP_WAIT_WINDOW_KEY
  core.reductions = REDUCTIONS_PREFIX reverse_reduction_tensor_name
  core.utils = flatten get_worker_name_from_collection_file match_inc serialize_tf_device
  exceptions = NoMoreData StepUnavailable TensorUnavailable
trials.utils:
  core.utils = is_s3
xgboost.collection:
  core.collection = CollectionKeys DEFAULT_XGBOOST_COLLECTIONS
xgboost.hook:
  core.collection = DEFAULT_XGBOOST_COLLECTIONS
  core.json_config = create_hook_from_json_config
  core.singleton_utils = set_hook
  core.utils = FRAMEWORK make_numpy_array
  xgboost.collection = CollectionManager
"""


def _read() -> dict[str, dict[str, str]]:
    """By module, where its names are."""
    modules: dict[str, dict[str, str]] = {}
    homes: dict[str, str] = {}
    for line in _PASSED_ON.strip().split("\n"):
        home, _, names = line.partition(" = ")
        if names:
            homes.update(dict.fromkeys(names.split(), f"smdebug.{home.strip()}".rstrip(".")))
        else:
            homes = modules[f"smdebug.{line.rstrip(':')}"] = {}
    return modules


_HOMES = _read()


def passed_on(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that passes names on."""
    homes = _HOMES[module]

    def look_up(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return look_up
