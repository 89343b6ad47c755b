"""How a hook is configured, and the two ways of saying it.

Each class renders itself as the JSON of smdebug 1.0 (`to_dict`); HookSpec also
as a SageMaker configuration (`to_sagemaker`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MODES = ("TRAIN", "EVAL", "PREDICT", "GLOBAL")

# Reductions that smdebug 1.0 knows; each also exists with "abs_" before it.
REDUCTIONS_OF_1_0 = ("min", "max", "mean", "std", "variance", "sum", "prod", "l1", "l2")

# The collections of a native hook and their regexes.
BUILT_IN = {
    "all": [],
    "default": [],
    "weights": ["^(?!gradient).*weight"],
    "biases": ["^(?!gradient).*bias"],
    "gradients": ["^gradient"],
    "losses": [r"(?i)^(?!gradient|smdebug/reductions/)(?!.*_inputs?(?:_\d+)?$).*loss"],
}


@dataclass(frozen=True)
class Schedule:
    """When the steps of one mode are saved."""

    save_interval: int = 500
    start_step: int = 0
    end_step: int | None = None
    save_steps: tuple[int, ...] = ()

    def due(self, step: int) -> bool:
        if step in self.save_steps:
            return True
        if step < self.start_step or (self.end_step is not None and step >= self.end_step):
            return False
        return step % self.save_interval == 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "save_interval": self.save_interval,
            "save_steps": list(self.save_steps),
            "start_step": self.start_step,
            "end_step": self.end_step,
        }

    def parameters(self, prefix: str) -> dict[str, str]:
        texts = {
            "save_interval": str(self.save_interval),
            "start_step": str(self.start_step),
            "save_steps": ", ".join(map(str, self.save_steps)),
        }
        if self.end_step is not None:
            texts["end_step"] = str(self.end_step)
        return {prefix + key: text for key, text in texts.items() if text}


Schedules = dict[str, Schedule]  # By mode; a mode that is missing takes the hook's.


@dataclass(frozen=True)
class Form:
    """What of a tensor is saved (ReductionConfig)."""

    reductions: tuple[str, ...] = ()
    save_raw_tensor: bool = False
    save_shape: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "save_raw_tensor": self.save_raw_tensor,
            "reductions": ",".join(map(long_name, self.reductions)),
            "save_shape": self.save_shape,
        }

    def parameters(self) -> dict[str, str]:
        texts = {
            "save_raw_tensor": str(self.save_raw_tensor).lower(),
            "save_shape": str(self.save_shape).lower(),
        }
        if self.reductions:
            texts["reductions"] = ",".join(map(long_name, self.reductions))
        return texts


RAW = Form(save_raw_tensor=True)


def long_name(reduction: str) -> str:
    """The spelling of configurations: norms end in "_norm"."""
    return reduction + "_norm" if reduction.endswith(("l1", "l2")) else reduction


def schedules_to_dict(schedules: Schedules) -> dict[str, Any]:
    return {mode: schedules[mode].to_dict() if mode in schedules else None for mode in MODES}


def schedule_parameters(schedules: Schedules) -> dict[str, str]:
    texts: dict[str, str] = {}
    for mode, schedule in schedules.items():
        texts.update(schedule.parameters(mode.lower() + "."))
    return texts


@dataclass(frozen=True)
class CollectionSpec:
    name: str
    include_regex: tuple[str, ...] = ()
    tensor_names: tuple[str, ...] = ()
    form: Form | None = None
    schedules: Schedules | None = None
    save_histogram: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "include_regex": list(self.include_regex),
            "tensor_names": sorted(self.tensor_names),
            "reduction_config": self.form.to_dict() if self.form else None,
            "save_config": None if self.schedules is None else schedules_to_dict(self.schedules),
            "save_histogram": self.save_histogram,
        }

    def to_sagemaker(self) -> dict[str, Any]:
        added = self.include_regex[len(BUILT_IN.get(self.name, [])) :]
        texts = {} if self.save_histogram else {"save_histogram": "False"}
        if added:
            texts["include_regex"] = ",".join(added)
        texts.update(self.form.parameters() if self.form else {})
        texts.update(schedule_parameters(self.schedules or {}))
        spec: dict[str, Any] = {"CollectionName": self.name}
        if texts:
            spec["CollectionParameters"] = texts
        return spec


@dataclass(frozen=True)
class HookSpec:
    out_dir: str
    save_all: bool = False
    include_regex: tuple[str, ...] = ()
    include_collections: tuple[str, ...] = ()
    form: Form | None = None
    schedules: Schedules | None = None
    collections: tuple[CollectionSpec, ...] = ()
    include_workers: str = "one"
    dry_run: bool = False
    export_tensorboard: bool = False
    rank: int = 0
    workers: int = 1
    as_sagemaker: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    def to_sagemaker(self) -> dict[str, Any]:
        """The same hook as SageMaker configures it. Every collection in it is
        saved, so `include_collections` names the collections without settings."""
        texts: dict[str, str] = {"include_workers": self.include_workers}
        if self.save_all:
            texts["save_all"] = "true"
        if self.export_tensorboard:
            texts["export_tensorboard"] = "True"
        if self.include_regex:
            texts["include_regex"] = ",".join(self.include_regex)
        texts.update(self.form.parameters() if self.form else {})
        texts.update(schedule_parameters(self.schedules or {}))
        specs = [collection.to_sagemaker() for collection in self.collections]
        named = {collection.name for collection in self.collections}
        specs += [{"CollectionName": n} for n in self.include_collections if n not in named]
        return {
            "S3OutputPath": "s3://bucket/prefix",
            "LocalPath": self.out_dir,
            "HookParameters": texts,
            "CollectionConfigurations": specs,
        }

    def to_dict(self) -> dict[str, Any]:
        """What the driver builds a hook from."""
        spec: dict[str, Any] = {"rank": self.rank, "workers": self.workers, **self.extra}
        if self.as_sagemaker:
            return {**spec, "json": json.dumps(self.to_sagemaker())}
        spec.update(
            out_dir=self.out_dir,
            save_all=self.save_all,
            include_regex=list(self.include_regex),
            include_collections=list(self.include_collections),
            collections=[collection.to_dict() for collection in self.collections],
            include_workers=self.include_workers,
            dry_run=self.dry_run,
            export_tensorboard=self.export_tensorboard,
        )
        if self.form:
            spec["reduction_config"] = self.form.to_dict()
        if self.schedules is not None:
            spec["save_config"] = schedules_to_dict(self.schedules)
        return spec
