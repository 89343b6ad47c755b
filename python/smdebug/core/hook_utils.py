"""Where a hook writes."""

from __future__ import annotations

import os

from smdebug import _core
from smdebug._internal.checks import path
from smdebug._internal.passed_on import passed_on
from smdebug.core.access_layer.utils import check_dir_exists
from smdebug.exceptions import SMDebugRuntimeError

__getattr__ = passed_on(__name__)


def verify_and_get_out_dir(out_dir: str | os.PathLike[str] | None, check: bool = True) -> str:
    """The folder of a new run, expanded; SMDebugRuntimeError if it holds a finished one.

    Without `check` it is not looked at.
    """
    if out_dir is None:
        raise SMDebugRuntimeError(
            "out_dir is a required argument: 'None' is not allowed; expected a path"
        )
    out_dir = os.path.expanduser(path("out_dir", out_dir))
    if check and check_dir_exists(out_dir):
        raise SMDebugRuntimeError(
            f"out_dir: '{out_dir}' already exists and holds a finished run; give another folder, "
            "or remove it"
        )
    return out_dir


def get_tensorboard_dir(
    export_tensorboard: bool, tensorboard_dir: str | os.PathLike[str] | None, out_dir: str
) -> str | None:
    """Where TensorBoard files go; None if they are not asked for."""
    if tensorboard_dir is not None:
        tensorboard_dir = path("tensorboard_dir", tensorboard_dir)
    return _core.tensorboard_dir(out_dir, export_tensorboard, tensorboard_dir)
