"""Helpers for programs that read runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from smdebug.trials.trial import Trial

Trials = TypeVar("Trials", bound="Trial | list[Trial]")


@contextmanager
def no_refresh(trials: Trials) -> Iterator[Trials]:
    """Inside, the trials look for no new steps."""
    with _refreshing(trials, on=False):
        yield trials


@contextmanager
def refresh(trials: Trials) -> Iterator[Trials]:
    """Inside, the trials look for new steps."""
    with _refreshing(trials, on=True):
        yield trials


@contextmanager
def _refreshing(trials: Trial | list[Trial], on: bool) -> Iterator[None]:
    """Puts back what was before, whatever happens inside."""
    with ExitStack() as stack:
        for trial in trials if isinstance(trials, list) else [trials]:
            stack.callback(setattr, trial, "dynamic_refresh", trial.dynamic_refresh)
            trial.dynamic_refresh = on
        yield


def parse_list_from_str(arg: str | list[str] | None, delimiter: str = ",") -> list[str]:
    """The items of a string, as they are; a list is returned as it is; None has no items."""
    if isinstance(arg, list):
        return arg
    if arg is not None and not isinstance(arg, str):
        raise ValueError(f"'{arg}' is not allowed; expected a string or a list")
    return arg.split(delimiter) if arg else []


def parse_bool(arg: bool | int | str | None, default: bool) -> bool:
    """True for True, 1, "True" and "true"; likewise False; the default for None."""
    if arg is None:
        return default
    if isinstance(arg, int) and arg in (0, 1):
        return bool(arg)
    if arg in ("True", "true"):
        return True
    if arg in ("False", "false"):
        return False
    raise ValueError(f"'{arg}' is not allowed; expected True, true, False or false")
