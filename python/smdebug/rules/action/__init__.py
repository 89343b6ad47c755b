"""What to do when a rule fires."""

from smdebug.rules.action.action import Actions

__all__ = ["Actions"]
