"""Conditions that a run is checked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdebug.rules.checking import check
from smdebug.rules.req_tensors import RequiredTensors, RequiredTensorsForTrial
from smdebug.rules.rule import Rule

if TYPE_CHECKING:
    from smdebug.rules.rule_invoker import invoke_rule

__all__ = ["RequiredTensors", "RequiredTensorsForTrial", "Rule", "check", "invoke_rule"]


def __getattr__(name: str) -> object:
    # The module of invoke_rule() is a program, too, and is not to be imported before it runs.
    if name == "invoke_rule":
        from smdebug.rules.rule_invoker import invoke_rule

        return invoke_rule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
