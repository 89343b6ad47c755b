"""What a run folder says about its job."""

from __future__ import annotations

import os

from smdebug.exceptions import SMDebugRuntimeError

END_OF_JOB_FILENAME = "training_job_end.ts"


def has_training_ended(trial_prefix: str) -> bool:
    """Whether the job that wrote the run has ended."""
    return os.path.exists(os.path.join(os.path.expanduser(trial_prefix), END_OF_JOB_FILENAME))


def training_has_ended(trial_prefix: str) -> None:
    """Marks the job of a run as ended."""
    os.makedirs(trial_prefix, exist_ok=True)
    with open(os.path.join(trial_prefix, END_OF_JOB_FILENAME), "wb"):
        pass


def file_exists(file_path: str) -> bool:
    """Whether there is such a file."""
    return os.path.exists(file_path)


def check_dir_exists(path: str) -> None:
    """Refuses a folder that holds a finished run."""
    if has_training_ended(path):
        raise SMDebugRuntimeError(
            f"The path:{path} already exists on local. It holds a finished run; give another "
            "out_dir, or remove it."
        )
