"""Rules inside a hook."""

from __future__ import annotations

import json
from typing import Any

from smdebug._hook.life import HookLife


class HookRules(HookLife):
    """Rules judge the steps of a hook while they are saved."""

    @property
    def rule_fired(self) -> bool:
        """Whether one of the hook's rules has found something so far."""
        return self._guard is not None and self._guard.fired_rules > 0

    @property
    def rule_reports(self) -> list[dict[str, Any]]:
        """What each of the hook's rules has found, with the keys of `smdebug check --json`."""
        reports = [] if self._guard is None else self._guard.reports()
        return [json.loads(report) for report in reports]

    def _heed_rules(self) -> None:
        """Raises if a rule has fired since the last call, and that is wanted."""
        if self._guard is not None and self.stop_on_rule:
            self._guard.raise_if_fired()
