"""The hook for PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, ClassVar, Union

import torch

from smdebug import _core
from smdebug._hook.arrays import Description
from smdebug._hook.endings import describe as describe_error
from smdebug._hook.fail_open import fails_once, fails_open, must_raise
from smdebug._hook.making import making
from smdebug._hook.modules import ModuleHook
from smdebug._hook.settings import Setting
from smdebug._hook.worker import Worker
from smdebug._internal.checks import flag
from smdebug._internal.passed_on import passed_on
from smdebug.core.collection import Collection as BaseCollection
from smdebug.core.collection import CollectionKeys
from smdebug.exceptions import SMDebugError
from smdebug.pytorch import optimizers, scaling
from smdebug.pytorch.accumulation import Accumulation, checked_forwards
from smdebug.pytorch.attachment import Attachment
from smdebug.pytorch.collection import Collection
from smdebug.pytorch.compiled import original_module
from smdebug.pytorch.devices import Devices
from smdebug.pytorch.distributed import find_worker
from smdebug.pytorch.losses import FoundLosses
from smdebug.pytorch.scaled_steps import ScaledSteps
from smdebug.pytorch.tensors import describe
from smdebug.pytorch.watched import (
    ExpectedBackward,
    StepCallback,
    WatchedModule,
    is_recomputing,
)

__getattr__ = passed_on(__name__)

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES]


class Hook(ModuleHook[WatchedModule]):
    """Saves parameters, gradients, inputs and outputs of PyTorch modules, and losses.

    Each forward pass of a registered module is a step, or each `forwards_per_step` of them where
    gradients are accumulated, which they are not in EVAL and PREDICT; with "auto", all those up to
    a step of the optimizer. At a step of which nothing is saved, nothing of the hook is attached
    to the model but one callback of the registered module itself. What a GradScaler multiplied
    gradients by is taken out of them, unless `scaled` is set.
    """

    _framework: ClassVar[_core.Framework] = _core.Framework.PYTORCH
    _default_collections: ClassVar[list[str]] = DEFAULT_INCLUDE_COLLECTIONS
    _collection_class: ClassVar[type[BaseCollection]] = Collection
    _tensor_types: ClassVar[tuple[type, ...]] = (torch.Tensor, torch.nn.Parameter)
    _differs: ClassVar[tuple[Callable[[Any], bool], ...]] = (torch.Tensor.is_neg,)

    forwards_per_step: Setting[Union[int, str], Union[int, str]] = Setting(
        'How many forward passes of a registered module make up a step, or "auto".',
        checked_forwards,
        default=1,
        kw_only=True,
    )
    scaled: Setting[bool, bool] = Setting(
        "Whether gradients keep the scale of a GradScaler.", flag, default=False, kw_only=True
    )

    _counts_late: ClassVar[frozenset[str]] = ModuleHook._counts_late | {"scaled"}

    def _start_over(self) -> None:
        super()._start_over()
        # What began the current step.
        self._started: Callable[[], WatchedModule | None] = lambda: None
        self._losses: list[WatchedModule] = []
        self._accumulation = Accumulation(self.forwards_per_step)
        self._found_losses = FoundLosses(self)
        self._scaled_steps = ScaledSteps(self)
        self._handles: list[Any] = []
        self._attachment: Attachment | None = None
        self._devices: Devices | None = None
        # Whether a step of which nothing is saved needs nothing but to be counted.
        self._may_idle = False
        # Once a tensor was saved by save_tensor().
        self._backward: ExpectedBackward | None = None

    def get_collection(self, name: str, create: bool = True) -> Collection:
        """The collection of that name; a new one if there is none and `create` is set."""
        collection = super().get_collection(name, create)
        assert isinstance(collection, Collection)
        return collection

    # Registration.

    def register_module(self, module: torch.nn.Module) -> None:
        """Watches a model. Its forward pass is a step; what is in it goes by its dotted name.

        Raises SMDebugError for what is not a module, and AssertionError if it, or a part of it,
        is registered already.
        """
        if not isinstance(module, torch.nn.Module):
            raise SMDebugError(f"{type(module).__name__} is not a torch.nn.Module")
        known = {part for root in self._watched() for _, part, _ in root.named_modules()}
        for name, part in module.named_modules():
            assert part not in known, f"module {name or type(part).__name__} is already registered"
        if not self._is_of_this_process():
            return
        watched = WatchedModule(module, with_parameters=True)
        self._watch(watched)
        handle = module.register_forward_pre_hook(StepCallback(self, watched))
        self._handles.append(handle)
        self._scaled_steps.listen()
        if self.forwards_per_step != 1:
            optimizers.listening.add(self)
        count = self.count_parameters(module)
        self.logger.info(f"Watching {watched.name} with {count} parameters")

    def register_hook(self, module: torch.nn.Module) -> None:
        """The same as register_module()."""
        self.register_module(module)

    def register_loss(self, loss_module: torch.nn.Module) -> None:
        """Watches a loss, which goes by the name of its class."""
        if not isinstance(loss_module, torch.nn.Module):
            raise SMDebugError(f"{type(loss_module).__name__} is not a torch.nn.Module")
        watched = WatchedModule(loss_module, with_parameters=False)
        self._watch(watched)
        self._losses.append(watched)
        self._found_losses.give_up()

    def count_parameters(self, model: torch.nn.Module) -> int:
        """How many numbers the parameters of a model have in all."""
        return sum(parameter.numel() for parameter in model.parameters())

    def should_save_dataloader_metrics(self, metrics_name: str) -> bool:
        """False: there is no profiler here."""
        del metrics_name
        return False

    def _original(self, module: Any) -> Any:
        return original_module(module)

    # Steps.

    def _on_root_forward(self, watched: WatchedModule, traced: bool) -> None:
        """Starts a step, or goes on with one whose forward passes are not all done.

        `traced` says that the module is inside compiled code.
        """
        if is_recomputing():
            return
        self._started = watched.reference
        if self._guard is not None:
            self._heed_rules()
        try:
            watched.note_thread()
            if self._may_idle and self._core is not None and self._core.begin_idle_step():
                return
        except Exception as error:
            if must_raise(self, "begin_idle_step", error):
                raise
        self._begin_forward(watched, traced)

    @fails_open
    def _begin_forward(self, watched: WatchedModule, traced: bool) -> None:
        gathers = self._gathers()
        if self._accumulation.is_endless(gathers):
            self._report_misfit()
        begins = self._accumulation.begin_pass(gathers)
        if self._backward is not None:
            self._backward.expect(watched)
        self._scaled_steps.begin_forward()
        if begins and "_start_step" not in self._off:
            self._start_step(watched, traced)
        else:
            self._found_losses.begin_forward()
        self._accumulation.end_pass_alone(gathers)

    @fails_open
    def _start_step(self, watched: WatchedModule, traced: bool) -> None:
        self._may_idle = False
        self._recorded.clear()
        if not self._begin_step():
            is_bare = self._attachment is None or self._attachment.detach_here()
            self._found_losses.end_step()
            self._scaled_steps.end_step()
            counts = self.forwards_per_step == 1 and not (self._backward or self._off)
            self._may_idle = counts and is_bare
            return
        core = self._core
        assert core is not None
        if self._attachment is None:
            self._attachment = Attachment(self, core)
        watching = [root for root in self._watched() if not root.is_elsewhere()]
        parameters = [(root, root.look()) for root in watching]
        for root, current in parameters:
            if root is watched:
                core.save_many(watched.parameter_names, current)
        self._attachment.attach(parameters, watched, traced)
        self._found_losses.begin_step()
        self._scaled_steps.begin_step(self._attachment.has_gradients)

    def end_step(self) -> None:
        """Ends the current step, as any hook does; the next forward pass begins another."""
        super().end_step()
        if self._backward is not None:
            self._backward.forget()

    def _on_step_end(self) -> None:
        self._accumulation.end_step()
        self._found_losses.end_step()
        self._scaled_steps.end_step()

    def _belongs_to_next_step(self) -> bool:
        # As in smdebug 1.0: only what comes between a forward pass and its backward pass belongs
        # to the step of the two.
        if not self._has_begun:
            return True
        if self._backward is None:
            with making():
                self._expect_backward()
        assert self._backward is not None
        return not self._backward.is_due

    def _expect_backward(self) -> None:
        if self._backward is not None:
            return
        self._may_idle = False
        backward = ExpectedBackward()
        root = self._started()
        if root is not None and all(p.grad is None for p in root.module.parameters()):
            backward.expect(root)
        self._backward = backward

    def _may_be_last_forward(self) -> bool:
        return self._accumulation.may_be_last_pass(self._gathers())

    @fails_once
    def _on_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        if not self._gathers():
            return
        self._scaled_steps.note_step(optimizer)
        if not self._accumulation.fits(self._watched(), optimizer):
            self._report_misfit()

    @fails_open
    def _report_misfit(self) -> None:
        """Counts that a step is not what the training does; the first time is logged."""
        started = self._started()
        if self._core is not None and started is not None:
            name = f"{self.GRADIENT_PREFIX}{started.name}"
            self._core.skip(name, self._accumulation.misfit)

    def _tell_unused(self) -> None:
        for root in self._watched():
            if root.is_model and not root.has_run:
                self.logger.warning(
                    f"{root.name} was registered and never called, so nothing of it was saved. "
                    "Register the module that the training calls; calls of its methods, as of "
                    "training_step() of a LightningModule, are none"
                )

    def _detach_step(self) -> None:
        if self._attachment is not None:
            self._attachment.detach()

    def _detach(self) -> None:
        super()._detach()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._found_losses.end_step()
        self._scaled_steps.close()
        optimizers.listening.remove(self)
        self._losses.clear()
        if self._backward is not None:
            self._backward.forget()

    # Values.

    @staticmethod
    def _describe(value: object) -> Description:
        return describe(value)

    def save_tensor(
        self,
        tensor_name: str,
        tensor_value: object,
        collections_to_write: str | Iterable[str] = "default",
    ) -> None:
        """Saves a tensor, as any hook does. One that is called `loss` is the loss."""
        if tensor_name == FoundLosses.NAME:
            self._found_losses.give_up()
        super().save_tensor(tensor_name, tensor_value, collections_to_write)

    @fails_once
    def _on_scaled(self, scaler: object, loss: object, scaled: object) -> None:
        self._found_losses.note_scaled(loss, scaled)
        self._scaled_steps.note_scaled(scaler, loss, scaled)

    @fails_once
    def _on_scaled_backward(self, scale: scaling.Scale, thread: int) -> None:
        self._scaled_steps.begin_backward(scale, thread)

    @fails_once
    def _on_scaler_step(self, scaler: object, optimizer: object, was_made: bool) -> None:
        self._scaled_steps.note_scaler_step(scaler, optimizer, was_made)

    @fails_once
    def _on_backward(self, tensors: object) -> None:
        if self._core is not None:
            self._found_losses.save_roots(self._core, tensors)

    @fails_once
    def _on_output(self, output: object) -> None:
        if self._core is not None:
            self._found_losses.save_output(self._core, output)

    def _find_worker(self) -> Worker:
        return find_worker()

    # Devices.

    def _make_core(self) -> _core.Hook:
        core = super()._make_core()
        try:
            self._devices = Devices(core)
        except Exception as error:
            if core.leave_out("tensors on a device", describe_error(error)):
                raise
        return core

    def _save_number_elsewhere(
        self,
        name: str,
        value: object,
        timestamp: float | None,
        step: int | None,
        is_metric: bool,
    ) -> bool:
        devices = self._devices
        return devices is not None and devices.take_scalar(name, value, timestamp, step, is_metric)

    def _close(self, how: str, *ending: str) -> None:
        super()._close(how, *ending)
        if self._devices is not None:
            self._devices.close()
