"""Runs in local folders."""

from __future__ import annotations

import os

from smdebug._internal.checks import path
from smdebug._internal.passed_on import passed_on
from smdebug.trials.trial import StepRange, Trial

__getattr__ = passed_on(__name__)


class LocalTrial(Trial):
    """The run in the folder `dirname`, where "~" is the home folder.

    See Trial for the other arguments.
    """

    def __init__(
        self,
        name: str | None,
        dirname: str | os.PathLike[str],
        range_steps: StepRange | None = None,
        parallel: bool = True,
        check: bool = False,
        index_mode: bool = True,
        cache: bool = False,
    ) -> None:
        self.path = os.path.expanduser(path("dirname", dirname))
        super().__init__(name, range_steps, parallel, check, index_mode, cache)

    def _location(self) -> str:
        return self.path if "://" in self.path else os.path.abspath(self.path)
