"""When optimizers step, which ends the step of a hook that follows them."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Callable

import torch
from torch.optim.optimizer import Optimizer

from smdebug.pytorch import compiled
from smdebug.pytorch.wrapping import Listeners, Wrapping

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

GradScaler: Any = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler

_LOST = (
    "A step of an optimizer is compiled with fullgraph=True: smdebug does not see it, so "
    "forwards_per_step is not held to it."
)


class _Steps:
    """Tells of the steps of all optimizers."""

    def __init__(self) -> None:
        self._register = getattr(
            sys.modules[Optimizer.__module__], "register_optimizer_step_post_hook", None
        )
        self._handle: Any = None
        # PyTorch before 2.0 calls this function, which does nothing, at the end of each step.
        self._old = Wrapping(Optimizer, "_optimizer_step_code", _around_old_step)

    def put_on(self) -> None:
        """Tells of every step from now on."""
        if self._register is None:
            self._old.put_on()
        elif self._handle is None:
            self._handle = self._register(_tell)

    def take_off(self) -> None:
        """Tells no more."""
        self._old.take_off()
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def _tell(optimizer: Optimizer, *_: object) -> None:
    if not compiled.is_compiling():
        _tell_all(optimizer)
    elif compiled.may_cut_graph(_LOST):
        compiled.call_untraced(_tell_all, optimizer)


def _tell_all(optimizer: Optimizer) -> None:
    _in_scaler.has_stepped = True
    for hook in listening:
        hook._on_optimizer_step(optimizer)


def _around_old_step(function: Callable[..., None], optimizer: Optimizer) -> None:
    function(optimizer)
    _tell(optimizer)


class _InScaler(threading.local):
    """What goes on in the step of a scaler on this thread."""

    is_inside = False
    has_stepped = False  # The optimizer has.


_in_scaler = _InScaler()


def is_inside_scaler() -> bool:
    """Whether a scaler decides about the step that an optimizer makes."""
    return _in_scaler.is_inside


def _around_scaler(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A step that is left out, because its gradients are not finite, ends what led to it, too."""
    optimizer = kwargs["optimizer"] if "optimizer" in kwargs else args[1]
    if compiled.is_compiling():
        result = function(*args, **kwargs)
        _tell(optimizer)
        return result
    _in_scaler.is_inside, _in_scaler.has_stepped = True, False
    try:
        result = function(*args, **kwargs)
        for hook in listening:
            hook._on_scaler_step(args[0], optimizer, _in_scaler.has_stepped)
        _tell(optimizer)
    finally:
        _in_scaler.is_inside = False
    return result


# The hooks that are told of every step of an optimizer.
listening: Listeners[Hook] = Listeners(_Steps(), Wrapping(GradScaler, "step", _around_scaler))
