"""The audit trail of a run."""

from __future__ import annotations

from typing import Any, Callable

# Gives its lines.
Trail = Callable[[], list[dict[str, Any]]]
