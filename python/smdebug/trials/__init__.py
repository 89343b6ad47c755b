"""Reading runs, finished or still being written."""

from smdebug.trials.local_trial import LocalTrial
from smdebug.trials.s3_trial import S3Trial
from smdebug.trials.trial import Trial
from smdebug.trials.utils import create_trial

__all__ = ["LocalTrial", "S3Trial", "Trial", "create_trial"]
