"""What is saved of a tensor."""

from __future__ import annotations

import json
from typing import Any

from smdebug.exceptions import SMDebugValueError

REDUCTION_CONFIG_VERSION_NUM = "v0"
ALLOWED_REDUCTIONS = ["min", "max", "mean", "std", "variance", "sum", "prod", "median"]
ALLOWED_NORMS = ["l1", "l2"]
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
        reductions: list[str] | None = None,
        abs_reductions: list[str] | None = None,
        norms: list[str] | None = None,
        abs_norms: list[str] | None = None,
        save_raw_tensor: bool = False,
        save_shape: bool = False,
    ) -> None:
        self.reductions = list(reductions or [])
        self.abs_reductions = list(abs_reductions or [])
        self.norms = list(norms or [])
        self.abs_norms = list(abs_norms or [])
        self.save_raw_tensor = save_raw_tensor
        self.save_shape = save_shape
        for key in ("reductions", "abs_reductions"):
            _check_names(key, getattr(self, key), ALLOWED_REDUCTIONS)
        for key in ("norms", "abs_norms"):
            _check_names(key, getattr(self, key), ALLOWED_NORMS)
        for key in ("save_raw_tensor", "save_shape"):
            if not isinstance(getattr(self, key), bool):
                raise SMDebugValueError(f"{key}={getattr(self, key)!r} is not a boolean")

    def to_json_dict(self) -> dict[str, Any]:
        names = [
            *self.reductions,
            *(f"{norm}_norm" for norm in self.norms),
            *(f"abs_{name}" for name in self.abs_reductions),
            *(f"abs_{norm}_norm" for norm in self.abs_norms),
        ]
        return {
            "save_raw_tensor": self.save_raw_tensor,
            "reductions": ",".join(names),
            "save_shape": self.save_shape,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_json(cls, json_str: str) -> ReductionConfig | None:
        return cls.from_dict(json.loads(json_str))

    @classmethod
    def from_dict(cls, params: dict[str, Any] | None) -> ReductionConfig | None:
        """From the keys of to_json_dict(); None gives None."""
        if params is None:
            return None
        if not isinstance(params, dict):
            raise SMDebugValueError(f"{params!r} is not a dict of reduction parameters")
        lists: dict[str, list[str]] = {
            key: [] for key in ("reductions", "abs_reductions", "norms", "abs_norms")
        }
        names = ",".join(filter(None, (params.get("reductions"), params.get("more_reductions"))))
        for item in filter(None, (text.strip() for text in names.split(","))):
            name = item.removeprefix("abs_").removesuffix("_norm")
            kind = "norms" if name in ALLOWED_NORMS else "reductions"
            lists[f"abs_{kind}" if item.startswith("abs_") else kind].append(name)
        return cls(
            **lists,
            save_raw_tensor=params.get("save_raw_tensor", False),
            save_shape=params.get("save_shape", False),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReductionConfig):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in ALLOWED_PARAMS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{key}={getattr(self, key)}" for key in ALLOWED_PARAMS)
        return f"ReductionConfig({values})"


def _check_names(key: str, names: list[str], allowed: list[str]) -> None:
    for name in names:
        if name not in allowed:
            raise SMDebugValueError(f"{key} can only be one of {','.join(allowed)}, not {name!r}")
