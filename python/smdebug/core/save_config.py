"""When tensors are saved."""

from __future__ import annotations

import json
from typing import Any

from smdebug.core.modes import ModeKeys
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError

DEFAULT_SAVE_CONFIG_INTERVAL = 500
DEFAULT_SAVE_CONFIG_START_STEP = 0
DEFAULT_SAVE_CONFIG_END_STEP = None
DEFAULT_SAVE_CONFIG_SAVE_STEPS: list[int] = []
ALLOWED_PARAMS = ["save_interval", "save_steps", "start_step", "end_step"]


class SaveConfigMode:
    """The schedule of one mode.

    A step is saved if `save_steps` lists it, or if start_step <= step < end_step
    and the step is a multiple of `save_interval`.
    """

    def __init__(
        self,
        save_interval: int | str | None = None,
        start_step: int | str | None = None,
        end_step: int | str | None = None,
        save_steps: list[int] | None = None,
    ) -> None:
        self.save_interval = _number(save_interval, DEFAULT_SAVE_CONFIG_INTERVAL)
        self.save_steps = [] if save_steps is None else save_steps
        self.start_step = _number(start_step, DEFAULT_SAVE_CONFIG_START_STEP)
        self.end_step = None if end_step is None else int(end_step)
        if not isinstance(self.save_steps, list) or not all(
            isinstance(step, int) for step in self.save_steps
        ):
            raise SMDebugValueError(f"save_steps={save_steps!r} is not a list of whole numbers")
        if self.save_interval < 1:
            raise SMDebugValueError(f"save_interval={save_interval!r} is not 1 or more")

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "save_interval": self.save_interval,
            "save_steps": self.save_steps,
            "start_step": self.start_step,
            "end_step": self.end_step,
        }

    @classmethod
    def from_dict(
        cls, params: dict[str, Any], default_values: dict[str, Any] | None = None
    ) -> SaveConfigMode:
        """From the keys above; those missing come from `default_values`."""
        unknown = set(params) - set(ALLOWED_PARAMS)
        if unknown:
            raise SMDebugValueError(
                f"{sorted(unknown)} are not parameters of a save config; {ALLOWED_PARAMS} are"
            )
        return cls(**{**(default_values or {}), **params})

    def should_save_step(self, step_num: int) -> bool:
        if step_num in self.save_steps:
            return True
        in_range = (self.start_step or 0) <= step_num and (
            self.end_step is None or step_num < self.end_step
        )
        return in_range and step_num % self.save_interval == 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfigMode):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"SaveConfigMode(save_interval={self.save_interval}, start_step={self.start_step}, "
            f"end_step={self.end_step}, save_steps={self.save_steps})"
        )


class SaveConfig:
    """A schedule for each mode.

    Either `mode_save_configs`, a dict from mode to SaveConfigMode, or the
    parameters of one schedule that all modes share.
    """

    def __init__(
        self,
        mode_save_configs: dict[ModeKeys, SaveConfigMode | None] | None = None,
        save_interval: int | str | None = None,
        start_step: int | str | None = None,
        end_step: int | str | None = None,
        save_steps: list[int] | None = None,
    ) -> None:
        if mode_save_configs is None:
            self.mode_save_configs: dict[ModeKeys, SaveConfigMode | None] = {
                mode: SaveConfigMode(save_interval, start_step, end_step, save_steps)
                for mode in ModeKeys
            }
            return
        for mode, config in mode_save_configs.items():
            if not isinstance(mode, ModeKeys):
                raise SMDebugValueError(f"{mode!r} is not a mode; use smdebug.modes")
            if config is not None and not isinstance(config, SaveConfigMode):
                raise SMDebugValueError(f"{config!r} for mode {mode.name} is not a SaveConfigMode")
        self.mode_save_configs = {mode: mode_save_configs.get(mode) for mode in ModeKeys}

    def set_save_config(self, mode: ModeKeys, save_config_mode: SaveConfigMode) -> None:
        if not isinstance(save_config_mode, SaveConfigMode):
            raise SMDebugTypeError(f"{save_config_mode!r} is not a SaveConfigMode")
        self.mode_save_configs[mode] = save_config_mode

    def get_save_config(self, mode: ModeKeys) -> SaveConfigMode:
        config = self.mode_save_configs.get(mode)
        if config is None:
            raise SMDebugValueError(f"SaveConfig is not ready: mode {mode} has no schedule")
        return config

    def should_save_step(self, mode: ModeKeys, step_num: int) -> bool:
        return self.get_save_config(mode).should_save_step(step_num)

    def merge_default_save_config(self, default_save_config: SaveConfig) -> None:
        """Gives the modes without a schedule that of `default_save_config`."""
        for mode in ModeKeys:
            if self.mode_save_configs.get(mode) is None:
                default = default_save_config.mode_save_configs.get(mode)
                self.mode_save_configs[mode] = default or SaveConfigMode()

    def to_json_dict(self) -> dict[str, Any]:
        return {
            mode.name: None if config is None else config.to_json_dict()
            for mode, config in self.mode_save_configs.items()
        }

    def to_json(self) -> str:
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_json(cls, json_str: str) -> SaveConfig | None:
        return cls.from_dict(json.loads(json_str))

    @classmethod
    def from_dict(
        cls, params: dict[Any, Any] | None, default_values: dict[str, Any] | None = None
    ) -> SaveConfig | None:
        """From a dict by mode, or by name of mode; None gives None."""
        if params is None:
            return None
        configs: dict[ModeKeys, SaveConfigMode | None] = {}
        for mode, config in params.items():
            if isinstance(config, dict):
                config = SaveConfigMode.from_dict(config, default_values)
            configs[ModeKeys[mode] if isinstance(mode, str) else mode] = config
        return cls(mode_save_configs=configs)

    @classmethod
    def from_save_config_mode(cls, save_config_mode: SaveConfigMode) -> SaveConfig:
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
            config = cls.from_dict(obj)
            assert config is not None
            return config
        raise SMDebugTypeError(
            f"save_config={obj!r} is not a SaveConfig, a SaveConfigMode or a dict by mode"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfig):
            return NotImplemented
        return self.mode_save_configs == other.mode_save_configs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        modes = ", ".join(f"{mode.name}={c!r}" for mode, c in self.mode_save_configs.items())
        return f"SaveConfig({modes})"


def _number(value: int | str | None, default: int) -> int:
    return default if value is None else int(value)
