"""The callbacks that a hook puts on watched modules for a step."""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any, Callable, Union

import torch
from torch.utils.hooks import RemovableHandle

from smdebug import _core
from smdebug._hook.detached import reduce
from smdebug._hook.making import making
from smdebug.pytorch.losses import OutputCallback
from smdebug.pytorch.tensors import is_sharded
from smdebug.pytorch.watched import WatchedModule, recomputing

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

# torch 1.13 hands no keyword arguments to callbacks.
_TAKES_KEYWORDS = {"with_kwargs": True} if hasattr(torch, "compile") else {}


def _prefixes_of(module: str) -> tuple[str, str]:
    """What the numbers of a module's inputs and outputs come after."""
    return f"{module}_input_", f"{module}_output_"


class AccumulatedGradient:
    """Saves the gradient that a parameter has gathered, if the step's last forward may have run."""

    # torch.save() leaves such callbacks of a tensor out without a warning.
    __torch_unserializable__ = True

    def __init__(self, hook: Hook, save: Callable[[torch.Tensor], None]) -> None:
        self.hook = hook
        self.save = save

    def __call__(self, parameter: torch.Tensor) -> None:
        if self.hook._may_be_last_forward() and parameter.grad is not None:
            self.save(parameter.grad)

    def __reduce__(self) -> Any:
        return reduce()


class _GradientHandle:
    """A callback on a parameter; knows the parameter without keeping it, by its dict of callbacks.

    `is_first` says that the parameter had no such dict before.
    """

    def __init__(
        self,
        handle: RemovableHandle,
        dict_of: Callable[[torch.Tensor], Any],
        is_first: bool = False,
    ) -> None:
        self._handle = handle
        self._dict_of = dict_of
        self.is_first = is_first

    def callbacks(self) -> Any:
        """The dict that it is in; None if the parameter is gone."""
        return self._handle.hooks_dict_ref()

    def is_on(self, parameter: torch.Tensor) -> bool:
        """Whether `parameter` is the one."""
        callbacks = self._handle.hooks_dict_ref()
        return callbacks is not None and callbacks is self._dict_of(parameter)

    def remove(self) -> None:
        """Takes the callback off."""
        self._handle.remove()


class _AccumulationHandle:
    """Calls back after a gradient was added to a parameter's, with PyTorch before 2.1."""

    def __init__(self, parameter: torch.Tensor, callback: Callable[[torch.Tensor], None]) -> None:
        with torch.enable_grad():
            function: Any = parameter.view_as(parameter).grad_fn
        # Lives only as long as something holds it, and holds the parameter.
        self._node = function.next_functions[0][0]
        self._handle = self._node.register_hook(lambda *_: callback(parameter))

    def is_on(self, parameter: torch.Tensor) -> bool:
        """Whether `parameter` is the one."""
        return self._node.variable is parameter

    def remove(self) -> None:
        """Takes the callback off."""
        self._handle.remove()
        self._node = None


_Handle = Union[_GradientHandle, _AccumulationHandle]
# Of each watched module, as they are now.
_Parameters = list[tuple[WatchedModule, list[torch.Tensor]]]
_learns = operator.attrgetter("requires_grad")
# What PyTorch has behind the object of Python, and may exchange.
_inside_of = operator.attrgetter("_cdata")
_callbacks_of = operator.attrgetter("_backward_hooks")
_callbacks_after_accumulation_of = operator.attrgetter("_post_accumulate_grad_hooks")


class _Attached:
    """What is attached to one watched module, and what that consisted of then.

    `purpose` is what was due, and whether the module runs inside compiled code.
    """

    def __init__(
        self, watched: WatchedModule, parameters: list[torch.Tensor], purpose: tuple[int, bool]
    ) -> None:
        self._purpose = purpose
        self.modules: list[RemovableHandle] = []
        # For each parameter: None where it takes no gradient. Empty if no gradient is due.
        self.gradients: list[_Handle | None] = []
        self._version = watched.version
        self._learning = list(map(_learns, parameters))
        self._insides = list(map(_inside_of, parameters))

    def is_for(
        self, watched: WatchedModule, parameters: list[torch.Tensor], purpose: tuple[int, bool]
    ) -> bool:
        """Whether it is what `watched` needs, which has these parameters now."""
        return (
            self._purpose == purpose
            and self._version == watched.version
            and (not self.gradients or self._is_on(parameters))
        )

    def _is_on(self, parameters: list[torch.Tensor]) -> bool:
        return (
            self._learning == list(map(_learns, parameters))
            and self._insides == list(map(_inside_of, parameters))
            and all(
                handle is None or handle.is_on(parameter)
                for handle, parameter in zip(self.gradients, parameters)
            )
        )

    def remove(self) -> None:
        """Takes everything off."""
        for handle in (*self.modules, *self.gradients):
            if handle is not None:
                handle.remove()


class Attachment:
    """The callbacks on watched modules while steps are saved."""

    def __init__(self, hook: Hook, core: _core.Hook) -> None:
        self._hook = hook
        self._core = core
        # By module: the name under which it was seen, and its callback.
        self._forward: weakref.WeakKeyDictionary[torch.nn.Module, tuple[str, Any]] = (
            weakref.WeakKeyDictionary()
        )
        self._skipped: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._attached: dict[weakref.ref[WatchedModule], _Attached] = {}

    def attach(self, watched: _Parameters, started: WatchedModule, traced: bool) -> None:
        """Puts on what the current step needs; what is already there stays.

        `traced` says that `started`, which begins the step, runs inside compiled code.
        """
        with making():
            due_key = self._core.due_key
            if not due_key:
                return  # Another thread has ended the step; what still comes of it is counted.
            wanted = [(due_key, traced and root is started) for root, _ in watched]
            outdated = [
                root
                for (root, parameters), purpose in zip(watched, wanted)
                if not self._is_for(root, parameters, purpose)
            ]
            gone = [reference for reference in self._attached if reference() is None]
            self._remove([*gone, *(root.reference for root in outdated)])
            for (root, parameters), purpose in zip(watched, wanted):
                if root.reference not in self._attached:
                    self._attach(root, parameters, purpose)

    def _is_for(
        self, root: WatchedModule, parameters: list[torch.Tensor], purpose: tuple[int, bool]
    ) -> bool:
        attached = self._attached.get(root.reference)
        return attached is not None and attached.is_for(root, parameters, purpose)

    @property
    def has_gradients(self) -> bool:
        """Whether gradients are due."""
        return any(attached.gradients for attached in self._attached.values())

    def detach(self) -> None:
        """Takes everything off."""
        with making():
            self._remove(list(self._attached))

    def detach_here(self) -> bool:
        """Takes off what is not on a model that another thread trains; whether that is all."""
        with making():
            roots = [(reference, reference()) for reference in self._attached]
            self._remove([ref for ref, root in roots if root is None or not root.is_elsewhere()])
            return not self._attached

    def _remove(self, references: list[weakref.ref[WatchedModule]]) -> None:
        attached = [(ref(), self._attached.pop(ref)) for ref in references if ref in self._attached]
        for _, one in attached:
            one.remove()
        made = {
            id(handle.callbacks())
            for _, one in attached
            for handle in one.gradients
            if isinstance(handle, _GradientHandle) and handle.is_first
        }
        for root, _ in attached if made else ():
            # PyTorch may be going through the dicts of a model that another thread trains.
            if root is not None and not root.is_elsewhere() and not root.has_moved:
                self._forget_empty_dicts(root, made)

    def _forget_empty_dicts(self, root: WatchedModule, made: set[int]) -> None:
        """PyTorch would go through even an empty dict of callbacks at every backward pass."""
        for parameter in root.look():
            callbacks = parameter._backward_hooks
            if callbacks is not None and not callbacks and id(callbacks) in made:
                parameter._backward_hooks = None

    def _attach(
        self, root: WatchedModule, parameters: list[torch.Tensor], purpose: tuple[int, bool]
    ) -> None:
        attached = _Attached(root, parameters, purpose)
        self._attached[root.reference] = attached
        self._attach_modules(root, purpose[1], attached)
        due = self._core.are_due(root.gradient_names)
        if not any(due):
            return
        for parameter, name, is_due in zip(parameters, root.gradient_names, due):
            learns = is_due and parameter.requires_grad
            attached.gradients.append(self._attach_gradient(parameter, name) if learns else None)

    def _attach_modules(self, root: WatchedModule, traced: bool, attached: _Attached) -> None:
        modules = list(root.named_modules())
        prefixes = [prefix for name, _, _ in modules for prefix in _prefixes_of(name)]
        due = self._core.prefixes_are_due(prefixes)
        for (name, module, is_traced), *is_due in zip(modules, due[::2], due[1::2]):
            if not any(is_due):
                continue
            if traced or is_traced:
                self._skip_traced(name, module)
                continue
            callback = self._callback_of(name, module)
            attached.modules.append(module.register_forward_hook(callback, **_TAKES_KEYWORDS))
        if self._hook._found_losses.are_wanted and not (traced or modules[0][2]):
            found = root.module.register_forward_hook(OutputCallback(self._hook))
            attached.modules.append(found)

    def _callback_of(self, name: str, module: torch.nn.Module) -> Any:
        known, callback = self._forward.get(module, ("", None))
        if callback is None or known != name:  # It may have been moved to another place.
            prefixes = _prefixes_of(name)
            callback = _core.ForwardCallback(self._core, name, *prefixes, recomputing)
            self._forward[module] = (name, callback)
        return callback

    def _skip_traced(self, name: str, module: torch.nn.Module) -> None:
        if module not in self._skipped:
            self._skipped.add(module)
            self._core.skip(name, "is compiled: inputs and outputs inside it are not saved")

    def _attach_gradient(self, parameter: torch.Tensor, name: str) -> _Handle:
        save = _core.GradientCallback(self._core, name)
        # A sharded parameter's gradient is put in place after the backward pass of its module.
        gathers = self._hook.forwards_per_step != 1 or is_sharded(parameter)
        # What functional_call() puts in a parameter's place need not gather anything.
        if gathers and parameter.is_leaf:
            gathered = AccumulatedGradient(self._hook, save)
            if hasattr(parameter, "register_post_accumulate_grad_hook"):
                handle = parameter.register_post_accumulate_grad_hook(gathered)
                return _GradientHandle(handle, _callbacks_after_accumulation_of)
            return _AccumulationHandle(parameter, gathered)
        is_first = parameter._backward_hooks is None
        return _GradientHandle(parameter.register_hook(save), _callbacks_of, is_first)
