"""Steps whose losses are scaled: by how much, and whether the scaler has left them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from smdebug import _core
from smdebug.pytorch import optimizers, scaling
from smdebug.pytorch.scaling import Scale, Scaling

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

# Scalars that rules heed.
_GRAD_SCALE: str = _core.GRAD_SCALE
_STEP_SKIPPED: str = _core.STEP_SKIPPED
# Of a scaler that leaves it to the optimizer, on the device, whether to step.
_NOT_KNOWN = -1.0


class ScaledSteps:
    """Takes scales out of gradients that are saved, and saves what scalers do with their steps.

    The scalars `grad_scale` (`grad_scale_1` and so on of further scalers) and `step_skipped`: 1 if
    a scaler has left the step out, 0 if the optimizer has made it.
    """

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._scaling = Scaling()
        self._has_gradients = False  # Those of the current step are saved.
        self.are_wanted = False  # What a scaler makes of losses matters now.
        self._follows_optimizers = False
        # Of the current step: the scalers whose scale was saved, and whether it was left out.
        self._scalers: set[int] = set()
        self._outcome: float | None = None
        self._device: torch.device | None = None  # Where that is only known, if it is.

    def listen(self) -> None:
        """The training is to come."""
        scaling.listening.add(self._hook)

    def begin_step(self, has_gradients: bool) -> None:
        """A step begins of which something is saved, gradients as well if `has_gradients`."""
        self._has_gradients = has_gradients
        self._scalers.clear()
        self._outcome = None
        self.are_wanted = has_gradients or self._hook._found_losses.are_wanted
        if self.are_wanted:
            scaling.kinds.look_for_more()

    def begin_forward(self) -> None:
        """A forward pass begins."""
        self._scaling.begin_forward()

    def end_step(self) -> None:
        """Nothing is saved of what comes."""
        self._has_gradients = False
        self._scalers.clear()
        self.are_wanted = False
        if self._follows_optimizers:
            optimizers.listening.remove(self._hook)
            self._follows_optimizers = False

    def close(self) -> None:
        """The training is over."""
        self.end_step()
        scaling.listening.remove(self._hook)

    def note_scaled(self, scaler: Any, loss: object, scaled: object) -> None:
        """A GradScaler has made `scaled` of `loss`."""
        core = self._hook._core
        if core is None or scaled is loss or not self._has_gradients:
            return
        try:
            if not self._hook.scaled:
                core.set_unscale(self._scaling.unscale)
            scale = self._scaling.scale_of(scaler)
            if scale is None:
                return
            if not self._hook.scaled:
                scaling.follow(self._hook, scaled, scale)
        except Exception:
            self._scaling.fail()
            raise
        if not self._follows_optimizers and self._hook.forwards_per_step == 1:
            self._follows_optimizers = True
            optimizers.listening.add(self._hook)
        if scale.number not in self._scalers:
            self._scalers.add(scale.number)
            number = f"_{scale.number}" if scale.number else ""
            self._save(f"{_GRAD_SCALE}{number}", scale.tensor)

    def begin_backward(self, scale: Scale, thread: int) -> None:
        """A backward pass has come to what `thread` has scaled."""
        try:
            self._scaling.begin_pass(scale, thread)
        except Exception:
            self._scaling.fail()
            raise

    def note_step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer has stepped, or a scaler has left that out."""
        if self._concerns(optimizer) and not optimizers.is_inside_scaler():
            self._save_outcome(0.0)

    def note_scaler_step(self, scaler: Any, optimizer: Any, was_made: bool) -> None:
        """A scaler was to have an optimizer step, and has if `was_made`.

        An optimizer that asks on the device whether to step was always called.
        """
        found = list(scaling.found_infinities(scaler, optimizer))
        if not found or not self._concerns(optimizer):
            return
        if all(number.device.type == "cpu" for number in found):
            self._save_outcome(float(any(number.item() for number in found)))
        elif not getattr(optimizer, "_step_supports_amp_scaling", False):
            self._save_outcome(float(not was_made))
        elif self._outcome in (None, 0):
            self._outcome = _NOT_KNOWN
            self._device = device = found[0].device
            with torch.no_grad():
                numbers = [number.to(device, non_blocking=True).reshape(()) for number in found]
                self._save(_STEP_SKIPPED, (torch.stack(numbers).sum() > 0).float())

    def _concerns(self, optimizer: torch.optim.Optimizer) -> bool:
        watched = self._hook._watched()
        return bool(self._scalers) and self._hook._accumulation.concerns.one_of(watched, optimizer)

    def _save_outcome(self, skipped: float) -> None:
        # One optimizer that is left out makes it a step that is.
        known = self._outcome
        if known == 1 or (known is not None and skipped == 0) or known == skipped:
            return
        self._outcome = skipped
        # What is on its way from a device comes first.
        device = self._device if known == _NOT_KNOWN else "cpu"
        self._save(_STEP_SKIPPED, torch.tensor(skipped, device=device))

    def _save(self, name: str, number: torch.Tensor) -> None:
        core, devices = self._hook._core, self._hook._devices
        if core is None:
            return
        if number.device.type == "cpu":
            core.save_scalar(name, number.item(), None)
        elif devices is None or not devices.take_scalar(name, number, None, None, False):
            core.skip(f"{self._hook.SCALAR_PREFIX}{name}", "is on a device that would be awaited")
