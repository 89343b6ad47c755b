"""The actions of a rule."""

from __future__ import annotations

from smdebug.core.logger import get_logger


class Actions:
    """What a rule was told to do when it fires, as JSON. Nothing of it is done yet."""

    def __init__(self, actions_str: str | None = "", rule_name: str = "") -> None:
        self.actions_str = (actions_str or "").strip()
        self.rule_name = rule_name
        if self.actions_str:
            get_logger().warning(f"{rule_name}: actions are not taken: {self.actions_str}")

    def invoke(self, message: str = "") -> None:
        """Says that the rule has fired, if there are actions."""
        if self.actions_str:
            get_logger().warning(
                f"{self.rule_name} has fired, and its actions are not taken: "
                f"{self.actions_str} {message}"
            )
