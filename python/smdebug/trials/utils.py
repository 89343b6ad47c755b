"""Opening runs."""

from __future__ import annotations

import os
from typing import Any

from smdebug._internal import checks
from smdebug._internal.passed_on import passed_on
from smdebug.exceptions import (
    SMDebugNotImplementedError,
    SMDebugTypeError,
    SMDebugValueError,
)
from smdebug.trials.local_trial import LocalTrial
from smdebug.trials.s3_trial import S3Trial
from smdebug.trials.trial import Trial

__getattr__ = passed_on(__name__)

_S3 = "s3://"


def create_trial(
    path: str | os.PathLike[str] | None = None,
    name: str | None = None,
    profiler: bool = False,
    output_dir: str = "/opt/ml/processing/outputs/",
    *,
    out_dir: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Trial:
    """Opens the run at `path`, and waits for it to begin.

    A path that starts with "s3://" is in S3, any other is local. The name is the
    last part of the path, unless given. Further arguments are those of
    LocalTrial or S3Trial. `out_dir` is another word for `path`.
    """
    if path is not None and out_dir is not None:
        raise SMDebugTypeError("create_trial() takes either a path or an out_dir, not both")
    path = out_dir if path is None else path
    if path is None:
        raise SMDebugTypeError("create_trial() needs the path of a run")
    if profiler:
        raise SMDebugNotImplementedError(
            f"create_trial(profiler=True): profiler data cannot be read (output_dir={output_dir!r})"
        )
    path = checks.path("path", path).strip()
    if not path:
        raise SMDebugValueError("create_trial() needs the path of a run, not an empty string")
    name = checks.text("name", name or os.path.basename(path.rstrip("/")), "a name")
    if path.startswith(_S3):
        bucket, _, prefix = path[len(_S3) :].partition("/")
        return S3Trial(name, bucket, prefix, **kwargs)
    return LocalTrial(name, path, **kwargs)
