"""The callbacks that a hook puts on watched modules for a step."""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any, Callable, Union

import torch
from torch.utils.hooks import RemovableHandle

from smdebug import _core
from smdebug._hook.detached import reduce
from smdebug.pytorch.contents import Contents
from smdebug.pytorch.losses import OutputCallback
from smdebug.pytorch.tensors import is_sharded
from smdebug.pytorch.watched import WatchedModule, recomputing

if TYPE_CHECKING:
    from smdebug.pytorch.hook import Hook

# torch 1.13 hands no keyword arguments to callbacks.
_TAKES_KEYWORDS = {"with_kwargs": True} if hasattr(torch, "compile") else {}


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
_learns = operator.attrgetter("requires_grad")
# What PyTorch has behind the object of Python, and may exchange.
_inside_of = operator.attrgetter("_cdata")
_callbacks_of = operator.attrgetter("_backward_hooks")
_callbacks_after_accumulation_of = operator.attrgetter("_post_accumulate_grad_hooks")


class _Attached:
    """What is attached to one watched module, and what that consisted of then."""

    def __init__(self, watched: WatchedModule, contents: Contents) -> None:
        self.gradient_names = watched.gradient_names
        self.modules: list[RemovableHandle] = []
        # For each parameter: None where its gradient is not due, or it takes none.
        self.gradients: list[_Handle | None] = []
        self._paths = contents.module_paths
        self._modules = [weakref.ref(module) for module in contents.modules]
        self._learning = list(map(_learns, contents.parameters))
        self._insides = list(map(_inside_of, contents.parameters))

    def is_for(self, watched: WatchedModule, contents: Contents) -> bool:
        """Whether it is what `watched` needs, which has these contents now."""
        return (
            self.gradient_names is watched.gradient_names
            and self._paths == contents.module_paths
            and all(map(operator.is_, [module() for module in self._modules], contents.modules))
            and self._learning == list(map(_learns, contents.parameters))
            and self._insides == list(map(_inside_of, contents.parameters))
            and all(
                handle is None or handle.is_on(parameter)
                for handle, parameter in zip(self.gradients, contents.parameters)
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
        self._attached: list[_Attached] = []
        # What was due, and what ran compiled, when the callbacks were put on; None without any.
        self._attached_for: tuple[int, WatchedModule | None] | None = None

    def attach(
        self, watched: list[tuple[WatchedModule, Contents]], started: WatchedModule, traced: bool
    ) -> None:
        """Puts on what the current step needs; what is already there stays.

        `traced` says that `started`, which begins the step, runs inside compiled code.
        """
        due_key = self._core.due_key
        if not due_key:
            return  # Another thread has ended the step; what still comes of it is counted.
        wanted = (due_key, started if traced else None)
        if wanted == self._attached_for and self._is_for(watched):
            return
        self.detach()
        self._attached_for = wanted
        for root, contents in watched:
            self._attach(root, contents, traced and root is started)

    def _is_for(self, watched: list[tuple[WatchedModule, Contents]]) -> bool:
        return len(watched) == len(self._attached) and all(
            attached.is_for(root, contents)
            for attached, (root, contents) in zip(self._attached, watched)
        )

    def detach(self) -> None:
        """Takes everything off."""
        if self._attached_for is None:
            return
        self._attached_for = None
        attached, self._attached = self._attached, []
        for one in attached:
            one.remove()
        self._forget_empty_dicts(
            {
                id(handle.callbacks())
                for one in attached
                for handle in one.gradients
                if isinstance(handle, _GradientHandle) and handle.is_first
            }
        )

    def _forget_empty_dicts(self, made: set[int]) -> None:
        """PyTorch would go through even an empty dict of callbacks at every backward pass."""
        for root in self._hook._watched() if made else ():
            for parameter in root.look().parameters:
                callbacks = parameter._backward_hooks
                if callbacks is not None and not callbacks and id(callbacks) in made:
                    parameter._backward_hooks = None

    def _attach(self, root: WatchedModule, contents: Contents, traced: bool) -> None:
        attached = _Attached(root, contents)
        self._attached.append(attached)
        self._attach_modules(root, traced, attached)
        due = self._core.are_due(root.gradient_names)
        for parameter, name, is_due in zip(contents.parameters, root.gradient_names, due):
            learns = is_due and parameter.requires_grad
            attached.gradients.append(self._attach_gradient(parameter, name) if learns else None)

    def _attach_modules(self, root: WatchedModule, traced: bool, attached: _Attached) -> None:
        modules = list(root.named_modules())
        due = self._core.modules_are_due([name for name, _, _ in modules])
        for (name, module, is_traced), is_due in zip(modules, due):
            if not is_due:
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
            callback = _core.ForwardCallback(self._core, name, recomputing)
            self._forward[module] = (name, callback)
        return callback

    def _skip_traced(self, name: str, module: torch.nn.Module) -> None:
        if module not in self._skipped:
            self._skipped.add(module)
            self._core.skip(name, "is compiled: inputs and outputs inside it are not saved")

    def _attach_gradient(self, parameter: torch.Tensor, name: str) -> _Handle:
        save = _core.TensorCallback(self._core, name)
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
