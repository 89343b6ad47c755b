"""What smdebug.pytorch of smdebug 1.0 offers by name is offered here, and called as before."""

from __future__ import annotations

import os
import sys

import pytest
from support.api import check_framework

# What we do not have, and why.
MISSING = {
    # Which worker this is, is found without SageMaker's own library.
    "smdebug.pytorch.hook.smdataparallel",
    # The callbacks of its own on modules and parameters.
    "smdebug.pytorch.hook.Hook.backward_hook",
    "smdebug.pytorch.hook.Hook.bhook",
    "smdebug.pytorch.hook.Hook.fhook",
    "smdebug.pytorch.hook.Hook.forward_hook",
    "smdebug.pytorch.hook.Hook.forward_pre_hook",
    # There is no profiler.
    "smdebug.pytorch.hook.Hook.log_outstanding_backward_stats_and_reset",
    "smdebug.pytorch.hook.Hook.log_outstanding_forward_stats_and_reset",
    "smdebug.pytorch.hook.Hook.log_trace_event",
    "smdebug.pytorch.hook.Hook.reset_backward_module_profile_stats",
    "smdebug.pytorch.hook.Hook.reset_forward_module_profile_stats",
}

# What we have otherwise, and why.
CHANGED = {
    # All hooks are below BaseHook; there is no CallbackHook.
    "smdebug.pytorch.hook.Hook",
    # Without an argument, the default is that of the framework.
    "smdebug.pytorch.hook.Hook.has_default_hook_configuration",
}


def test_every_name_is_there_and_is_called_as_before() -> None:
    python = os.environ.get("SMDEBUG_REFERENCE_TORCH")
    if python is None:
        pytest.skip("SMDEBUG_REFERENCE_TORCH names no Python that has smdebug 1.0 and PyTorch")
    check_framework("smdebug.pytorch", python, sys.executable, MISSING, CHANGED)
