"""The built-in rules under the name of the module that had them first."""

from smdebug.rules.builtin import *  # noqa: F403
