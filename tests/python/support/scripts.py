"""Types of the fixtures that run scripts."""

from __future__ import annotations

import subprocess
from typing import Callable

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]
StartScript = Callable[..., "subprocess.Popen[str]"]
