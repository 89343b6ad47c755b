"""Modules that a hook watches, and the callbacks that it puts on them for a step."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable

import torch

from smdebug import _core
from smdebug.core.detached import reduce
from smdebug.pytorch import compiled
from smdebug.pytorch.compiled import is_compiled, original_module
from smdebug.pytorch.tensors import is_sharded, shard_suffix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.utils.hooks import RemovableHandle

    from smdebug.pytorch.hook import Hook

# Gives -1 unless it is called while gradients are computed, when a checkpointed module runs again.
_recomputing: Callable[[], int] | None = getattr(torch._C, "_current_graph_task_id", None)

# torch 1.13 hands no keyword arguments to callbacks.
_TAKES_KEYWORDS = {"with_kwargs": True} if hasattr(torch, "compile") else {}


def is_recomputing() -> bool:
    """Whether a module runs again only to get its gradients."""
    return _recomputing is not None and _recomputing() != -1


def _plain_name(name: str) -> str:
    """A dotted name without what torch.compile() puts between."""
    return ".".join(part for part in name.split(".") if part != "_orig_mod")


class WatchedModule:
    """A module with everything in it: a model, or a loss.

    Names are those of smdebug 1.0: the module itself goes by its class, what is in it by its
    dotted name, a parameter by both.
    """

    def __init__(self, module: torch.nn.Module, with_parameters: bool) -> None:
        self.reference = weakref.ref(self)
        self.module = module
        self.name = type(original_module(module)).__name__
        self.parameters: list[torch.nn.Parameter] = []
        self.gradient_names: list[str] = []
        names = []
        if with_parameters:
            for path, parameter in module.named_parameters():
                suffix = shard_suffix(parameter) if is_sharded(parameter) else ""
                name = f"{self.name}_{_plain_name(path)}{suffix}"
                self.parameters.append(parameter)
                names.append(name)
                self.gradient_names.append(f"gradient/{name}")
        self.parameter_names = _core.TensorNames(names)

    def named_modules(self) -> Iterator[tuple[str, torch.nn.Module, bool]]:
        """Every module in it with its name, and whether a callback on it would be traced."""
        inside: list[str] = []
        for path, module in self.module.named_modules():
            is_inside = any(path.startswith(prefix) for prefix in inside)
            wrapped = is_inside and path.endswith("_orig_mod")
            if is_compiled(module):
                inside.append(f"{path}." if path else "")
            # What torch.compile() wraps is the wrapper again.
            if not wrapped:
                traced = is_inside or (original_module(module) is module and is_compiled(module))
                yield _plain_name(path) or self.name, module, traced


class StepCallback:
    """Notifies the hook that a root module starts. A copy of it does nothing."""

    def __init__(self, hook: Hook, watched: WatchedModule) -> None:
        self.hook = hook
        self.watched = watched

    def __call__(self, *_: object) -> None:
        if not compiled.is_compiling():
            self.hook._on_root_forward(self.watched, False)
        elif compiled.may_cut_graph(self.watched.name):
            compiled.call_untraced(self.hook._on_root_forward, self.watched, True)

    def __reduce__(self) -> Any:
        return reduce()


class ExpectedBackward:
    """Whether a forward pass is over and its backward pass has still to come.

    Seen at one parameter of the module that ran, the last that learns.
    """

    def __init__(self) -> None:
        self.is_due = False
        self._handle: RemovableHandle | None = None

    def expect(self, watched: WatchedModule) -> None:
        """A forward pass begins."""
        self.forget()
        learning = (p for p in reversed(watched.parameters) if p.requires_grad)
        parameter = next(learning, None) if torch.is_grad_enabled() else None
        if parameter is not None:
            self.is_due = True
            self._handle = parameter.register_hook(_BackwardCallback(self))

    def forget(self) -> None:
        """There is nothing to wait for."""
        self.is_due = False
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


class _BackwardCallback:
    """Notifies the hook that the backward pass has come."""

    __torch_unserializable__ = True

    def __init__(self, expected: ExpectedBackward) -> None:
        self.expected = expected

    def __call__(self, _gradient: torch.Tensor) -> None:
        self.expected.is_due = False

    def __reduce__(self) -> Any:
        return reduce()


class AccumulatedGradient:
    """Saves the gradient that a parameter has gathered, once the step's last forward ran."""

    # torch.save() leaves such callbacks of a tensor out without a warning.
    __torch_unserializable__ = True

    def __init__(self, hook: Hook, save: Callable[[torch.Tensor], None]) -> None:
        self.hook = hook
        self.save = save

    def __call__(self, parameter: torch.Tensor) -> None:
        if self.hook._is_last_forward() and parameter.grad is not None:
            self.save(parameter.grad)

    def __reduce__(self) -> Any:
        return reduce()


class _AccumulationHandle:
    """Calls back after a gradient was added to a parameter's, with PyTorch before 2.1."""

    def __init__(
        self, parameter: torch.nn.Parameter, callback: Callable[[torch.Tensor], None]
    ) -> None:
        with torch.enable_grad():
            function: Any = parameter.view_as(parameter).grad_fn
        # Lives only as long as something holds it.
        self._node = function.next_functions[0][0]
        self._handle = self._node.register_hook(lambda *_: callback(parameter))

    def remove(self) -> None:
        """Takes the callback off."""
        self._handle.remove()


class Attachment:
    """The callbacks on watched modules while steps are saved."""

    def __init__(self, hook: Hook, core: _core.Hook) -> None:
        self._hook = hook
        self._core = core
        self._forward: weakref.WeakKeyDictionary[torch.nn.Module, Any] = weakref.WeakKeyDictionary()
        self._skipped: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._module_handles: list[RemovableHandle] = []
        self._gradient_handles: list[RemovableHandle | _AccumulationHandle] = []
        self._first_hooked: list[torch.nn.Parameter] = []
        # What was due, what ran compiled and what was learning when the callbacks were put on.
        self._attached_for: tuple[int, WatchedModule | None, list[bool]] | None = None

    def attach(self, watched: list[WatchedModule], started: WatchedModule, traced: bool) -> None:
        """Puts on what the current step needs; what is already there stays.

        `traced` says that `started`, which begins the step, runs inside compiled code.
        """
        due_key = self._core.due_key
        if not due_key:
            return  # Another thread has ended the step; what still comes of it is counted.
        learning = [parameter.requires_grad for root in watched for parameter in root.parameters]
        wanted = (due_key, started if traced else None, learning)
        if wanted == self._attached_for:
            return
        self.detach()
        self._attached_for = wanted
        for root in watched:
            self._attach_modules(root, traced and root is started)
            due = self._core.are_due(root.gradient_names)
            for parameter, name, is_due in zip(root.parameters, root.gradient_names, due):
                if is_due and parameter.requires_grad:
                    self._gradient_handles.append(self._attach_gradient(parameter, name))

    def detach(self) -> None:
        """Takes everything off."""
        if self._attached_for is None:
            return
        self._attached_for = None
        self._remove(self._module_handles)
        self._remove(self._gradient_handles)
        # PyTorch would go through even an empty dict of callbacks at every backward pass.
        for parameter in self._first_hooked:
            if not parameter._backward_hooks:
                parameter._backward_hooks = None
        self._first_hooked.clear()

    @staticmethod
    def _remove(handles: list[Any]) -> None:
        for handle in handles:
            handle.remove()
        handles.clear()

    def _attach_modules(self, root: WatchedModule, traced: bool) -> None:
        modules = list(root.named_modules())
        due = self._core.modules_are_due([name for name, _, _ in modules])
        for (name, module, is_traced), is_due in zip(modules, due):
            if not is_due:
                continue
            if traced or is_traced:
                self._skip_traced(name, module)
                continue
            callback = self._forward.get(module)
            if callback is None:
                callback = _core.ForwardCallback(self._core, name, _recomputing)
                self._forward[module] = callback
            self._module_handles.append(module.register_forward_hook(callback, **_TAKES_KEYWORDS))

    def _skip_traced(self, name: str, module: torch.nn.Module) -> None:
        if module not in self._skipped:
            self._skipped.add(module)
            self._core.skip(name, "is compiled: inputs and outputs inside it are not saved")

    def _attach_gradient(
        self, parameter: torch.nn.Parameter, name: str
    ) -> RemovableHandle | _AccumulationHandle:
        save = _core.TensorCallback(self._core, name)
        # A sharded parameter's gradient is put in place after the backward pass of its module.
        gathers = self._hook.forwards_per_step > 1 or is_sharded(parameter)
        if gathers:
            gathered = AccumulatedGradient(self._hook, save)
            if hasattr(parameter, "register_post_accumulate_grad_hook"):
                return parameter.register_post_accumulate_grad_hook(gathered)
            return _AccumulationHandle(parameter, gathered)
        if parameter._backward_hooks is None:
            self._first_hooked.append(parameter)
        return parameter.register_hook(save)
