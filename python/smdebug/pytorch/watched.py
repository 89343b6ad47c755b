"""Modules that a hook watches: what is in them now, and when they run."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable

import torch

from smdebug import _core
from smdebug._hook.detached import reduce
from smdebug.pytorch import compiled
from smdebug.pytorch.compiled import is_compiled, original_module
from smdebug.pytorch.contents import Sharded, last_that_learns, look_into

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.utils.hooks import RemovableHandle

    from smdebug.pytorch.hook import Hook

# Gives -1 unless it is called while gradients are computed, when a checkpointed module runs again.
recomputing: Callable[[], int] | None = getattr(torch._C, "_current_graph_task_id", None)


# Where PyTorch's compiler takes the call of a method of the core for its own, the method is called
# without its object.
_look: Callable[[_core.SeenModule, torch.nn.Module], list[Any] | None] = _core.SeenModule.look


def is_recomputing() -> bool:
    """Whether a module runs again only to get its gradients."""
    return recomputing is not None and recomputing() != -1


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
        self.gradient_names: list[str] = []
        self.parameter_names = _core.TensorNames([])
        self.version = 0  # Another one whenever there is something else in it.
        self.is_model = with_parameters
        # Of nothing, so that the module is another.
        self._seen = _core.SeenModule(torch.nn.Module(), torch.nn.Parameter, with_parameters)
        self._paths: list[str] = []  # Of the parameters when they were named.
        self._sharded: Sharded = weakref.WeakKeyDictionary()
        self._thread: int | None = None  # In which it ran last.
        self.has_moved = False  # Whether it ran in several threads.
        self.look()

    def look(self) -> list[torch.Tensor]:
        """The parameters that are in it now; names and version are brought up to date.

        No parameter is kept, and no weak reference made to one: PyTorch refuses to swap the
        contents of tensors that have any.
        """
        found = _look(self._seen, self.module)
        if found is not None:
            is_plain = self._seen.is_plain and not self._sharded
            return found if is_plain else self._look_closely()
        seen = _core.SeenModule(self.module, torch.nn.Parameter, self.is_model)
        parameters = self._look_closely()
        self.version += 1
        self._seen = seen  # Others go by it once the names fit.
        return parameters

    def _look_closely(self) -> list[torch.Tensor]:
        if not self.is_model:
            return []
        contents = look_into(self.module, self._sharded)
        if contents.paths != self._paths:
            names = [f"{self.name}_{_plain_name(path)}" for path in contents.paths]
            self.parameter_names = _core.TensorNames(names)
            self.gradient_names = [f"gradient/{name}" for name in names]
            self._paths = contents.paths
            self.version += 1
        return contents.parameters

    def note_thread(self) -> None:
        """It runs in this thread now."""
        thread = threading.get_ident()
        if self._thread != thread:
            self.has_moved = self._thread is not None
            self._thread = thread

    @property
    def has_run(self) -> bool:
        """Whether it has been called."""
        return self._thread is not None

    def is_elsewhere(self) -> bool:
        """Whether it ran in another thread, which may be computing its gradients."""
        return self._thread is not None and self._thread != threading.get_ident()

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
        self._lost = (
            f"{watched.name} is compiled with fullgraph=True, and its hook is inside: nothing of "
            "its steps is saved. Register what torch.compile() gives instead."
        )

    def __call__(self, *_: object) -> None:
        if not compiled.is_compiling():
            self.hook._on_root_forward(self.watched, False)
        elif compiled.may_cut_graph(self._lost):
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
        parameter = last_that_learns(watched.module) if torch.is_grad_enabled() else None
        if parameter is not None:
            self.is_due = True
            self._handle = parameter.register_hook(_BackwardCallback(self))

    def forget(self) -> None:
        """There is nothing to wait for."""
        self.is_due = False
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()


class _BackwardCallback:
    """Notifies the hook that the backward pass has come."""

    __torch_unserializable__ = True

    def __init__(self, expected: ExpectedBackward) -> None:
        self.expected = expected

    def __call__(self, _gradient: torch.Tensor) -> None:
        self.expected.is_due = False

    def __reduce__(self) -> Any:
        return reduce()
