"""Names that modules of smdebug 1.0 passed on from others, for scripts that import them there.

Each stays where it is defined, and is looked up there when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable

# By module, where its names are.
_PASSED_ON = {
    "smdebug.core.access_layer.utils": {
        "smdebug.core.logger": "get_logger",
        "smdebug.core.utils": "is_s3",
        "smdebug.exceptions": "SMDebugError",
    },
    "smdebug.core.collection": {
        "smdebug.core.modes": "ModeKeys",
        "smdebug.exceptions": "SMDebugTypeError SMDebugValueError",
    },
    "smdebug.core.collection_manager": {
        "smdebug.core.utils": "is_s3 load_json_as_dict",
    },
    "smdebug.core.hook": {
        "smdebug.core.access_layer.utils": "training_has_ended",
        "smdebug.core.collection": (
            "CollectionKeys NON_HISTOGRAM_COLLECTIONS NON_REDUCTION_COLLECTIONS "
            "SCALAR_COLLECTIONS SM_METRIC_COLLECTIONS"
        ),
        "smdebug.core.collection_manager": "CollectionManager",
        "smdebug.core.config_constants": (
            "DEFAULT_SAVED_COLLECTIONS DEFAULT_WORKER_NAME LATEST_GLOBAL_STEP_SAVED "
            "LATEST_GLOBAL_STEP_SEEN LATEST_MODE_STEP TRAINING_RUN"
        ),
        "smdebug.core.hook_utils": "get_tensorboard_dir verify_and_get_out_dir",
        "smdebug.core.json_config": "create_hook_from_json_config",
        "smdebug.core.logger": "get_logger",
        "smdebug.core.modes": "ALLOWED_MODES ALLOWED_MODE_NAMES ModeKeys",
        "smdebug.core.reductions": "get_reduction_tensor_name",
        "smdebug.core.sagemaker_utils": "is_sagemaker_job",
        "smdebug.core.utils": (
            "FRAMEWORK flatten get_tb_worker is_first_process match_inc remove_claim_file "
            "size_and_shape validate_custom_tensor_value"
        ),
        "smdebug.exceptions": (
            "InvalidCollectionConfiguration SMDebugRuntimeError SMDebugTypeError"
        ),
    },
    "smdebug.core.hook_utils": {
        "smdebug.core.logger": "get_logger",
        "smdebug.core.utils": "is_s3",
    },
    "smdebug.core.json_config": {
        "smdebug.core.config_constants": (
            "CONFIG_FILE_PATH_ENV_STR DEFAULT_CONFIG_FILE_PATH DEFAULT_WORKER_NAME"
        ),
        "smdebug.core.logger": "get_logger",
        "smdebug.core.sagemaker_utils": "is_sagemaker_job",
        "smdebug.core.save_config": "SaveConfigMode",
        "smdebug.core.utils": "merge_two_dicts split",
        "smdebug.exceptions": "SMDebugValueError",
    },
    "smdebug.core.reduction_config": {
        "smdebug.core.logger": "get_logger",
        "smdebug.core.utils": "split",
    },
    "smdebug.core.save_config": {
        "smdebug.core.utils": "step_in_range",
        "smdebug.exceptions": "SMDebugValueError",
    },
    "smdebug.core.tensor": {
        "smdebug.core.modes": "ModeKeys",
        "smdebug.core.reductions": "get_numpy_reduction",
        "smdebug.trials.tensor": "Tensor",
        "smdebug.exceptions": (
            "InvalidWorker NoMoreData SMDebugNotImplementedError SMDebugRuntimeError "
            "SMDebugValueError ShapeUnavailableForStep StepNotYetAvailable StepUnavailable "
            "TensorUnavailableForStep"
        ),
    },
    "smdebug.core.utils": {
        "smdebug.core.config_constants": (
            "CONFIG_FILE_PATH_ENV_STR DEFAULT_SAGEMAKER_OUTDIR "
            "DEFAULT_SAGEMAKER_TENSORBOARD_PATH TENSORBOARD_CONFIG_FILE_PATH_ENV_STR"
        ),
        "smdebug.core.logger": "get_logger",
        "smdebug.exceptions": "SMDebugError SMDebugNotImplementedError SMDebugRuntimeError",
    },
    "smdebug.exceptions": {
        "smdebug": "modes",
    },
    "smdebug.pytorch.collection": {
        "smdebug.core.collection": "CollectionKeys DEFAULT_PYTORCH_COLLECTIONS",
    },
    "smdebug.pytorch.hook": {
        "smdebug.core.collection": "DEFAULT_PYTORCH_COLLECTIONS",
        "smdebug.core.config_constants": "DEFAULT_WORKER_NAME",
        "smdebug.core.singleton_utils": "set_hook",
        "smdebug.core.utils": "FRAMEWORK make_numpy_array",
        "smdebug.pytorch.collection": "CollectionManager",
    },
    "smdebug.rules.action.message_action": {
        "smdebug.core.logger": "get_logger",
    },
    "smdebug.rules.action.stop_training_action": {
        "smdebug.core.logger": "get_logger",
    },
    "smdebug.rules.req_tensors": {
        "smdebug.exceptions": "TensorUnavailable",
    },
    "smdebug.trials.local_trial": {
        "smdebug.core.collection_manager": "CollectionManager",
        "smdebug.core.utils": "get_path_to_collections list_collection_files_in_directory",
    },
    "smdebug.trials.s3_trial": {
        "smdebug.core.collection_manager": "CollectionManager",
        "smdebug.core.utils": "get_path_to_collections",
    },
    "smdebug.trials.trial": {
        "smdebug.analysis.utils": "refresh",
        "smdebug.core.access_layer.utils": "has_training_ended",
        "smdebug.core.collection": "CollectionKeys",
        "smdebug.core.config_constants": (
            "INCOMPLETE_STEP_WAIT_WINDOW_DEFAULT INCOMPLETE_STEP_WAIT_WINDOW_KEY"
        ),
        "smdebug.core.reductions": "REDUCTIONS_PREFIX reverse_reduction_tensor_name",
        "smdebug.core.utils": (
            "flatten get_worker_name_from_collection_file match_inc serialize_tf_device"
        ),
        "smdebug.exceptions": "NoMoreData StepUnavailable TensorUnavailable",
    },
    "smdebug.trials.utils": {
        "smdebug.core.utils": "is_s3",
    },
    "smdebug.xgboost.collection": {
        "smdebug.core.collection": "CollectionKeys DEFAULT_XGBOOST_COLLECTIONS",
    },
    "smdebug.xgboost.hook": {
        "smdebug.core.collection": "DEFAULT_XGBOOST_COLLECTIONS",
        "smdebug.core.json_config": "create_hook_from_json_config",
        "smdebug.core.singleton_utils": "set_hook",
        "smdebug.core.utils": "FRAMEWORK make_numpy_array",
        "smdebug.xgboost.collection": "CollectionManager",
    },
}


def passed_on(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that passes names on."""
    homes = {name: home for home, names in _PASSED_ON[module].items() for name in names.split()}

    def look_up(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)

    return look_up
