"""Telling someone that a rule has fired."""

from __future__ import annotations

from smdebug._internal.passed_on import passed_on
from smdebug.rules.action.core_action import CoreAction

__getattr__ = passed_on(__name__)


class MessageAction(CoreAction):
    """Sends an email or a text message: `message_type` is email or sms."""

    def __init__(self, rule_name: str, message_type: str, message_endpoint: str) -> None:
        self._protocol = message_type
        self._message_endpoint = message_endpoint
        self._topic_name = "SMDebugRules"
        super().__init__(rule_name, message_type, endpoint=message_endpoint)
