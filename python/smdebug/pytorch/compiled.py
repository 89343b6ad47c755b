"""What torch.compile() makes of a model, and how a callback gets through it.

A callback inside what is compiled would cut the graph in two wherever it sits. So only the start
of a registered module does, once, before anything is computed; where even that is forbidden
(fullgraph=True) the callback is left out of the graph and says so while it is traced.
"""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import torch

from smdebug.core.logger import get_logger

Function = TypeVar("Function", bound=Callable[..., Any])

_compiler = getattr(torch, "compiler", None)
is_compiling: Callable[[], bool] = getattr(_compiler, "is_compiling", lambda: False)


def _call(function: Callable[..., None], *args: object) -> None:
    function(*args)


# Calls a function as it is, between the graphs. Set while a caller is traced, since PyTorch's
# compiler is slow to import for those who do not use it. Who calls it asks is_compiling() and
# may_cut_graph() in the same function: in one of its own they would not be traced together.
call_untraced = _call


def runs_while_tracing(function: Function) -> Function:
    """A function that runs when a caller of it is traced; its result becomes a constant."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@runs_while_tracing
def may_cut_graph(lost: str) -> bool:
    """Whether the graph being traced may be cut by call_untraced(). If not, `lost` is logged."""
    global call_untraced
    import torch._dynamo

    if call_untraced is _call:
        call_untraced = torch._dynamo.disable(_call)
    try:
        from torch._dynamo.symbolic_convert import InstructionTranslator

        whole = bool(InstructionTranslator.current_tx().one_graph)
    except Exception:  # PyTorch's own affairs; cutting is what it allows by default.
        return True
    if whole:
        get_logger().warning(lost)
    return not whole


def original_module(module: torch.nn.Module) -> torch.nn.Module:
    """What torch.compile() was given, or the module itself."""
    inner = getattr(module, "_orig_mod", None)
    return inner if isinstance(inner, torch.nn.Module) else module


def is_compiled(module: torch.nn.Module) -> bool:
    """Whether what runs inside the module is compiled."""
    return (
        original_module(module) is not module
        or getattr(module, "_compiled_call_impl", None) is not None
    )
