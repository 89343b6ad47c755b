"""What is saved of a tensor."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, overload

from smdebug import _core
from smdebug._internal.checks import names, refuse
from smdebug._internal.passed_on import passed_on
from smdebug.exceptions import SMDebugTypeError, SMDebugValueError

__getattr__ = passed_on(__name__)

REDUCTION_CONFIG_VERSION_NUM = "v0"
ALLOWED_REDUCTIONS = [name for name, norm, _ in _core.reduction_types() if not norm]
ALLOWED_NORMS = [name for name, norm, _ in _core.reduction_types() if norm]
ALLOWED_PARAMS = [
    "reductions",
    "abs_reductions",
    "norms",
    "abs_norms",
    "save_raw_tensor",
    "save_shape",
]


class ReductionConfig:
    """The reductions of a tensor that are saved, and whether it is saved itself.

    `norms` go by "l1" and "l2"; `abs_reductions` and `abs_norms` are of the
    absolute values.
    """

    def __init__(
        self,
        reductions: str | Iterable[str] | None = None,
        abs_reductions: str | Iterable[str] | None = None,
        norms: str | Iterable[str] | None = None,
        abs_norms: str | Iterable[str] | None = None,
        save_raw_tensor: bool = False,
        save_shape: bool = False,
    ) -> None:
        self.reductions = _names("reductions", reductions, ALLOWED_REDUCTIONS)
        self.abs_reductions = _names("abs_reductions", abs_reductions, ALLOWED_REDUCTIONS)
        self.norms = _names("norms", norms, ALLOWED_NORMS)
        self.abs_norms = _names("abs_norms", abs_norms, ALLOWED_NORMS)
        self.save_raw_tensor = _flag("save_raw_tensor", save_raw_tensor)
        self.save_shape = _flag("save_shape", save_shape)

    def to_json_dict(self) -> dict[str, Any]:
        """The reductions in one string, and the two flags."""
        params: dict[str, Any] = json.loads(self.to_json())
        return params

    def to_json(self) -> str:
        """to_json_dict() as a string."""
        of_values = [*self.abs_reductions, *self.abs_norms]
        listed = [*self.reductions, *self.norms, *(f"abs_{name}" for name in of_values)]
        return _core.write_reduction_config(listed, self.save_raw_tensor, self.save_shape)

    @classmethod
    def from_json(cls, json_str: str) -> ReductionConfig | None:
        """The inverse of to_json(); "null" gives None."""
        params: dict[str, Any] | None = json.loads(json_str)
        return cls.from_dict(params)

    @overload
    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> ReductionConfig: ...

    @overload
    @classmethod
    def from_dict(cls, params: None) -> None: ...

    @classmethod
    def from_dict(cls, params: dict[str, Any] | None) -> ReductionConfig | None:
        """From the keys of to_json_dict(); None gives None.

        Norms go with and without "_norm"; a list of names and flags as strings will
        do too.
        """
        if params is None:
            return None
        reductions, raw, shape = _core.read_reduction_config(json.dumps(params, default=list))

        def of_kind(*kind: bool) -> list[str]:
            return [name for name, is_norm, of_abs in reductions if (is_norm, of_abs) == kind]

        lists = of_kind(False, False), of_kind(False, True), of_kind(True, False)
        return cls(*lists, of_kind(True, True), raw, shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReductionConfig):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lists = ", ".join(f"{key}={getattr(self, key)}" for key in ALLOWED_PARAMS[:4])
        return (
            f"<class ReductionConfig: {lists}>, save_shape={self.save_shape}, "
            f"save_raw_tensor={self.save_raw_tensor}"
        )


def _names(key: str, given: str | Iterable[str] | None, allowed: list[str]) -> list[str]:
    text = f"{key} can only be one of {','.join(allowed)}"
    try:
        found = names(key, given)
    except SMDebugTypeError as error:
        raise SMDebugValueError(f"{text}, or a list of them, not {given!r}") from error
    for name in found:
        if name not in allowed:
            raise SMDebugValueError(f"{text}, not '{name}'")
    return found


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        refuse(key, value, "a boolean")
    return value
