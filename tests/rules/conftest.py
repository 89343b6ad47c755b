"""How well rules tell trainings that go wrong from those that go well."""

from __future__ import annotations

import os

os.environ["SMDEBUG_LOG_LEVEL"] = "off"
os.environ.pop("TRAINING_JOB_NAME", None)
