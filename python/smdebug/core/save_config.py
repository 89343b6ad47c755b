"""When tensors are saved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from typing import Any, overload

from smdebug import _core
from smdebug._internal.checks import refuse, whole_number
from smdebug._internal.passed_on import passed_on
from smdebug.core.modes import ALLOWED_MODE_NAMES, ModeKeys
from smdebug.exceptions import SMDebugTypeError

__getattr__ = passed_on(__name__)

DEFAULT_SAVE_CONFIG_INTERVAL = 500
DEFAULT_SAVE_CONFIG_START_STEP = 0
DEFAULT_SAVE_CONFIG_END_STEP = None
DEFAULT_SAVE_CONFIG_SAVE_STEPS: list[int] = []
ALLOWED_PARAMS = ["save_interval", "save_steps", "start_step", "end_step"]
_DEFAULTS: dict[str, Any] = {
    "save_interval": DEFAULT_SAVE_CONFIG_INTERVAL,
    "start_step": DEFAULT_SAVE_CONFIG_START_STEP,
    "end_step": DEFAULT_SAVE_CONFIG_END_STEP,
    "save_steps": DEFAULT_SAVE_CONFIG_SAVE_STEPS,
}


def _listed(save_steps: Any) -> Any:
    """A list of what can be gone through, which may be once only; sets and the rest as they are."""
    is_kept = isinstance(save_steps, (str, bytes, Mapping, Set))
    return list(save_steps) if isinstance(save_steps, Iterable) and not is_kept else save_steps


class SaveConfigMode:
    """The schedule of one mode.

    A step is saved if `save_steps` lists it, or if start_step <= step < end_step
    and the step is a multiple of `save_interval`. An `end_step` of 0 saves the
    listed steps only.
    """

    save_interval: int
    save_steps: list[int]
    start_step: int
    end_step: int | None

    def __init__(
        self,
        save_interval: int | str | None = None,
        start_step: int | str | None = None,
        end_step: int | str | None = None,
        save_steps: Iterable[int] | None = None,
    ) -> None:
        steps = _listed(save_steps)
        self._take(dict(zip(_DEFAULTS, (save_interval, start_step, end_step, steps))))
        if self.end_step and self.start_step > self.end_step:
            refuse("start_step", self.start_step, f"at most end_step, which is {self.end_step}")

    def _take(self, given: dict[str, Any], stored: bool = False) -> None:
        """Takes numbers however they are spelt; those that are `stored` may be of any size."""
        values = {**_DEFAULTS, **{key: value for key, value in given.items() if value is not None}}
        save_steps, end_step = values["save_steps"], values["end_step"]
        if not isinstance(save_steps, (list, tuple, range, Set)) or any(
            isinstance(s, (str, float)) for s in save_steps
        ):
            refuse("save_steps", save_steps, "a list of whole numbers")
        least, first = (None, None) if stored else (1, 0)
        self.save_interval = whole_number("save_interval", values["save_interval"], least)
        self.save_steps = [whole_number("save_steps", step, first) for step in save_steps]
        if isinstance(save_steps, Set):
            self.save_steps.sort()
        self.start_step = whole_number("start_step", values["start_step"], first)
        self.end_step = None if end_step is None else whole_number("end_step", end_step, first)

    def to_json_dict(self) -> dict[str, Any]:
        """The four parameters by name."""
        return {key: getattr(self, key) for key in ALLOWED_PARAMS}

    @overload
    @classmethod
    def from_dict(
        cls, params: dict[str, Any], default_values: dict[str, Any] | None = None
    ) -> SaveConfigMode: ...

    @overload
    @classmethod
    def from_dict(cls, params: None, default_values: dict[str, Any] | None = None) -> None: ...

    @classmethod
    def from_dict(
        cls, params: dict[str, Any] | None, default_values: dict[str, Any] | None = None
    ) -> SaveConfigMode | None:
        """From the keys of to_json_dict(); those missing come from `default_values`.

        What a run has stored is taken as it is; a hook refuses what is out of
        range. None gives None.
        """
        if params is None:
            return None
        if not isinstance(params, dict):
            refuse("save_config", params, f"a dict of {', '.join(ALLOWED_PARAMS)}")
        config = cls.__new__(cls)
        config._take({**(default_values or {}), **params}, stored=True)
        return config

    def should_save_step(self, step_num: int) -> bool:
        """Whether the step is saved."""
        return _core.should_save_step(
            self.save_interval, self.start_step, self.end_step, self.save_steps, step_num
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfigMode):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{key}={value}" for key, value in self.to_json_dict().items())
        return f"<class SaveConfig: {values}>"


class _OfEveryMode:
    """A parameter of the schedules of all modes, read and set at once."""

    def __set_name__(self, owner: type[SaveConfig], name: str) -> None:
        self._name = name

    def __get__(self, config: SaveConfig | None, owner: type[SaveConfig]) -> Any:
        if config is None:
            return self
        values = [getattr(mode, self._name) for mode in config.mode_save_configs.values() if mode]
        if not values or any(value != values[0] for value in values):
            raise AttributeError(
                f"{self._name} differs from mode to mode; ask get_save_config(mode) for it"
            )
        return values[0]

    def __set__(self, config: SaveConfig, value: Any) -> None:
        value = _listed(value)
        changed = {
            mode: SaveConfigMode(
                **{**(schedule or SaveConfigMode()).to_json_dict(), self._name: value}
            )
            for mode, schedule in config.mode_save_configs.items()
        }
        config.mode_save_configs = dict(changed)


class SaveConfig:
    """A schedule for each mode.

    Either `mode_save_configs`, a dict from mode to SaveConfigMode, or the
    parameters of one schedule that all modes share. A mode without a schedule
    takes the hook's.
    """

    save_interval = _OfEveryMode()
    start_step = _OfEveryMode()
    end_step = _OfEveryMode()
    save_steps = _OfEveryMode()

    def __init__(
        self,
        mode_save_configs: dict[ModeKeys, SaveConfigMode | None] | None = None,
        save_interval: int | str | None = None,
        start_step: int | str | None = None,
        end_step: int | str | None = None,
        save_steps: Iterable[int] | None = None,
    ) -> None:
        self.mode_save_configs: dict[ModeKeys, SaveConfigMode | None]
        if mode_save_configs is None:
            save_steps = _listed(save_steps)
            self.mode_save_configs = {
                mode: SaveConfigMode(save_interval, start_step, end_step, save_steps)
                for mode in ModeKeys
            }
            return
        if not isinstance(mode_save_configs, dict):
            refuse("mode_save_configs", mode_save_configs, "a dict from mode to SaveConfigMode")
        for mode, config in mode_save_configs.items():
            if not isinstance(mode, ModeKeys):
                refuse("mode_save_configs", mode, "modes of smdebug.modes as keys")
            if config is not None and not isinstance(config, SaveConfigMode):
                refuse(f"mode_save_configs of {mode.name}", config, "a SaveConfigMode")
        self.mode_save_configs = {mode: mode_save_configs.get(mode) for mode in ModeKeys}

    def set_save_config(self, mode: ModeKeys, save_config_mode: SaveConfigMode) -> None:
        """Gives a mode its schedule."""
        if not isinstance(mode, ModeKeys):
            refuse("mode", mode, "one of smdebug.modes")
        if not isinstance(save_config_mode, SaveConfigMode):
            refuse("save_config_mode", save_config_mode, "a SaveConfigMode")
        self.mode_save_configs[mode] = save_config_mode

    def get_save_config(self, mode: ModeKeys) -> SaveConfigMode:
        """The schedule of a mode; SMDebugValueError if it has none."""
        config = self.mode_save_configs[mode]
        if config is None:
            refuse("mode", mode.name, "one that has a schedule: this SaveConfig is not ready")
        return config

    def should_save_step(self, mode: ModeKeys, step_num: int) -> bool:
        """Whether the step of the mode is saved."""
        return self.get_save_config(mode).should_save_step(step_num)

    def merge_default_save_config(self, default_save_config: SaveConfig) -> None:
        """Gives the modes without a schedule that of `default_save_config`."""
        for mode, config in self.mode_save_configs.items():
            if config is None:
                default = default_save_config.mode_save_configs.get(mode)
                self.mode_save_configs[mode] = default or SaveConfigMode()

    def to_json_dict(self) -> dict[str, Any]:
        """The schedules by name of mode, None where there is none."""
        return {
            mode.name: None if config is None else config.to_json_dict()
            for mode, config in self.mode_save_configs.items()
        }

    def to_json(self) -> str:
        """to_json_dict() as a string."""
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_json(cls, json_str: str) -> SaveConfig | None:
        """The inverse of to_json(); "null" gives None."""
        params: dict[str, Any] | None = json.loads(json_str)
        return cls.from_dict(params)

    @overload
    @classmethod
    def from_dict(
        cls, params: dict[Any, Any], default_values: dict[str, Any] | None = None
    ) -> SaveConfig: ...

    @overload
    @classmethod
    def from_dict(cls, params: None, default_values: dict[str, Any] | None = None) -> None: ...

    @classmethod
    def from_dict(
        cls, params: dict[Any, Any] | None, default_values: dict[str, Any] | None = None
    ) -> SaveConfig | None:
        """From a dict by mode, or by name of mode, or of one schedule for all; None gives None."""
        if params is None:
            return None
        if not isinstance(params, dict):
            refuse("save_config", params, "a dict by mode")
        if params and all(key in ALLOWED_PARAMS for key in params):
            params = dict.fromkeys(ModeKeys, params)
        configs: dict[ModeKeys, SaveConfigMode | None] = {}
        for key, config in params.items():
            if isinstance(key, str) and key not in ALLOWED_MODE_NAMES:
                refuse("save_config", key, f"one of {', '.join(ALLOWED_MODE_NAMES)}")
            mode = ModeKeys[key] if isinstance(key, str) else key
            if isinstance(config, dict):
                config = SaveConfigMode.from_dict(config, default_values)
            configs[mode] = config
        return cls(mode_save_configs=configs)

    @classmethod
    def from_save_config_mode(cls, save_config_mode: SaveConfigMode) -> SaveConfig:
        """The same schedule in every mode."""
        return cls(mode_save_configs=dict.fromkeys(ModeKeys, save_config_mode))

    @classmethod
    def parse(cls, obj: object) -> SaveConfig:
        """From whatever may stand for a save config."""
        if obj is None:
            return cls()
        if isinstance(obj, SaveConfig):
            return obj
        if isinstance(obj, SaveConfigMode):
            return cls.from_save_config_mode(obj)
        if isinstance(obj, dict):
            return cls.from_dict(obj)
        raise SMDebugTypeError(
            f"save_config: '{obj}' is not allowed; expected a SaveConfig, a SaveConfigMode or a "
            "dict by mode"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfig):
            return NotImplemented
        return self.mode_save_configs == other.mode_save_configs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<class SaveConfig: {self.mode_save_configs}>"
