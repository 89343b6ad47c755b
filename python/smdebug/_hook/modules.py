"""A hook on the parts of a model that are called."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from smdebug import _core
from smdebug._hook.fail_open import counts_late
from smdebug._hook.making import making
from smdebug.core.hook import BaseHook
from smdebug.core.modes import ModeKeys


class Watched(Protocol):
    """A model or loss that is registered. The callback on it keeps this, its owner keeps it."""

    gradient_names: list[str]

    def named_modules(self) -> Iterable[tuple[str, Any, bool]]:
        """Its parts, itself included: each with the name of its tensors, and one thing more."""
        ...


Root = TypeVar("Root", bound=Watched)


class ModuleHook(BaseHook, Generic[Root]):
    """A hook on models that are made of modules, layers or blocks.

    Its step begins with a forward pass of what is registered. Inputs and outputs have the names
    of the modules.
    """

    def _set_up(self) -> None:
        self._start_over()
        super()._set_up()

    def _start_over(self) -> None:
        """Nothing is registered."""
        self._recorded: Counter[str] = Counter()
        self._roots: list[weakref.ref[Root]] = []

    # What is registered.

    def _watch(self, watched: Root) -> None:
        self._is_of_this_process()
        with making():
            self._roots.append(weakref.ref(watched))
        self._detach_step()

    def _watched(self) -> list[Root]:
        """What is registered and still there."""
        roots = [reference() for reference in self._roots]
        alive = [root for root in roots if root is not None]
        if len(alive) < len(roots):
            with making():
                self._roots = [root for root in self._roots if root() is not None]
        return alive

    def _parts(self) -> list[tuple[str, Any]]:
        """What is in all that is registered, by name."""
        return [
            (name, self._original(module))
            for root in self._watched()
            for name, module, _ in root.named_modules()
        ]

    def _original(self, module: Any) -> Any:
        """What users know a module by: itself, or what stands in for it here."""
        return module

    def _complete_collections(self) -> None:
        """Turns the modules that were added to collections into patterns of their names."""
        names = {module: name for name, module in self._parts()}
        for collection in self.collection_manager.get_collections().values():
            for module, (inputs, outputs) in getattr(collection, "modules", {}).items():
                name = names.get(self._original(module))
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

    def _model(self) -> dict[str, Any]:
        gradients = [name for root in self._watched() for name in root.gradient_names]
        parameters = [name.removeprefix(self.GRADIENT_PREFIX) for name in gradients]
        return {
            "modules": [(name, type(module).__name__) for name, module in self._parts()],
            "names": gradients + parameters,
        }

    # Steps.

    def set_mode(self, mode: ModeKeys | str) -> None:
        """Steps from now on are of `mode`; a change of it ends the step."""
        before = self.mode
        super().set_mode(mode)
        if self.mode is not before:
            self._on_step_end()

    def end_step(self) -> None:
        """Ends the current step, so that its files appear; the next forward pass begins another.

        Otherwise it ends with the next step, a change of the mode, or the hook. Scalars that are
        saved before the next step still belong to it.
        """
        super().end_step()
        self._on_step_end()

    def _on_step_end(self) -> None:
        """The next forward pass begins a step."""

    def _gathers(self) -> bool:
        """Whether gradients may be accumulated, which they are not in an evaluation."""
        return self.mode in (ModeKeys.TRAIN, ModeKeys.GLOBAL)

    def _failed(self, part: str, error: Exception) -> bool:
        must_raise = super()._failed(part, error)
        self._detach_step()
        return must_raise

    def _detach_step(self) -> None:
        """Takes off what a step has on the model; the next one that needs it puts it on anew."""

    def _detach(self) -> None:
        self._detach_step()

    # Values.

    @counts_late
    def record_tensor_value(self, tensor_name: str, tensor_value: Any) -> None:
        """Saves a tensor as an output of what `tensor_name` names, if that is due.

        Outputs of one name are numbered within a step.
        """
        if self._core is not None:
            number = self._recorded[tensor_name]
            self._recorded[tensor_name] += 1
            self._core.save(f"{tensor_name}{self.OUTPUT_TENSOR_SUFFIX}{number}", tensor_value)
        else:
            self._is_of_this_process()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._start_over()
