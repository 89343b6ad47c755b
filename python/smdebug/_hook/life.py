"""How a hook lives: the core's hook is made late, counts steps, and ends once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Callable, ClassVar, TypeVar

from smdebug import _core
from smdebug._hook.arrays import Description, describe_array
from smdebug._hook.collections import HookCollections
from smdebug._hook.endings import close_at_end, describe, ending_of, open_hooks
from smdebug._hook.fail_open import fails_open, must_raise
from smdebug._hook.making import making
from smdebug._hook.worker import Worker
from smdebug._internal.checks import not_negative
from smdebug._internal.native_log import relay
from smdebug.core.logger import get_logger
from smdebug.core.modes import ModeKeys, str_to_mode_keys
from smdebug.core.singleton_utils import make_room, set_hook
from smdebug.exceptions import SMDebugError, SMDebugValueError

LifeType = TypeVar("LifeType", bound="HookLife")


class HookLife(HookCollections):
    """From the first step, or the first value that waits for it, there is a hook of the core.

    It is of the process that made this one: a copy, a pickle elsewhere and a forked child do
    nothing.
    """

    # Classes of tensors, and tests for those whose memory does not hold their values.
    _tensor_types: ClassVar[tuple[type, ...]] = ()
    _differs: ClassVar[tuple[Callable[[Any], bool], ...]] = ()
    # Whether another process has sent it, to be one of several that write the same run.
    _came_from_elsewhere = False

    def _set_up(self) -> None:
        self._pid: int | None = os.getpid()
        # Shows other jobs, until the core's hook is made, that the folder is taken.
        self._place: object = None
        self._off: set[str] = set()
        self._has_failed = False  # The core's hook could not be made.
        self._closed = False
        self._guard: _core.RuleGuard | None = None
        self.mode = ModeKeys.GLOBAL
        super()._set_up()
        if not self._came_from_elsewhere:
            make_room(self)
            worker = self._find_worker()
            self._place = _core.check_out_dir(
                self._incomplete_settings(), worker.name, worker.count, worker.is_chief
            )
            set_hook(self)
        close_at_end(self)

    # The core's hook.

    def _prepare(self) -> _core.Hook | None:
        """The core's hook, made at the first call; None if it could not be made.

        It is made in the process that made this hook alone, by the thread that comes first.
        """
        if self._core is None and "core" not in self._off:
            with making():
                if self._core is None and self._is_of_this_process() and not self._closed:
                    self._core = self._try_to_make_core()
        return self._core

    def _is_of_this_process(self) -> bool:
        """Whether it may do anything here; if not, that is said once."""
        if os.getpid() == self._pid:
            return "core" not in self._off
        with making():
            if "core" not in self._off:
                self._off.add("core")
                self.logger.warning(
                    "smdebug saves nothing with this hook: it is a copy, or was made in another "
                    "process. A process that trains makes a hook of its own"
                )
        return False

    def _try_to_make_core(self) -> _core.Hook | None:
        try:
            return self._make_core()
        except Exception as error:
            self._off.add("core")
            self._has_failed = True
            if _core.is_strict():
                raise
            reason = str(error) if isinstance(error, SMDebugError) else describe(error)
            self.logger.error(f"smdebug saves nothing: {reason}")
            return None
        finally:
            self._place = None
            relay()

    def _make_core(self) -> _core.Hook:
        self._save_what_rules_need()
        worker = self._find_worker()
        core = _core.Hook(
            self._usable_settings(),
            worker.name,
            worker.count,
            worker.is_chief,
            self._tensor_types,
            self._differs,
            self._describe,
        )
        core.set_mode(self.mode.value)
        if self.rules and not self.dry_run:
            self._guard = _core.guard(core, self.rules, self.stop_on_rule)
        return core

    @staticmethod
    def _describe(value: object) -> Description:
        """Where the values of `value` are; a framework's hook knows its own tensors."""
        return describe_array(value)

    def _find_worker(self) -> Worker:
        """Which process of the job this is."""
        return Worker()

    @property
    def worker(self) -> str:
        """The name of this process in the job."""
        return self._find_worker().name

    # Steps.

    @property
    def step(self) -> int:
        """The current step over all modes; -1 before the first."""
        return -1 if self._core is None else self._core.step

    @property
    def mode_steps(self) -> dict[ModeKeys, int]:
        """The current step of each mode that has one."""
        if self._core is None:
            return {}
        steps = {mode: self._core.mode_step(mode.value) for mode in ModeKeys}
        return {mode: step for mode, step in steps.items() if step >= 0}

    @fails_open
    def set_mode(self, mode: ModeKeys | str) -> None:
        """Steps from now on are of `mode`, or of that name; anything else changes nothing."""
        try:
            self.mode = mode if isinstance(mode, ModeKeys) else str_to_mode_keys(mode)
        except ValueError as error:
            wrong = SMDebugValueError(str(error))
            if self._leave_out("set_mode", wrong):
                raise wrong from None
            return
        if self._core is not None:
            self._core.set_mode(self.mode.value)

    def _begin_step(self, number: int | None = None) -> bool:
        """Starts the next step; returns whether anything of it is to be saved."""
        if not self._has_begun:
            if not self._is_of_this_process():
                return False
            with making():
                return self._begin_first_step(number)
        core = self._prepare()
        return core is not None and core.begin_step(number)

    def _begin_first_step(self, number: int | None) -> bool:
        try:
            if not self._has_begun:
                self._settle_collections()
            core = self._prepare()
            if core is not None and not self._has_begun:
                # What a regex that takes nothing may have been meant to take.
                core.add_hints(sorted({kind for _, kind in self._model().get("modules", ())}))
            return core is not None and core.begin_step(number)
        finally:
            # Until now, what other threads save waits for the step.
            self._has_begun = True

    @fails_open
    def end_step(self) -> None:
        """Ends the current step, so that its files appear.

        Otherwise it ends with the next step, a change of the mode, or the hook. Scalars that are
        saved before the next step still belong to it.
        """
        if self._core is not None:
            self._core.end_step()

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until everything of the steps that have ended can be read; whether it can.

        False if `timeout`, in seconds, passes first, if the disk does not answer, if anything was
        lost, for a scalar that came after its step was written, which appears with the next, for a
        `timeout` that is not a number of at least 0, and where the hook saves nothing: as a copy,
        in a child, and if its folder could not be had. What was dropped, as all is after
        `close()`, is not lost in this sense: `stats` counts it.
        """
        core = self._core
        try:
            seconds = None if timeout is None else not_negative("timeout", timeout)
            if core is None:
                return os.getpid() == self._pid and "core" not in self._off
            return core.flush(seconds)
        except Exception as error:
            if must_raise(self, "flush", error):
                raise
        return False

    # Failures.

    def _failed(self, part: str, error: Exception) -> bool:
        """Goes on without a part that failed; whether `error` is to be raised nonetheless."""
        must_raise = self._leave_out(part, error)
        self._off.add(part)
        return must_raise

    def _leave_out(self, name: str, error: Exception) -> bool:
        """Has the core count what failed; whether `error` is to be raised nonetheless."""
        self.logger.debug(f"smdebug failed in {name}", exc_info=error)
        if self._core is not None:
            return self._core.leave_out(name, describe(error))
        if name not in self._off:
            self.logger.error(f"smdebug goes on without {name}: {error!r}")
        return _core.is_strict()

    @property
    def stats(self) -> Mapping[str, float]:
        """What was saved, dropped, skipped and lost so far, as the run's ledger has it.

        Of a hook that saves nothing, because its folder was refused say, `errors` is 1.
        """
        if self._core is not None:
            return self._core.stats
        return {**_core.no_stats(), "errors": int(self._has_failed)}

    # The end.

    def __enter__(self: LifeType) -> LifeType:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Closes the hook; as failed, or interrupted, if an exception ends the block."""
        self._close("close", *ending_of(error))

    def close(self) -> None:
        """Writes what is left and marks the run as ended. Later calls do nothing.

        Called while an exception passes, as from a `finally`, it marks the run as failed.
        """
        self._close("close", *ending_of(sys.exc_info()[1]))

    def _abandon(self) -> None:
        """Leaves the run unfinished, for a hook that starts over in the same folder."""
        if self._core is None:
            self._closed = True
            self._place = None
        else:
            self._close("abandon")

    @fails_open
    def _close(self, how: str, *ending: str) -> None:
        if self._closed:
            return
        # A child that has only inherited the hook need not hear that it does nothing there.
        core = self._prepare() if os.getpid() == self._pid else None
        if core is not None and ending[:1] == ("finished",):
            self._tell_unused()
        self._closed = True
        self._detach()
        if core is not None:
            getattr(core, how)(*ending)
        relay()

    def _tell_unused(self) -> None:
        """Logs what the hook was given and the training never used."""

    def _detach(self) -> None:
        """Takes the framework's callbacks off."""

    # A copy, or what is unpickled elsewhere, is of no process: it does nothing, and answers what it
    # was configured with as the hook does.

    def _answers(self) -> dict[str, Any]:
        """The settings of a copy."""
        return self._taken()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self._answers(), "collections": self._changed()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state["settings"])
        self._take_collections(state["collections"])
        self._pid = None
        self._core = None
        self._place = None
        self._has_begun = False
        self._has_failed = False
        self._closed = True
        self._guard = None
        self.mode = ModeKeys.GLOBAL
        self._off = set()
        self.logger = get_logger()

    def __repr__(self) -> str:
        kind = f"{type(self).__module__}.{type(self).__name__}"
        if self._pid is None:
            return f"<{kind}: a copy, which does nothing>"
        shown = {
            "out_dir": self.out_dir,
            "tensorboard_dir": self.tensorboard_dir,
            "step": self.step,
            "mode": self.mode.name,
            **self._taken(),
            "include_collections": self._included_names(),
        }
        return f"<{kind}({', '.join(f'{name}={value}' for name, value in shown.items())})>"


def _let_go_in_child() -> None:
    """What hooks of the parent have in the core is of no use in a forked child."""
    for hook in open_hooks():
        hook._core = None
        hook._place = None


os.register_at_fork(after_in_child=_let_go_in_child)
