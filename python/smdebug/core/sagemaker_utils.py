"""Whether the process belongs to a job of SageMaker."""

from __future__ import annotations

import os


def is_sagemaker_job() -> bool:
    """Whether TRAINING_JOB_NAME is set, as it is in SageMaker's containers."""
    return "TRAINING_JOB_NAME" in os.environ
