"""The hook that a process has made last, as smdebug 1.0 keeps it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, TypeVar

from smdebug._hook.making import making
from smdebug.core.logger import get_logger
from smdebug.exceptions import SMDebugTypeError

if TYPE_CHECKING:
    from smdebug._hook.life import HookLife
    from smdebug.core.hook import BaseHook

HookType = TypeVar("HookType", bound="BaseHook")
MadeHook = TypeVar("MadeHook", bound="BaseHook", covariant=True)

_hook: HookLife | None = None


def make_room(hook: HookLife) -> None:
    """Abandons the process's hook if it is still open on the folder of `hook`.

    So a notebook's cell can run again; the run that it began is set aside there.
    """
    if _hook is not None and _hook is not hook and _hook.out_dir == hook.out_dir:
        _hook._abandon()


def set_hook(custom_hook: HookLife) -> None:
    """Makes `custom_hook` the one that get_hook() gives, and makes room for it."""
    from smdebug.core.hook import BaseHook

    global _hook
    if not isinstance(custom_hook, BaseHook):
        raise SMDebugTypeError(f"{custom_hook!r} is not a hook")
    make_room(custom_hook)
    _hook = custom_hook


def del_hook() -> None:
    """Forgets the hook. It stays open."""
    global _hook
    _hook = None


def get_hook(
    *,
    json_config_path: str | None,
    hook_class: type[HookType],
    create_if_not_exists: bool,
) -> HookType | None:
    """The process's hook of that class; made from the JSON configuration if asked for.

    None if there is no hook and none may be made, if there is no configuration to make it from,
    and where USE_SMDEBUG says no.
    """
    global _hook
    if not is_enabled():
        return None
    if isinstance(_hook, hook_class):
        return _hook
    with making():
        if isinstance(_hook, hook_class):
            return _hook
        _hook = None
        if not create_if_not_exists:
            return None
        try:
            return hook_class.create_from_json_file(json_config_path)
        except FileNotFoundError as error:
            get_logger().info(f"smdebug makes no hook: {error}")
            return None


class GetHook(Protocol[MadeHook]):
    """The get_hook() of a framework."""

    def __call__(
        self, json_config_path: str | None = None, create_if_not_exists: bool = False
    ) -> MadeHook | None:
        """The hook that was made last, else one from the JSON configuration."""


def get_hook_of(hook_class: type[HookType], creates: bool) -> GetHook[HookType]:
    """The get_hook() of the framework whose hooks are of that class.

    It `creates` a hook, if there is none, unless it is told whether to.
    """

    def get_hook_of_framework(
        json_config_path: str | None = None, create_if_not_exists: bool = creates
    ) -> HookType | None:
        """The hook that was made last; None if there is none.

        With `create_if_not_exists` it is made from the JSON configuration, if there is one. None
        where USE_SMDEBUG says no.
        """
        return get_hook(
            json_config_path=json_config_path,
            hook_class=hook_class,
            create_if_not_exists=create_if_not_exists,
        )

    get_hook_of_framework.__name__ = get_hook_of_framework.__qualname__ = "get_hook"
    return get_hook_of_framework


def is_enabled() -> bool:
    """Whether USE_SMDEBUG leaves hooks on, as it does by default."""
    text = os.environ.get("USE_SMDEBUG", "true").strip().lower()
    if text in ("y", "yes", "t", "true", "on", "1"):
        return True
    if text in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"USE_SMDEBUG={text!r} is not a boolean")
