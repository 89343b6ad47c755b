"""Rules over generated runs."""

from __future__ import annotations

import os

# Before smdebug is imported: no waiting for a job that has ended, no log.
os.environ["SMDEBUG_TRAINING_END_DELAY_REFRESH"] = "0"
os.environ["SMDEBUG_LOG_LEVEL"] = "off"
os.environ.pop("TRAINING_JOB_NAME", None)

from hypothesis import HealthCheck, settings

# The same cases in every run; SMDEBUG_EXAMPLES=<n> draws n new ones.
_asked = os.environ.get("SMDEBUG_EXAMPLES")
settings.register_profile(
    "rules",
    max_examples=int(_asked or 30),
    derandomize=_asked is None,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("rules")
