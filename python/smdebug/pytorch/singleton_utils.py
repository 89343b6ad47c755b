"""The process's hook for PyTorch."""

from __future__ import annotations

from smdebug.core.singleton_utils import del_hook, get_hook_of, set_hook
from smdebug.pytorch.hook import Hook

__all__ = ["del_hook", "get_hook", "set_hook"]

get_hook = get_hook_of(Hook, creates=False)
