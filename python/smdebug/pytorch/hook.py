"""The hook for PyTorch."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections import Counter
from collections.abc import Iterable
from typing import Any, Callable, ClassVar

import torch

from smdebug import _core
from smdebug.core.arrays import Description
from smdebug.core.collection import Collection as BaseCollection
from smdebug.core.collection import CollectionKeys
from smdebug.core.endings import describe as describe_error
from smdebug.core.fail_open import counts_late, fails_once, fails_open, must_raise
from smdebug.core.hook import BaseHook
from smdebug.core.making import making
from smdebug.core.modes import ModeKeys
from smdebug.core.passed_on import passed_on
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import SaveConfig, SaveConfigMode
from smdebug.core.worker import Worker
from smdebug.exceptions import SMDebugError, SMDebugValueError
from smdebug.pytorch import optimizers
from smdebug.pytorch.accumulation import Accumulation, checked_forwards
from smdebug.pytorch.attachment import Attachment
from smdebug.pytorch.collection import Collection
from smdebug.pytorch.compiled import original_module
from smdebug.pytorch.devices import Devices
from smdebug.pytorch.distributed import find_worker
from smdebug.pytorch.losses import FoundLosses
from smdebug.pytorch.tensors import describe
from smdebug.pytorch.watched import (
    ExpectedBackward,
    StepCallback,
    WatchedModule,
    is_recomputing,
)

__getattr__ = passed_on(__name__)

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES]


class Hook(BaseHook):
    """Saves parameters, gradients, inputs and outputs of PyTorch modules, and losses.

    Each forward pass of a registered module is a step, or each `forwards_per_step` of them where
    gradients are accumulated, which they are not in EVAL and PREDICT; with "auto", all those up to
    a step of the optimizer. At a step of which nothing is
    saved, nothing of the hook is attached to the model but one callback of the registered module
    itself.
    """

    _framework: ClassVar[int] = 1
    _default_collections: ClassVar[list[str]] = DEFAULT_INCLUDE_COLLECTIONS
    _collection_class: ClassVar[type[BaseCollection]] = Collection
    _tensor_types: ClassVar[tuple[type, ...]] = (torch.Tensor, torch.nn.Parameter)
    _differs: ClassVar[tuple[Callable[[Any], bool], ...]] = (torch.Tensor.is_neg,)

    def __init__(
        self,
        out_dir: str | os.PathLike[str] | None = None,
        export_tensorboard: bool = False,
        tensorboard_dir: str | os.PathLike[str] | None = None,
        dry_run: bool = False,
        reduction_config: ReductionConfig | None = None,
        save_config: SaveConfig | SaveConfigMode | dict[ModeKeys, SaveConfigMode] | None = None,
        include_regex: str | Iterable[str] | None = None,
        include_collections: str | Iterable[Any] | None = None,
        save_all: bool = False,
        include_workers: str = "one",
        *,
        forwards_per_step: int | str = 1,
        rules: str | Iterable[str] | None = None,
        stop_on_rule: bool = False,
    ) -> None:
        self.forwards_per_step = checked_forwards(forwards_per_step)
        self._accumulation = Accumulation(self.forwards_per_step)
        self._recorded: Counter[str] = Counter()
        # Models are kept alive by their owners, and their WatchedModule by the callback on them.
        self._roots: list[weakref.ref[WatchedModule]] = []
        self._started: Callable[[], WatchedModule | None] = lambda: None
        self._losses: list[WatchedModule] = []
        self._found_losses = FoundLosses(self)
        self._handles: list[Any] = []
        self._attachment: Attachment | None = None
        self._devices: Devices | None = None
        # Whether a step of which nothing is saved needs nothing but to be counted.
        self._may_idle = False
        # Once a tensor was saved by save_tensor().
        self._backward: ExpectedBackward | None = None
        super().__init__(
            out_dir=out_dir,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            dry_run=dry_run,
            reduction_config=reduction_config,
            save_config=save_config,
            include_regex=include_regex,
            include_collections=include_collections,
            save_all=save_all,
            include_workers=include_workers,
            rules=rules,
            stop_on_rule=stop_on_rule,
        )

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
        watched = WatchedModule(module, with_parameters=True)
        self._watch(watched)
        handle = module.register_forward_pre_hook(StepCallback(self, watched))
        self._handles.append(handle)
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

    def _watch(self, watched: WatchedModule) -> None:
        self._is_of_this_process()
        with making():
            self._roots.append(watched.reference)
        if self._attachment is not None:
            self._attachment.detach()

    def _watched(self) -> list[WatchedModule]:
        """What is registered and still there."""
        roots = [reference() for reference in self._roots]
        alive = [root for root in roots if root is not None]
        if len(alive) < len(roots):
            with making():
                self._roots = [root for root in self._roots if root() is not None]
        return alive

    def count_parameters(self, model: torch.nn.Module) -> int:
        """How many numbers the parameters of a model have in all."""
        return sum(parameter.numel() for parameter in model.parameters())

    def should_save_dataloader_metrics(self, metrics_name: str) -> bool:
        """False: there is no profiler here."""
        del metrics_name
        return False

    def _complete_collections(self) -> None:
        self._name_modules_of_collections()
        self._take_classes()

    def _name_modules_of_collections(self) -> None:
        """Turns the modules that were added to collections into patterns of their names."""
        names = {
            original_module(module): name
            for root in self._watched()
            for name, module, _ in root.named_modules()
        }
        for collection in self.collection_manager.get_collections().values():
            for module, (inputs, outputs) in getattr(collection, "modules", {}).items():
                name = names.get(original_module(module))
                if name is None:
                    self.logger.warning(
                        f"Collection {collection.name} names a {type(module).__name__} that is in "
                        "no registered module"
                    )
                    continue
                if inputs:
                    collection.include(_core.module_pattern(name, True, False))
                if outputs:
                    collection.include(_core.module_pattern(name, False, True))

    def _take_classes(self) -> None:
        """Lets patterns that match no name match the classes of modules; the core says which."""
        roots = self._watched()
        modules = [
            (name, type(original_module(module)).__name__)
            for root in roots
            for name, module, _ in root.named_modules()
        ]
        names = [name for root in roots for name in root.gradient_names]
        names += [name.removeprefix(self.GRADIENT_PREFIX) for name in names]

        built_in = {
            name: Collection.from_json(text).include_regex
            for name, text in self._built_in().items()
        }

        def widen(patterns: list[str], kept: list[str]) -> None:
            for number, pattern in enumerate(patterns):
                if pattern in kept:
                    continue
                with contextlib.suppress(SMDebugValueError):  # No regex; that is told of later.
                    patterns[number] = _core.with_classes(pattern, modules, names)

        for name, collection in self.collection_manager.get_collections().items():
            widen(collection.include_regex, built_in.get(name, []))
        widen(self.include_regex, [])

    def _hints(self) -> list[str]:
        return sorted(
            {
                type(original_module(module)).__name__
                for root in self._watched()
                for _, module, _ in root.named_modules()
            }
        )

    # Steps.

    def set_mode(self, mode: ModeKeys | str) -> None:
        """Steps from now on are of `mode`; a change of it ends the step."""
        before = self.mode
        super().set_mode(mode)
        if self.mode is not before:
            self._accumulation.end_step()
            self._found_losses.end_step()

    def _gathers(self) -> bool:
        return self.mode in (ModeKeys.TRAIN, ModeKeys.GLOBAL)

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
            if self._may_idle and self._core is not None and self._core.begin_idle_step():
                return
        except Exception as error:
            if must_raise(self, "begin_idle_step", error):
                raise
        gathers = self._gathers()
        if self._accumulation.is_endless(gathers):
            self._report_misfit()
        begins = self._accumulation.begin_pass(gathers)
        if self._backward is not None:
            self._backward.expect(watched)
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
            if self._attachment is not None:
                self._attachment.detach()
            self._found_losses.end_step()
            self._may_idle = self.forwards_per_step == 1 and not (self._backward or self._off)
            return
        core = self._core
        assert core is not None
        if self._attachment is None:
            self._attachment = Attachment(self, core)
        contents = [(root, root.look()) for root in self._watched()]
        for root, (_, _, parameters, _) in contents:
            if root is watched:
                core.save_many(watched.parameter_names, parameters)
        self._attachment.attach(contents, watched, traced)
        self._found_losses.begin_step()

    def end_step(self) -> None:
        """Ends the current step, so that its files appear; the next forward pass begins another.

        Otherwise it ends with the next step, a change of the mode, or the hook. Scalars that are
        saved before the next step still belong to it.
        """
        super().end_step()
        self._accumulation.end_step()
        self._found_losses.end_step()
        if self._backward is not None:
            self._backward.forget()

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
        if self._gathers() and not self._accumulation.fits(self._watched(), optimizer):
            self._report_misfit()

    @fails_open
    def _report_misfit(self) -> None:
        """Counts that a step is not what the training does; the first time is logged."""
        started = self._started()
        if self._core is not None and started is not None:
            name = f"{self.GRADIENT_PREFIX}{started.name}"
            self._core.skip(name, self._accumulation.misfit)

    def _failed(self, part: str, error: Exception) -> bool:
        must_raise = super()._failed(part, error)
        if self._attachment is not None:
            self._attachment.detach()
        return must_raise

    def _detach(self) -> None:
        if self._attachment is not None:
            self._attachment.detach()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._found_losses.end_step()
        optimizers.listening.remove(self)
        self._losses.clear()
        if self._backward is not None:
            self._backward.forget()

    # Values.

    @staticmethod
    def _describe(value: object) -> Description:
        return describe(value)

    @counts_late
    def record_tensor_value(self, tensor_name: str, tensor_value: torch.Tensor) -> None:
        """Saves a tensor as an output of what `tensor_name` names, if that is due.

        Outputs of one name are numbered within a step.
        """
        if self._core is not None:
            number = self._recorded[tensor_name]
            self._recorded[tensor_name] += 1
            self._core.save(f"{tensor_name}_output_{number}", tensor_value)
        else:
            self._is_of_this_process()

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
    def _on_scaled(self, loss: object, scaled: object) -> None:
        self._found_losses.note_scaled(loss, scaled)

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
        self, name: str, value: object, timestamp: float | None, step: int | None
    ) -> bool:
        devices = self._devices
        return devices is not None and devices.take_scalar(name, value, timestamp, step)

    def _close(self, how: str, *ending: str) -> None:
        super()._close(how, *ending)
        if self._devices is not None:
            self._devices.close()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._devices = None
        self.forwards_per_step = 1
        self._accumulation = Accumulation(1)
        self._recorded = Counter()
        self._roots = []
        self._losses = []
        self._found_losses = FoundLosses(self)
        self._handles = []
        self._attachment = None
        self._backward = None
        self._may_idle = False
