"""Losses that are no modules: what a backward pass begins at, and what a model says is its loss."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

import torch

from smdebug import _core
from smdebug._hook.detached import reduce
from smdebug.core.collection import Collection, CollectionKeys
from smdebug.pytorch import compiled
from smdebug.pytorch.watched import is_recomputing
from smdebug.pytorch.wrapping import Listeners, Wrapping

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

_LOST = "A backward pass is compiled with fullgraph=True: smdebug does not see its loss."


def _is_loss(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() == 1 and value.is_floating_point()


class BackwardLoss:
    """Finds the scalars at which backward passes begin, as they are before scaling.

    Of each forward pass that is expect()ed it is one backward pass, on the same thread.
    """

    def __init__(self) -> None:
        # How many backward passes are still to come, by the thread that ran the forward passes.
        self._due: dict[int, int] = {}
        # What a GradScaler made of a loss, and the loss.
        self._scaled: list[tuple[weakref.ref[torch.Tensor], torch.Tensor]] = []

    def expect(self, models: int) -> None:
        """A forward pass of one of so many models begins."""
        thread = threading.get_ident()
        self._due[thread] = min(self._due.get(thread, 0) + 1, models)
        self._scaled = [one for one in self._scaled if one[0]() is not None]

    def forget(self) -> None:
        """There is nothing to wait for."""
        self._due = {}
        self._scaled = []

    def _is_meant(self) -> bool:
        # A checkpoint runs backward passes of its own within another.
        return self._due.get(threading.get_ident(), 0) > 0 and not is_recomputing()

    def note_scaled(self, loss: Any, scaled: Any) -> None:
        """A GradScaler has made `scaled` of `loss`."""
        if scaled is not loss and _is_loss(loss) and _is_loss(scaled) and self._is_meant():
            self._scaled.append((weakref.ref(scaled), loss.detach()))

    def losses_at(self, tensors: object) -> list[torch.Tensor]:
        """The losses of a backward pass that begins at `tensors`, if it is one that is due."""
        if not self._is_meant():
            return []
        roots = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        losses = [self._unscaled(root) for root in roots if _is_loss(root)]
        if losses:
            # Another thread may have ended the step meanwhile.
            thread = threading.get_ident()
            self._due[thread] = max(self._due.get(thread, 0) - 1, 0)
        return losses

    def _unscaled(self, loss: torch.Tensor) -> torch.Tensor:
        for scaled, plain in self._scaled:
            if scaled() is loss:
                return plain
        return loss.detach()


def _around_backward(function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    tensors = args[0] if args else kwargs.get("tensors")
    if not compiled.is_compiling():
        _tell_backward(tensors)
    elif compiled.may_cut_graph(_LOST):
        compiled.call_untraced(_tell_backward, tensors)
    function(*args, **kwargs)


def _tell_backward(tensors: object) -> None:
    for hook in listening:
        hook._on_backward(tensors)


# The hooks that are told of backward passes. Tensor.backward() calls this function, too.
listening: Listeners[Hook] = Listeners(
    Wrapping(sys.modules["torch.autograd"], "backward", _around_backward)
)


class OutputCallback:
    """Hands the hook the output of a registered module that runs without gradients."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook

    def __call__(self, *called: object) -> None:
        if not torch.is_grad_enabled():
            self.hook._on_output(called[-1])

    def __reduce__(self) -> Any:
        return reduce()


def loss_in(output: object) -> torch.Tensor | None:
    """What is called `loss` in the output of a model, if that can be one."""
    loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    return loss if isinstance(loss, torch.Tensor) and _is_loss(loss) else None


class FoundLosses:
    """Saves the losses of a training that hands over none, as `loss`, `loss_1` and so on.

    As soon as the collection `losses` has got anything else, it stops.
    """

    NAME = "loss"

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self.are_wanted = True
        self._is_saved = False  # Whether the current step is.
        self._names: set[str] = set()
        self._number = 0  # Of losses in the current step.
        self._backward = BackwardLoss()

    def begin_step(self) -> None:
        """A step begins of which something is saved."""
        self._is_saved = self.are_wanted
        self._number = 0
        self.begin_forward()

    def begin_forward(self) -> None:
        """A forward pass begins, of the current step."""
        if self._is_saved and torch.is_grad_enabled():
            self._backward.expect(sum(root.is_model for root in self._hook._watched()))
            listening.add(self._hook)

    def end_step(self) -> None:
        """Nothing is saved of what comes."""
        if self._is_saved:
            self._is_saved = False
            self._backward.forget()
            listening.remove(self._hook)

    def give_up(self) -> None:
        """The script hands over losses itself."""
        self.are_wanted = False
        self.end_step()

    def note_scaled(self, loss: object, scaled: object) -> None:
        """A GradScaler has made `scaled` of `loss`."""
        self._backward.note_scaled(loss, scaled)

    def save_roots(self, core: _core.Hook, tensors: object) -> None:
        """A backward pass begins at `tensors`."""
        for loss in self._backward.losses_at(tensors):
            self._save(core, loss)

    def save_output(self, core: _core.Hook, output: object) -> None:
        """A model has given `output`, and no backward pass follows."""
        loss = loss_in(output) if self._is_saved else None
        if loss is not None:
            self._save(core, loss)

    def _save(self, core: _core.Hook, loss: torch.Tensor) -> None:
        known = core.collection(CollectionKeys.LOSSES)
        if known is not None and Collection.from_json(known).tensor_names - self._names:
            self.give_up()
            return
        number = self._number
        self._number += 1
        name = f"{self.NAME}_{number}" if number else self.NAME
        self._names.add(name)
        core.save_tensor(name, loss, [CollectionKeys.LOSSES])
