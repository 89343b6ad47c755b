"""Runs in S3."""

from __future__ import annotations

from smdebug._internal.checks import text
from smdebug._internal.passed_on import passed_on
from smdebug.trials.trial import StepRange, Trial

__getattr__ = passed_on(__name__)


class S3Trial(Trial):
    """The run below `prefix_name` in a bucket.

    See Trial for the other arguments.
    """

    def __init__(
        self,
        name: str | None,
        bucket_name: str,
        prefix_name: str,
        range_steps: StepRange | None = None,
        check: bool = False,
        index_mode: bool = True,
        cache: bool = False,
    ) -> None:
        self.bucket_name = text("bucket_name", bucket_name)
        prefix_name = text("prefix_name", prefix_name)
        self.prefix_name = prefix_name.strip("/") + "/" if prefix_name.strip("/") else ""
        self.path = f"s3://{bucket_name}/{self.prefix_name}"
        super().__init__(name, range_steps, check=check, index_mode=index_mode, cache=cache)
