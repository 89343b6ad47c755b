"""The code blocks of the public documents of SageMaker Debugger, and which of them wait.

A block goes by its document and the line at which it begins. The documents are: 000, tensor
collections; 001, the API of saving; 002, configuring the hook in SageMaker; 003, SageMaker's SDK;
004, configurations of the hook. What stands in a sentence or a table counts where it shows a call.
"""

from __future__ import annotations

import importlib.util
from typing import Callable, NamedTuple

BLOCKS = {
    "000": (176, 190, 287, 301),
    "001": (
        *(26, 60, 81, 92, 127, 160, 176, 182, 188, 195, 203, 229, 251, 261, 271, 279, 284),
        *(295, 296, 297, 298, 299, 303, 311, 349, 368, 378, 412, 432, 441),
    ),
    "002": (14, 29, 47, 68, 80, 127, 131, 180, 227),
    "003": (39, 78, 100, 119, 158, 166, 172, 217, 234, 253, 306, 342, 360, 366, 379, 397),
    "004": (9, 32, 48, 67, 90, 100),
}


def _is_missing(module: str) -> bool:
    return importlib.util.find_spec(module) is None


def _refuses_s3() -> bool:
    from smdebug.exceptions import SMDebugError
    from smdebug.trials import create_trial

    try:
        create_trial("s3://bucket/run")
    except SMDebugError:
        return True
    return False


class Feature(NamedTuple):
    """What a block waits for."""

    name: str
    is_missing: Callable[[], bool]


TENSORFLOW = Feature("the hooks of TensorFlow", lambda: _is_missing("smdebug.tensorflow"))
MXNET = Feature("the hook of MXNet", lambda: _is_missing("smdebug.mxnet"))
SDK = Feature("the objects of SageMaker's SDK", lambda: _is_missing("smdebug.sagemaker"))
S3 = Feature("runs in S3", _refuses_s3)

# An entry leaves when its feature is there; none is added.
WAITING = {
    ("001", 176): (TENSORFLOW, "wrap_optimizer() and add_to_collection() of a hook"),
    ("001", 182): (TENSORFLOW, "wrap_tape() of a hook"),
    ("001", 188): (MXNET, "register_block() of a hook"),
    ("001", 296): (TENSORFLOW, "add() of a collection takes tensors of TensorFlow"),
    ("001", 297): (TENSORFLOW, "add_keras_layer() of a collection"),
    ("001", 299): (MXNET, "add_block_tensors() of a collection"),
    ("002", 127): (S3, "where a job's tensors are"),
    ("003", 158): (S3, "where a job's tensors are"),
    ("003", 166): (SDK, "an estimator is asked where its tensors are"),
    ("003", 172): (SDK, "an estimator trains, and the files of its run are listed"),
    ("003", 360): (S3, "where a job's TensorBoard files are"),
    ("003", 366): (SDK, "an estimator is asked where its TensorBoard files are"),
}
MOST_WAITING = 12
