"""What the hooks of all frameworks have in common."""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Callable, ClassVar, TypeVar

from smdebug import _core
from smdebug.core.arrays import Description, describe_array, one_number
from smdebug.core.checks import (
    flag,
    integer,
    names,
    not_negative,
    path,
    refuse,
    refuse_type,
    text,
)
from smdebug.core.collection import Collection
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.endings import close_at_end, describe, ending_of, open_hooks
from smdebug.core.fail_open import counts_late, fails_open, must_raise
from smdebug.core.hook_utils import get_tensorboard_dir, verify_and_get_out_dir
from smdebug.core.logger import get_logger
from smdebug.core.making import making
from smdebug.core.modes import ModeKeys, str_to_mode_keys
from smdebug.core.native_log import relay
from smdebug.core.passed_on import passed_on
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import SaveConfig, SaveConfigMode
from smdebug.core.singleton_utils import make_room, set_hook
from smdebug.core.worker import Worker
from smdebug.exceptions import SMDebugError, SMDebugValueError

__getattr__ = passed_on(__name__)

HookType = TypeVar("HookType", bound="BaseHook")


class BaseHook:
    """Saves what a training job computes; a framework's Hook knows what that is.

    A configuration that is not allowed is refused here, by an exception. After that nothing is
    raised into the training unless SMDEBUG_STRICT is set: what fails is logged and counted in the
    run's ledger. Collections may be changed until the first step. The core's hook is made with the
    first step, or the first value that waits for it.
    """

    # What names of tensors are made of.
    INPUT_TENSOR_SUFFIX: ClassVar[str] = "_input_"
    OUTPUT_TENSOR_SUFFIX: ClassVar[str] = "_output_"
    GRADIENT_PREFIX: ClassVar[str] = "gradient/"
    SCALAR_PREFIX: ClassVar[str] = "scalar/"

    # What a framework's hook fills in.
    _framework: ClassVar[int] = 0  # The number of the core's Framework.
    _default_collections: ClassVar[list[str]] = ["losses"]
    _collection_class: ClassVar[type[Collection]] = Collection
    # Classes of tensors, and tests for those whose memory does not hold their values.
    _tensor_types: ClassVar[tuple[type, ...]] = ()
    _differs: ClassVar[tuple[Callable[[Any], bool], ...]] = ()
    # Whether another process has sent it, to be one of several that write the same run.
    _came_from_elsewhere = False

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
        rules: str | Iterable[str] | None = None,
        stop_on_rule: bool = False,
    ) -> None:
        self._pid: int | None = os.getpid()
        self._core: _core.Hook | None = None
        # Shows other jobs, until the core's hook is made, that the folder is taken.
        self._place: object = None
        self._off: set[str] = set()
        self._has_begun = False
        self._has_failed = False  # The core's hook could not be made.
        self._closed = False
        self.mode = ModeKeys.GLOBAL
        self.logger = get_logger()

        self.out_dir = verify_and_get_out_dir(out_dir, check=False)
        self.tensorboard_dir = get_tensorboard_dir(
            flag("export_tensorboard", export_tensorboard), tensorboard_dir, self.out_dir
        )
        self.dry_run = flag("dry_run", dry_run)
        self.reduction_config = _checked("reduction_config", reduction_config, ReductionConfig)
        self.save_config = None if save_config is None else SaveConfig.parse(save_config)
        self.include_regex = names("include_regex", include_regex, "a regular expression")
        self.include_collections = [
            *self._default_collections,
            *names("include_collections", include_collections),
        ]
        self.save_all = flag("save_all", save_all)
        if include_workers not in ("one", "all"):
            refuse("include_workers", include_workers, "one or all")
        self.include_workers = include_workers
        self.rules = names("rules", rules, "a rule")
        _core.check_rules(self.rules)
        if not isinstance(stop_on_rule, bool):
            refuse_type("stop_on_rule", stop_on_rule, "True or False")
        if stop_on_rule and not self.rules:
            refuse("stop_on_rule", stop_on_rule, "False, since rules names no rule")
        self.stop_on_rule = stop_on_rule
        self._guard: _core.RuleGuard | None = None
        self.collection_manager = self._make_collections()
        settings = self._settings()
        _core.check_hook_config(settings)
        if not self._came_from_elsewhere:
            make_room(self)
            worker = self._find_worker()
            self._place = _core.check_out_dir(settings, worker.name, worker.count, worker.is_chief)
            set_hook(self)
        close_at_end(self)

    # Configuration.

    @classmethod
    def create_from_json_file(cls: type[HookType], json_file_path: str | None = None) -> HookType:
        """The hook that a JSON file configures.

        Without a path the file is the one that SMDEBUG_CONFIG_FILE_PATH names, else SageMaker's
        own. FileNotFoundError if there is none, SMDebugValueError for what it may not hold.
        """
        given = None if json_file_path is None else path("json_file_path", json_file_path)
        place = _core.hook_config_path(given)
        if not os.path.exists(place):
            raise FileNotFoundError(f"there is no hook configuration at {place}")
        loaded = _core.load_hook_config(place, cls._framework)
        relay()
        _core.check_hook_config({**loaded, "framework": cls._framework})
        collections = [cls._collection_class.from_json(made) for made in loaded.pop("collections")]
        loaded["reduction_config"] = ReductionConfig.from_json(loaded["reduction_config"] or "null")
        loaded["save_config"] = SaveConfig.from_json(loaded["save_config"] or "null")
        loaded["tensorboard_dir"] = loaded["tensorboard_dir"] or None
        return cls._from_settings(loaded, collections)

    @classmethod
    def hook_from_config(cls: type[HookType], json_config_path: str | None = None) -> HookType:
        """The same, by the name that XGBoost hooks have for it."""
        return cls.create_from_json_file(json_config_path)

    @classmethod
    def _from_settings(
        cls: type[HookType], settings: dict[str, Any], collections: list[Collection]
    ) -> HookType:
        hook = cls(**settings)
        for collection in collections:
            hook.add_collection(collection)
        return hook

    def _make_collections(self) -> CollectionManager:
        manager = CollectionManager()
        for built_in in self._built_in().values():
            manager.add(self._collection_class.from_json(built_in))
        return manager

    def _built_in(self) -> dict[str, str]:
        """The collections that the hook starts with, as JSON by their names."""
        texts = _core.built_in_collections(self._framework)
        return {Collection.from_json(built_in).name: built_in for built_in in texts}

    def get_collection(self, name: str, create: bool = True) -> Collection:
        """The collection of that name; a new one if there is none and `create` is set.

        It has a schedule of its own, at first that of the hook, so that
        `get_collection("losses").save_config.end_step = 0` works.
        """
        text("collection", name, "a name")
        if name not in self.collection_manager.collections and create:
            self.add_collection(self._collection_class(name))
        collection = self.collection_manager.get(name, create=False)
        if collection.save_config is None and not self._has_begun:
            collection.save_config = copy.deepcopy(self.save_config) or SaveConfig()
        self._take_tensor_names(collection)
        return collection

    def get_collections(self) -> dict[str, Collection]:
        """All collections by name."""
        collections = self.collection_manager.get_collections()
        for collection in collections.values():
            self._take_tensor_names(collection)
        return collections

    def add_collection(self, collection: Collection) -> None:
        """Adds a collection, or replaces the one of that name. Before the first step."""
        if not isinstance(collection, Collection):
            refuse_type("collection", collection, "a Collection")
        patterns = names("include_regex", collection.include_regex, "a regular expression")
        _core.check_patterns(collection.name, patterns)
        if self._has_begun:
            self.logger.warning(
                f"Collection {collection.name} came after the first step; it is not saved"
            )
        self.collection_manager.add(collection)

    def _take_tensor_names(self, collection: Collection) -> None:
        """Adds the names that were found to belong to the collection while saving."""
        known = self._core.collection(collection.name) if self._core is not None else None
        if known is not None:
            collection.tensor_names |= Collection.from_json(known).tensor_names

    def _included_names(self) -> list[str]:
        """Which collections are saved."""
        included = dict.fromkeys(self.include_collections)
        if self.include_regex:
            included["default"] = None
        if self.save_all:
            included["all"] = None
        return list(included)

    def _settings(self, usable_only: bool = False) -> dict[str, Any]:
        """What the core is configured with; the keys are those of the C++ HookConfig.

        Names in include_collections that no collection has yet are left out; with `usable_only`,
        so are collections for which nothing could ever be saved.
        """
        self._drop_what_is_no_pattern()
        collections = self.collection_manager.get_collections()
        settings = self._settings_of(collections)
        unusable = {name for name, _, _ in _core.unusable_collections(settings)}
        if usable_only:
            usable = {name: c for name, c in collections.items() if name not in unusable}
            settings = self._settings_of(usable)
        settings["include_collections"] = [
            name
            for name in self.include_collections
            if name not in unusable or (name in collections and not usable_only)
        ]
        return settings

    def _settings_of(self, collections: dict[str, Collection]) -> dict[str, Any]:
        built_in = self._built_in()
        return {
            "framework": self._framework,
            "out_dir": self.out_dir,
            "export_tensorboard": False,
            "tensorboard_dir": self.tensorboard_dir or "",
            "dry_run": self.dry_run,
            "reduction_config": self.reduction_config and self.reduction_config.to_json(),
            "save_config": self.save_config and self.save_config.to_json(),
            "include_regex": self.include_regex,
            "include_collections": self.include_collections,
            "save_all": self.save_all,
            "include_workers": self.include_workers,
            "collections": [
                collection.to_json()
                for name, collection in collections.items()
                if name not in built_in or collection.to_json() != built_in[name]
            ],
        }

    def has_default_hook_configuration(
        self, default_saved_collections: list[str] | None = None
    ) -> bool:
        """Whether nothing but the framework's default collections is saved."""
        default = default_saved_collections or self._default_collections
        collections = self.collection_manager.get_collections()
        return {name for name in self._included_names() if name in collections} == set(default)

    def has_default_configuration(self) -> bool:
        """The same: there is no profiler to be configured."""
        return self.has_default_hook_configuration()

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
            self.mode = _mode_of(mode)
        except SMDebugError as wrong:
            if self._leave_out("set_mode", wrong):
                raise
            return
        if self._core is not None:
            self._core.set_mode(self.mode.value)

    def _prepare(self) -> _core.Hook | None:
        """The core's hook, made at the first call; None if it could not be made.

        It is made in the process that made this hook alone, by the thread that comes first.
        """
        if self._core is None and "core" not in self._off:
            with making():
                if self._core is None and not self._closed and self._is_of_this_process():
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
        worker = self._find_worker()
        core = _core.Hook(
            self._settings(usable_only=True),
            worker.name,
            worker.count,
            worker.is_chief,
            self._tensor_types,
            self._differs,
            self._describe,
        )
        core.set_mode(self.mode.value)
        if self.rules:
            self._guard = _core.guard(core, self.rules, self.stop_on_rule)
        return core

    def _drop_what_is_no_pattern(self) -> None:
        """Leaves out what is no string: a collection's list can be changed by anybody."""
        for collection in self.collection_manager.get_collections().values():
            odd = [p for p in collection.include_regex if not isinstance(p, str)]
            for pattern in odd:
                collection.include_regex.remove(pattern)
                self.logger.error(
                    f"Collection {collection.name}: include_regex: {pattern!r} is not a regular "
                    "expression; it is left out"
                )

    def _settle_collections(self) -> None:
        """The first step begins: collections are what they are now."""
        self._drop_what_is_no_pattern()
        self._complete_collections()
        settings = self._settings_of(self.collection_manager.get_collections())
        for _, reason, matters in _core.unusable_collections(settings):
            if matters:
                self.logger.error(f"Left out: {reason}")
        if self._core is not None:
            self._core.configure(self._settings(usable_only=True))

    def _complete_collections(self) -> None:
        """Gives collections the patterns that only the framework's hook knows."""

    def _hints(self) -> list[str]:
        """What a regex that matches nothing may have been meant to match."""
        return []

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
                core.add_hints(self._hints())
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

    def _belongs_to_next_step(self) -> bool:
        """Whether a tensor that is saved now waits for the step that begins next."""
        return not self._has_begun

    # Rules.

    @property
    def rule_fired(self) -> bool:
        """Whether one of the hook's rules has found something so far."""
        return self._guard is not None and self._guard.fired_rules > 0

    @property
    def rule_reports(self) -> list[dict[str, Any]]:
        """What each of the hook's rules has found, with the keys of `smdebug check --json`."""
        reports = [] if self._guard is None else self._guard.reports()
        return [json.loads(report) for report in reports]

    def _heed_rules(self) -> None:
        """Raises if a rule has fired since the last call, and that is wanted."""
        if self._guard is not None and self.stop_on_rule:
            self._guard.raise_if_fired()

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

    # Values.

    @staticmethod
    def _describe(value: object) -> Description:
        """Where the values of `value` are; a framework's hook knows its own tensors."""
        return describe_array(value)

    @counts_late
    def save_scalar(
        self,
        name: str,
        value: object,
        sm_metric: bool = False,  # noqa: ARG002
        timestamp: float | None = None,
        *,
        step: int | None = None,
    ) -> None:
        """Saves one number at the current step, whatever the schedules say, as scalar/<name>.

        `timestamp` is in seconds since the epoch; now by default. `sm_metric` is accepted and
        has no effect: there is no SageMaker to send it to. `step` is another step, counted as
        `hook.step` is: one that is over, or one to come, which the scalar waits for.
        """
        core = self._prepare()
        if core is None:
            return
        try:
            when = None if timestamp is None else one_number("timestamp", timestamp)
            at = None if step is None else integer("step", step, "a whole number of at least 0")
            if self._save_number_elsewhere(str(name), value, when, at):
                return
            number = one_number("value", value)
        except SMDebugError as wrong:
            if self._leave_out(f"{self.SCALAR_PREFIX}{name}", wrong):
                raise
            return
        core.save_scalar(str(name), number, when, at)

    def _save_number_elsewhere(
        self,
        name: str,  # noqa: ARG002
        value: object,  # noqa: ARG002
        timestamp: float | None,  # noqa: ARG002
        step: int | None,  # noqa: ARG002
    ) -> bool:
        """Whether a framework's hook saves the number itself, since it is elsewhere."""
        return False

    @counts_late
    def save_tensor(
        self,
        tensor_name: str,
        tensor_value: object,
        collections_to_write: str | Iterable[str] = "default",
    ) -> None:
        """Saves a tensor under each of the named collections.

        It belongs to the current step, or to the next one if it comes between two steps: before
        the first, or where a framework's hook can tell. Each collection's own schedule and
        reductions count; one that is missing is made.
        """
        core = self._prepare()
        if core is None:
            return
        text("tensor_name", tensor_name)
        if collections_to_write is None:
            refuse_type("collections_to_write", None, "a name, or a list of names")
        collections = names("collections_to_write", collections_to_write)
        for name in collections:
            if name not in self.collection_manager.collections:
                made = self._collection_class(name, tensor_names={tensor_name})
                self.collection_manager.add(made)
        next_step = self._belongs_to_next_step()
        core.save_tensor(tensor_name, tensor_value, collections, next_step)

    def should_save_tensor_or_collection(self, tensor_name: str, collection_name: str) -> bool:
        """Whether the tensor is saved at the current step. `collection_name` is not needed."""
        del collection_name
        if self._core is None or not isinstance(tensor_name, str):
            return False
        return self._core.are_due([tensor_name])[0]

    # The end.

    @property
    def stats(self) -> Mapping[str, float]:
        """What was saved, dropped, skipped and lost so far, as the run's ledger has it.

        Of a hook that saves nothing, because its folder was refused say, `errors` is 1.
        """
        if self._core is not None:
            return self._core.stats
        return {**_core.no_stats(), "errors": int(self._has_failed)}

    def __enter__(self: HookType) -> HookType:
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
        self._closed = True
        self._detach()
        if core is not None:
            getattr(core, how)(*ending)
        relay()

    def _detach(self) -> None:
        """Takes the framework's callbacks off."""

    def export_collections(self) -> None:
        """Does nothing: the collections file is written with the first saved step."""

    def record_trace_events(self, *_args: object, **_kwargs: object) -> None:
        """Does nothing: there is no profiler here."""

    def log_outstanding_timeline_metrics(self) -> None:
        """Does nothing: there is no profiler here."""

    # Where it runs.

    def _find_worker(self) -> Worker:
        """Which process of the job this is."""
        return Worker()

    @property
    def worker(self) -> str:
        """The name of this process in the job."""
        return self._find_worker().name

    # A copy, or what is unpickled elsewhere, is of no process: it does nothing.

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
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
        if self._pid is None:
            return f"<{type(self).__module__}.{type(self).__name__}: a copy, which does nothing>"
        return (
            f"<{type(self).__module__}.{type(self).__name__}(out_dir={self.out_dir}, "
            f"tensorboard_dir={self.tensorboard_dir}, step={self.step}, mode={self.mode.name}, "
            f"dry_run={self.dry_run}, reduction_config={self.reduction_config}, "
            f"save_config={self.save_config}, include_regex={self.include_regex}, "
            f"include_collections={self._included_names()}, save_all={self.save_all}, "
            f"include_workers={self.include_workers})>"
        )


def _checked(key: str, value: Any, kind: type) -> Any:
    if value is not None and not isinstance(value, kind):
        refuse_type(key, value, f"a {kind.__name__}")
    return value


def _mode_of(mode: object) -> ModeKeys:
    try:
        return mode if isinstance(mode, ModeKeys) else str_to_mode_keys(mode)  # type: ignore[arg-type]
    except ValueError as error:
        raise SMDebugValueError(str(error)) from None


def _let_go_in_child() -> None:
    """What hooks of the parent have in the core is of no use in a forked child."""
    for hook in open_hooks():
        hook._core = None
        hook._place = None


os.register_at_fork(after_in_child=_let_go_in_child)
