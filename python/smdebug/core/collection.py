"""Named groups of tensors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from smdebug import _core
from smdebug._internal.checks import names, refuse, refuse_type, text
from smdebug._internal.passed_on import passed_on
from smdebug.core.reduction_config import ReductionConfig
from smdebug.core.save_config import SaveConfig, SaveConfigMode

__getattr__ = passed_on(__name__)

ALLOWED_PARAMS = [
    "name",
    "include_regex",
    "reduction_config",
    "save_config",
    "tensor_names",
    "save_histogram",
]


class CollectionKeys:
    """The names of the built-in collections."""

    DEFAULT = "default"
    ALL = "all"
    WEIGHTS = "weights"
    BIASES = "biases"
    GRADIENTS = "gradients"
    LOSSES = "losses"
    METRICS = "metrics"
    INPUTS = "inputs"
    OUTPUTS = "outputs"
    LAYERS = "layers"
    SM_METRICS = "sm_metrics"
    OPTIMIZER_VARIABLES = "optimizer_variables"
    TENSORFLOW_SUMMARIES = "tensorflow_summaries"
    # XGBoost's.
    HYPERPARAMETERS = "hyperparameters"
    PREDICTIONS = "predictions"
    LABELS = "labels"
    FEATURE_IMPORTANCE = "feature_importance"
    AVERAGE_SHAP = "average_shap"
    FULL_SHAP = "full_shap"
    TREES = "trees"


_OF_A_MODEL = {"all", "biases", "default", "gradients", "losses", "weights"}
DEFAULT_PYTORCH_COLLECTIONS = set(_OF_A_MODEL)
DEFAULT_MXNET_COLLECTIONS = set(_OF_A_MODEL)
DEFAULT_TF_COLLECTIONS = {
    *_OF_A_MODEL,
    "inputs",
    "layers",
    "metrics",
    "optimizer_variables",
    "outputs",
    "sm_metrics",
}
DEFAULT_XGBOOST_COLLECTIONS = {
    "all",
    "average_shap",
    "default",
    "feature_importance",
    "full_shap",
    "hyperparameters",
    "labels",
    "predictions",
    "trees",
}
SM_METRIC_COLLECTIONS = {"losses", "metrics", "sm_metrics"}
SCALAR_COLLECTIONS = {*SM_METRIC_COLLECTIONS, "average_shap", "feature_importance"}
SUMMARIES_COLLECTIONS = {"tensorflow_summaries"}
NON_REDUCTION_COLLECTIONS = SCALAR_COLLECTIONS | SUMMARIES_COLLECTIONS
NON_HISTOGRAM_COLLECTIONS = SCALAR_COLLECTIONS | SUMMARIES_COLLECTIONS


class Collection:
    """A group of tensors, with when and how to save them.

    What is None comes from the hook.
    """

    def __init__(
        self,
        name: str,
        include_regex: str | Iterable[Any] | None = None,
        tensor_names: str | Iterable[str] | None = None,
        reduction_config: ReductionConfig | None = None,
        save_config: SaveConfig | SaveConfigMode | dict[Any, Any] | None = None,
        save_histogram: bool = True,
    ) -> None:
        if not isinstance(name, str) or not name:
            refuse("collection: name", name, "a name")
        self.name = name
        self.include_regex = include_regex
        self.tensor_names = tensor_names
        self.reduction_config = reduction_config
        self.save_config = save_config
        self.save_histogram = save_histogram

    @property
    def include_regex(self) -> list[str]:
        """The patterns whose tensors are in the collection; a list that may be changed."""
        return self._include_regex

    @include_regex.setter
    def include_regex(self, include_regex: str | Iterable[Any] | None) -> None:
        patterns = self._checked_patterns(include_regex)
        self._include_regex: list[str] = patterns

    @property
    def tensor_names(self) -> set[str]:
        """The names of the tensors in the collection; a set that may be changed."""
        return self._tensor_names

    @tensor_names.setter
    def tensor_names(self, tensor_names: str | Iterable[str] | None) -> None:
        self._tensor_names = set(names("tensor_names", tensor_names))

    @property
    def reduction_config(self) -> ReductionConfig | None:
        """What is saved of its tensors; None: as the hook says."""
        return self._reduction_config

    @reduction_config.setter
    def reduction_config(self, reduction_config: ReductionConfig | None) -> None:
        if reduction_config is not None and not isinstance(reduction_config, ReductionConfig):
            refuse_type("reduction_config", reduction_config, "a ReductionConfig")
        self._reduction_config = reduction_config

    @property
    def save_config(self) -> SaveConfig | None:
        """When its tensors are saved; None: as the hook says."""
        return self._save_config

    @save_config.setter
    def save_config(self, save_config: SaveConfig | SaveConfigMode | dict[Any, Any] | None) -> None:
        self._save_config = None if save_config is None else SaveConfig.parse(save_config)

    def include(self, t: str | Iterable[Any]) -> None:
        """Adds a pattern, or a list, a tuple or a set of them, however nested.

        SMDebugValueError for what is no regular expression.
        """
        if t is None:
            refuse_type("include_regex", t, "a regular expression, or a list of them")
        self.include_regex.extend(self._checked_patterns(t))

    def _checked_patterns(self, patterns: object) -> list[str]:
        found = names("include_regex", patterns, "a regular expression")
        if found:
            _core.check_patterns(self.name, found)
        return found

    def add_tensor_name(self, tname: str) -> None:
        """Adds the name of a tensor."""
        self._tensor_names.add(text("tensor_names", tname, "a name"))

    def remove_tensor_name(self, tname: str) -> None:
        """Removes the name of a tensor, if it is there."""
        self._tensor_names.discard(tname)

    def has_tensor_name(self, tname: str) -> bool:
        """Whether the tensor is in the collection by its name."""
        return tname in self._tensor_names

    def to_json_dict(self) -> dict[str, Any]:
        """The fields by name, configurations as their own dicts."""
        return {
            "name": self.name,
            "include_regex": self.include_regex,
            "tensor_names": sorted(self.tensor_names),
            "reduction_config": self.reduction_config and self.reduction_config.to_json_dict(),
            "save_config": self.save_config and self.save_config.to_json_dict(),
            "save_histogram": self.save_histogram,
        }

    def to_json(self) -> str:
        """to_json_dict() as a string."""
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_dict(cls, params: dict[str, Any]) -> Collection:
        """From the keys of to_json_dict(), all of which but the name may be missing.

        Patterns that a run has stored are taken as they are; a hook refuses those that are none.
        """
        if not isinstance(params, dict):
            refuse("collection", params, "a dict")
        made = cls(
            name=params.get("name", ""),
            tensor_names=set(params.get("tensor_names") or ()),
            reduction_config=ReductionConfig.from_dict(params.get("reduction_config")),
            save_config=SaveConfig.from_dict(params.get("save_config")),
            save_histogram=params.get("save_histogram", True),
        )
        made._include_regex = names("include_regex", params.get("include_regex"))
        return made

    @classmethod
    def from_json(cls, json_str: str) -> Collection:
        """The inverse of to_json()."""
        return cls.from_dict(json.loads(json_str))

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Collection):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in ALLOWED_PARAMS)

    def __repr__(self) -> str:
        return f"<class {type(self).__name__}: name={self.name}>"

    def __str__(self) -> str:
        return str(self.to_json_dict())

    def _repr_html_(self) -> str:
        from smdebug._internal import html

        return html.of_collection(self)
