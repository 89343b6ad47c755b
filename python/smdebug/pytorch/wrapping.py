"""Functions of PyTorch that tell of their calls, for as long as somebody listens."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any, Callable, Generic, Protocol, TypeVar

from smdebug._hook.making import making

Listener = TypeVar("Listener")

# Is given the function and what it is called with, and gives what it gives.
Around = Callable[..., Any]


class Wrapped(Protocol):
    """What tells of its calls from put_on() to take_off(); both may be called again."""

    def put_on(self) -> None: ...

    def take_off(self) -> None: ...


class Wrapping:
    """Has `around` called in place of a function of a class or a module."""

    def __init__(self, owner: Any, name: str, around: Around) -> None:
        self._owner = owner
        self._name = name
        self._around = around
        self._original: Callable[..., Any] | None = None
        self._wrapper: Callable[..., Any] | None = None

    def put_on(self) -> None:
        """Wraps the function, unless it is wrapped."""
        with making():
            if not self._is_on():
                setattr(self._owner, self._name, self._wrapper_of(vars(self._owner)[self._name]))

    def _wrapper_of(self, original: Callable[..., Any]) -> Callable[..., Any]:
        # The same each time: compiled code that calls it is compiled anew for another.
        if self._wrapper is None or self._original is not original:
            around = self._around

            @functools.wraps(original)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return around(original, *args, **kwargs)

            self._original, self._wrapper = original, wrapper
        return self._wrapper

    def take_off(self) -> None:
        """Puts the function back; where another has wrapped it since, nothing changes."""
        with making():
            if self._is_on():
                setattr(self._owner, self._name, self._original)

    def _is_on(self) -> bool:
        return self._wrapper is not None and vars(self._owner)[self._name] is self._wrapper


class Listeners(Generic[Listener]):
    """Who is told of something in PyTorch, which is wrapped while there are any. Keeps nobody."""

    def __init__(self, *wrapped: Wrapped) -> None:
        self._wrapped = wrapped
        # Replaced and never changed: other threads go through it.
        self._listeners: tuple[weakref.ref[Listener], ...] = ()

    def add(self, listener: Listener) -> None:
        """Tells `listener` from now on."""
        with making():
            if weakref.ref(listener) not in self._listeners:
                self._keep_all_but(listener)
                self._listeners += (weakref.ref(listener),)
                for wrapped in self._wrapped:
                    wrapped.put_on()

    def remove(self, listener: Listener) -> None:
        """Tells `listener` no more."""
        with making():
            self._keep_all_but(listener)
            if not self._listeners:
                for wrapped in self._wrapped:
                    wrapped.take_off()

    def _keep_all_but(self, listener: Listener) -> None:
        known = self._listeners
        self._listeners = tuple(one for one in known if one() not in (None, listener))

    def __iter__(self) -> Iterator[Listener]:
        for reference in self._listeners:
            listener = reference()
            if listener is not None:
                yield listener
