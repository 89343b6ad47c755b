"""What a run folder says about its job."""

from __future__ import annotations

import os
import time
from pathlib import Path

from smdebug import _core
from smdebug._internal.passed_on import passed_on
from smdebug.core.sagemaker_utils import is_sagemaker_job

__getattr__ = passed_on(__name__)

END_OF_JOB_FILENAME = "training_job_end.ts"
ENV_RULE_STOP_SIGNAL_FILENAME = "SAGEMAKER_ENV_RULE_STOP_SIGNAL_FILE"
DEFAULT_GRACETIME_FOR_RULE_STOP_SEC = 60
_GRACE_TIME_ENV = "rule_stop_grace_time_secs"


def has_training_ended(trial_prefix: str) -> bool:
    """Whether the job that wrote the run has ended."""
    return _core.has_run_ended(trial_prefix)


def training_has_ended(trial_prefix: str) -> None:
    """Marks the job of a run as ended. SageMaker does so itself for its jobs."""
    if not is_sagemaker_job():
        _core.mark_run_ended(trial_prefix)


def file_exists(file_path: str) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(file_path)


def check_dir_exists(path: str) -> bool:
    """Whether the folder holds a finished run."""
    return has_training_ended(path)


def is_rule_signalled_gracetime_passed(trial_prefix: str) -> bool:
    """Whether the run was asked to stop, by the file that SageMaker names, a grace time ago.

    The grace time is `rule_stop_grace_time_secs` of the environment, else 60
    seconds. A file without a time counts from when it was written.
    """
    name = os.environ.get(ENV_RULE_STOP_SIGNAL_FILENAME)
    if not name:
        return False
    signal = Path(trial_prefix).expanduser() / name
    try:
        text, written = signal.read_text(encoding="utf-8").strip(), signal.stat().st_mtime
    except OSError:
        return False
    since = float(text) if text.isdigit() else written
    grace = os.environ.get(_GRACE_TIME_ENV, DEFAULT_GRACETIME_FOR_RULE_STOP_SEC)
    return time.time() >= since + float(grace)
