"""The actions of a rule."""

from __future__ import annotations

from smdebug import _core
from smdebug.core.logger import get_logger
from smdebug.rules.action.core_action import CoreAction
from smdebug.rules.action.message_action import MessageAction
from smdebug.rules.action.stop_training_action import StopTrainingAction

ALLOWED_ACTIONS = ["stoptraining", "sms", "email", "webhook", "exec"]


class Actions:
    """What a rule does when it fires: JSON with an object or a list of them.

    What is wrong with them, or goes wrong, is logged, and never raised. `run` is the
    run that the rule is about, and `run_id` its identity; None: whichever is there.
    """

    def __init__(
        self,
        actions_str: str | None = "",
        rule_name: str = "",
        run: str | None = None,
        run_id: str | None = None,
    ) -> None:
        self.actions_str = (actions_str or "").strip()
        self.rule_name = rule_name
        self.run = run or ""
        self.run_id = run_id
        self._actions: list[CoreAction] = []
        try:
            self._actions += map(
                self._make, _core.ActionSet().add_json(self.actions_str, rule_name)
            )
        except Exception as error:
            get_logger().error(f"{rule_name}: its actions are left out: {error}")

    def _make(self, described: tuple[str, str, str]) -> CoreAction:
        name, target, job_prefix = described
        if name == "stop" and not target:
            return StopTrainingAction(self.rule_name, job_prefix)
        if name == "stop":
            return CoreAction(self.rule_name, name, pid=target)
        if name in ("sms", "email"):
            return MessageAction(self.rule_name, name, target)
        return CoreAction(self.rule_name, name, endpoint=target)

    def invoke(self, message: str = "", step: int | None = None) -> None:
        """Does all, in their order."""
        for action in self._actions:
            try:
                action.invoke(message, self.run, step, self.run_id)
            except Exception as error:
                get_logger().error(f"{self.rule_name}: an action failed: {error}")
