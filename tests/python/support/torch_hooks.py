"""Types of the fixtures in tests of the PyTorch hook."""

from __future__ import annotations

from typing import Callable

import smdebug.pytorch as smd
from smdebug.trials import Trial

MakeHook = Callable[..., smd.Hook]
ReadRun = Callable[[], Trial]
