"""Gradients of scaled losses: what a GradScaler multiplied them by is taken out again."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Callable

import torch

from smdebug._hook.detached import reduce
from smdebug.pytorch import compiled
from smdebug.pytorch.optimizers import GradScaler
from smdebug.pytorch.tensors import is_sharded
from smdebug.pytorch.watched import recomputing
from smdebug.pytorch.wrapping import Listeners, Wrapping

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

_LOST = (
    "A loss is scaled in code that is compiled with fullgraph=True: smdebug does not see it, and "
    "its gradients are saved scaled."
)
_SEVERAL = "is of a backward pass of losses with several scales, so that its own cannot be told"


def _around_scale(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    scaled = function(*args, **kwargs)
    loss = kwargs["outputs"] if "outputs" in kwargs else args[1]
    if not compiled.is_compiling():
        _tell_scaled(args[0], loss, scaled)
    elif compiled.may_cut_graph(_LOST):
        compiled.call_untraced(_tell_scaled, args[0], loss, scaled)
    return scaled


def _tell_scaled(scaler: object, loss: object, scaled: object) -> None:
    for hook in listening:
        if hook._scaled_steps.are_wanted:
            hook._on_scaled(scaler, loss, scaled)


class _Scalers:
    """Tells what the kinds of GradScaler there are make of losses.

    They are wrapped as long as a hook is open: where a script computes the loss in the call of
    `scale`, Python looks up that function before the forward pass begins.
    """

    def __init__(self) -> None:
        self._wrappings: dict[type, Wrapping] = {}
        self._kinds: list[type] = []

    def put_on(self) -> None:
        """Tells of every scaling from now on."""
        self._kinds = list(_kinds_of(GradScaler))
        for kind in self._kinds:
            if "scale" in vars(kind):
                made = self._wrappings.setdefault(kind, Wrapping(kind, "scale", _around_scale))
                made.put_on()

    def take_off(self) -> None:
        """Tells no more."""
        for wrapping in self._wrappings.values():
            wrapping.take_off()

    def look_for_more(self) -> None:
        """Tells of kinds that have come since, too."""
        if self._kinds != list(_kinds_of(GradScaler)):
            self.put_on()


def _kinds_of(kind: type) -> Iterator[type]:
    yield kind
    other: type
    for other in kind.__subclasses__():
        yield from _kinds_of(other)


kinds = _Scalers()
# The hooks that are told what scalers make of losses.
listening: Listeners[Hook] = Listeners(kinds)


class Scale:
    """What a scaler multiplies losses by for now."""

    def __init__(self, scaler: Any, number: int) -> None:
        self.number = number  # Of the scaler, from 0 on.
        self.tensor: torch.Tensor = scaler._scale
        self._version = self.tensor._version
        # As GradScaler.unscale_() has it, on each device. A copy: update() changes the tensor.
        with torch.no_grad():
            inverse = (
                self.tensor.reciprocal()
                if self.tensor.device.type == "mps"
                else self.tensor.double().reciprocal().float()
            )
        self._inverse = {inverse.device: inverse.reshape(())}

    def is_current(self, scaler: Any) -> bool:
        """Whether the scaler has not been updated since."""
        return scaler._scale is self.tensor and self.tensor._version == self._version

    def take_out_of(self, gradient: torch.Tensor) -> torch.Tensor:
        """The gradient without the scale; of half precision as float32, or it might become 0."""
        with torch.no_grad():
            if is_sharded(gradient):
                gradient = gradient.to_local()
            wide = torch.promote_types(gradient.dtype, torch.float32)
            return gradient.detach().to(wide) * self._inverse_on(gradient.device)

    def _inverse_on(self, device: torch.device) -> torch.Tensor:
        inverse = self._inverse.get(device)
        if inverse is None:
            inverse = next(iter(self._inverse.values()))
            # One number of the CPU is taken by any device.
            if inverse.device.type != "cpu":
                # What comes to the CPU is awaited.
                inverse = inverse.to(device, non_blocking=device.type != "cpu")
            self._inverse[device] = inverse
        return inverse


class _Pass:
    """A backward pass of a loss that `thread` has scaled."""

    def __init__(self, scale: Scale, thread: int) -> None:
        self.scale = scale
        self.thread = thread
        self.has_several = False  # Losses with other scales, too.
        self.is_over = False

    def end(self) -> None:
        """Its gradients are all there, but those that other callbacks of its end still make."""
        self.is_over = True


class Scaling:
    """Knows by how much the loss of each backward pass was scaled.

    It holds no hook: the core's hook holds it.
    """

    def __init__(self) -> None:
        self._scales: weakref.WeakKeyDictionary[Any, Scale] = weakref.WeakKeyDictionary()
        self._scalers = 0  # Seen so far.
        # By the number that PyTorch has for them, or that of the thread where it tells none.
        self._passes: dict[int, _Pass] = {}
        self._has_failed = False

    def scale_of(self, scaler: Any) -> Scale | None:
        """What the scaler multiplies losses by; None if not as GradScaler does."""
        if getattr(scaler, "_scale", None) is None:
            return None
        known = self._scales.get(scaler)
        if known is not None and known.is_current(scaler):
            return known
        if known is None:
            number, self._scalers = self._scalers, self._scalers + 1
        else:
            number = known.number
        self._scales[scaler] = scale = Scale(scaler, number)
        return scale

    def begin_forward(self) -> None:
        """A forward pass begins: backward passes of this thread are over, or have failed."""
        if self._passes:
            thread = threading.get_ident()
            kept = {key: one for key, one in self._passes.items() if one.thread != thread}
            self._passes = kept

    def begin_pass(self, scale: Scale, thread: int) -> None:
        """A backward pass has come to a loss that `thread` has scaled."""
        key = _current_pass()
        known = self._passes.get(key)
        if known is not None and not known.is_over:
            known.has_several |= known.scale is not scale
            return
        begun = _Pass(scale, thread)
        torch.autograd.Variable._execution_engine.queue_callback(begun.end)
        self._passes[key] = begun

    def fail(self) -> None:
        """Nothing is known any more."""
        self._has_failed = True

    def unscale(self, gradient: torch.Tensor) -> torch.Tensor | str:
        """A gradient that a backward pass has computed, without the scale; or why there is none."""
        if self._has_failed:
            return "may be scaled, and by how much is not known"
        found = self._passes.get(_current_pass())
        if found is None or (found.is_over and recomputing is None):
            # A checkpoint runs backward passes of its own within another.
            running = [one for one in self._passes.values() if not one.is_over]
            if not running:
                return gradient
            found = running[0]
            if any(one.scale is not found.scale for one in running):
                return _SEVERAL
        return _SEVERAL if found.has_several else found.scale.take_out_of(gradient)


def _current_pass() -> int:
    return threading.get_ident() if recomputing is None else recomputing()


class _PassBegins:
    """Is called when a backward pass comes to a scaled loss, which is where it begins."""

    # torch.save() leaves such callbacks of a tensor out without a warning.
    __torch_unserializable__ = True

    def __init__(self, hook: Hook, scale: Scale) -> None:
        self.hook = hook
        self.scale = scale
        self.thread = threading.get_ident()

    def __call__(self, _gradient: torch.Tensor) -> None:
        self.hook._on_scaled_backward(self.scale, self.thread)

    def __reduce__(self) -> Any:
        return reduce()


def follow(hook: Hook, scaled: object, scale: Scale) -> None:
    """Tells the hook when the backward pass of what a scaler has made begins."""
    for tensor in _tensors_in(scaled):
        if tensor.requires_grad:
            tensor.register_hook(_PassBegins(hook, scale))


def _tensors_in(values: object) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors_in(value)


def found_infinities(scaler: Any, optimizer: object) -> Iterable[torch.Tensor]:
    """On each device the number that is not 0 if a scaler has found a gradient not finite."""
    states = getattr(scaler, "_per_optimizer_states", {})
    state = states.get(id(optimizer), {})
    found: dict[torch.device, torch.Tensor] = state.get("found_inf_per_device", {})
    return found.values()
