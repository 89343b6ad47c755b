"""One action, done by the core."""

from __future__ import annotations

import json

from smdebug import _core


class CoreAction:
    """An action of a rule: its name and its parameters, as `action_json` has them."""

    def __init__(self, rule_name: str, name: str, **parameters: str) -> None:
        self._rule_name = rule_name
        self._name = name
        self._set = _core.ActionSet()
        self._set.add_json(json.dumps({"name": name, **parameters}), rule_name)

    def invoke(
        self,
        message: str = "",
        run: str = "",
        step: int | None = None,
        run_id: str | None = None,
    ) -> None:
        """Does it. What goes wrong is logged."""
        self._set.fire(self._rule_name, run, step, message, run_id)
