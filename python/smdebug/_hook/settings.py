"""What hooks are configured with: each setting once, as an argument and as an attribute."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Generic, TypeVar, Union, overload

from smdebug import _core
from smdebug._internal.checks import flag, names, path, refuse, refuse_type
from smdebug._internal.native_log import relay
from smdebug.core.hook_utils import get_tensorboard_dir, verify_and_get_out_dir
from smdebug.core.logger import get_logger
from smdebug.core.modes import ModeKeys
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import SaveConfig, SaveConfigMode

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        return lambda cls: cls


Given = TypeVar("Given")
Taken = TypeVar("Taken")

_REQUIRED: Any = inspect.Parameter.empty


class Setting(Generic[Given, Taken]):
    """A setting of a class: an argument of its constructor, and an attribute.

    Whatever it is set to goes through `take(name, value)`, which gives what is kept or raises an
    error that names it. Without a `default` the argument is required. `about` describes it in the
    constructor's docstring.
    """

    def __init__(
        self,
        about: str,
        take: Callable[[str, Given], Taken],
        *,
        default: Given = _REQUIRED,
        kw_only: bool = False,
    ) -> None:
        self.about = about
        self.take = take
        self.default = default
        self.kw_only = kw_only

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[Given, Taken]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Taken: ...

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        try:
            return vars(instance)[self.name]
        except KeyError:
            raise AttributeError(f"{owner.__name__} has no {self.name} yet") from None

    def __set__(self, instance: object, value: Given) -> None:
        vars(instance)[self.name] = self.take(self.name, value)
        if isinstance(instance, Configured):
            instance._note_assigned(self.name)


@dataclass_transform(eq_default=False, field_specifiers=(Setting,))
class Configured:
    """A class whose constructor takes its settings, those of its bases first, and sets itself up.

    One that is declared again keeps its place; those with `kw_only` come last.
    """

    _table: ClassVar[dict[str, Setting[Any, Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Setting)}
        if own:
            cls._table = {**cls._table, **own}
            cls.__init__ = _constructor(cls._table)  # type: ignore[method-assign]

    def _set_up(self) -> None:
        """Is called by the constructor once all settings are taken."""

    def _note_assigned(self, name: str) -> None:
        """The setting of that name has been taken."""

    def _taken(self) -> dict[str, Any]:
        """What the settings are now; the constructor takes them again."""
        return {name: getattr(self, name) for name in self._table}


def _constructor(settings: dict[str, Setting[Any, Any]]) -> Any:
    keyword, any_way = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(name, keyword if setting.kw_only else any_way, default=setting.default)
        for name, setting in settings.items()
    ]
    parameters.sort(key=lambda parameter: parameter.kind)
    signature = inspect.Signature([inspect.Parameter("self", any_way), *parameters])

    def __init__(self: Configured, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        for name in settings:
            setattr(self, name, given.arguments[name])
        self._set_up()

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__doc__ = "\n".join(f"{name}: {setting.about}" for name, setting in settings.items())
    return __init__


GivenPath = Union[str, "os.PathLike[str]", None]
Names = Union[str, Iterable[Any], None]
Schedule = Union[SaveConfig, SaveConfigMode, "dict[ModeKeys, SaveConfigMode]", None]


def _out_dir(_: str, given: GivenPath) -> str:
    return verify_and_get_out_dir(given, check=False)


def _tensorboard_dir(name: str, given: GivenPath) -> str | None:
    return None if given is None else path(name, given)


def _reductions(name: str, given: ReductionConfig | None) -> ReductionConfig | None:
    if given is not None and not isinstance(given, ReductionConfig):
        refuse_type(name, given, "a ReductionConfig")
    return given


def _schedule(_: str, given: Schedule) -> SaveConfig | None:
    return None if given is None else SaveConfig.parse(given)


def _regexes(name: str, given: Names) -> list[str]:
    return names(name, given, "a regular expression")


def _workers(name: str, given: str) -> str:
    if given not in ("one", "all"):
        refuse(name, given, "one or all")
    return given


def _rules(name: str, given: Names) -> list[str]:
    rules = names(name, given, "a rule")
    _core.check_rules(rules)
    return rules


def _truth(name: str, given: bool) -> bool:
    if not isinstance(given, bool):
        refuse_type(name, given, "True or False")
    return given


class HookSettings(Configured):
    """What every hook is configured with, by arguments or from JSON."""

    # Whose conventions the core follows, and what is saved whatever is configured.
    _framework: ClassVar[_core.Framework] = _core.Framework.NATIVE
    _default_collections: ClassVar[list[str]] = ["losses"]

    out_dir: Setting[GivenPath, str] = Setting("The folder of the run.", _out_dir, default=None)
    export_tensorboard: Setting[bool, bool] = Setting(
        "Whether TensorBoard files are written, too.", flag, default=False
    )
    tensorboard_dir: Setting[GivenPath, Union[str, None]] = Setting(
        "Where these go; below out_dir if it is None.", _tensorboard_dir, default=None
    )
    dry_run: Setting[bool, bool] = Setting("Whether nothing is written.", flag, default=False)
    reduction_config: Setting[Union[ReductionConfig, None], Union[ReductionConfig, None]] = Setting(
        "What is saved of a tensor; None: the tensor.", _reductions, default=None
    )
    save_config: Setting[Schedule, Union[SaveConfig, None]] = Setting(
        "At which steps tensors are saved; None: as the framework has it.", _schedule, default=None
    )
    include_regex: Setting[Names, list[str]] = Setting(
        "The tensors that are saved, by patterns of their names.", _regexes, default=None
    )
    include_collections: Setting[Names, list[str]] = Setting(
        "The collections that are saved.", names, default=None
    )
    save_all: Setting[bool, bool] = Setting("Whether every tensor is saved.", flag, default=False)
    include_workers: Setting[str, str] = Setting(
        '"one" or "all": which processes of a job save.', _workers, default="one"
    )
    rules: Setting[Names, list[str]] = Setting(
        "Rules that judge the steps while they are saved.", _rules, default=None, kw_only=True
    )
    stop_on_rule: Setting[bool, bool] = Setting(
        "Whether a rule that fires ends the training, by an exception.",
        _truth,
        default=False,
        kw_only=True,
    )

    def _set_up(self) -> None:
        self.tensorboard_dir = get_tensorboard_dir(
            self.export_tensorboard, self.tensorboard_dir, self.out_dir
        )
        self.include_collections = list(
            dict.fromkeys([*self._default_collections, *self.include_collections])
        )
        if self.stop_on_rule and not self.rules:
            refuse("stop_on_rule", self.stop_on_rule, "False, since rules names no rule")
        if self.dry_run and self.rules:
            get_logger().warning("rules judge nothing with dry_run: nothing is saved for them")

    @classmethod
    def _load(cls, json_path: str) -> tuple[dict[str, Any], list[str]]:
        """The settings in a JSON file, and its collections as JSON of their own."""
        loaded = _core.load_hook_config(json_path, cls._framework)
        relay()
        _core.check_hook_config({**loaded, "framework": cls._framework})
        collections: list[str] = loaded.pop("collections")
        for key, kind in (("reduction_config", ReductionConfig), ("save_config", SaveConfig)):
            loaded[key] = kind.from_json(loaded[key] or "null")
        loaded["tensorboard_dir"] = loaded["tensorboard_dir"] or None
        return loaded, collections

    def _for_core(self, collections: Iterable[str]) -> dict[str, Any]:
        """The members of the core's HookConfig; what is a configuration of its own is JSON."""
        return {
            **{name: getattr(self, name) for name in HookSettings._table},
            "framework": self._framework,
            "tensorboard_dir": self.tensorboard_dir or "",
            "reduction_config": self.reduction_config and self.reduction_config.to_json(),
            "save_config": self.save_config and self.save_config.to_json(),
            "collections": list(collections),
        }
