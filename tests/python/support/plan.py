"""The effective configuration of a hook: every collection, completed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from support.config import (
    BUILT_IN,
    MODES,
    RAW,
    CollectionSpec,
    Form,
    HookSpec,
    Schedule,
    Schedules,
)

# Saved raw whatever is configured.
SCALAR_LIKE = {"losses", "metrics", "sm_metrics"}
# Never due in EVAL and PREDICT.
TRAIN_ONLY = {"gradients", "optimizer_variables"}


@dataclass
class Planned:
    name: str
    include_regex: list[str]
    tensor_names: set[str]  # As configured, and those that joined since.
    form: Form
    schedules: Schedules  # Of all four modes.
    save_histogram: bool
    saved: bool
    configured: bool  # As opposed to made for a tensor that was saved to it.
    # Names that the collections file must list, and those that it may: a name
    # joins when it is first seen, and is told to readers with what is saved.
    listed_names: set[str] = field(default_factory=set)
    seen_names: set[str] = field(default_factory=set)

    def matches(self, name: str) -> bool:
        if name in self.tensor_names:
            return True
        return any(re.search(pattern, name) for pattern in self.include_regex)

    def due(self, mode: str, mode_step: int) -> bool:
        if self.name in TRAIN_ONLY and mode in ("EVAL", "PREDICT"):
            return False
        return self.schedules[mode].due(mode_step)


def form_of(hook: HookSpec, spec: CollectionSpec) -> Form:
    if spec.name in SCALAR_LIKE:
        return RAW
    if spec.form and hook.form and hook.as_sagemaker and not spec.form.reductions:
        # There the flags alone are laid over the hook's form.
        return replace(spec.form, reductions=hook.form.reductions)
    return spec.form or hook.form or RAW


def plan_collection(
    hook: HookSpec, spec: CollectionSpec, *, saved: bool, configured: bool
) -> Planned:
    own, general = spec.schedules or {}, hook.schedules or {}
    return Planned(
        name=spec.name,
        include_regex=list(spec.include_regex),
        tensor_names=set(spec.tensor_names),
        form=form_of(hook, spec),
        schedules={mode: own.get(mode) or general.get(mode) or Schedule() for mode in MODES},
        save_histogram=spec.save_histogram and spec.name not in SCALAR_LIKE,
        saved=saved,
        configured=configured,
        listed_names=set(spec.tensor_names),
        seen_names=set(spec.tensor_names),
    )


def make_plan(hook: HookSpec) -> dict[str, Planned]:
    specs = {name: CollectionSpec(name, tuple(regex)) for name, regex in BUILT_IN.items()}
    specs.update((collection.name, collection) for collection in hook.collections)
    included = {"losses", *hook.include_collections}
    if hook.as_sagemaker:
        included.update(collection.name for collection in hook.collections)
    if hook.include_regex:
        included.add("default")
    if hook.save_all:
        included.add("all")
    plan: dict[str, Planned] = {}
    for name, spec in specs.items():
        # Whoever includes `all` includes every collection.
        saved = "all" in included or name in included
        plan[name] = plan_collection(hook, spec, saved=saved, configured=True)
    plan["default"].include_regex += hook.include_regex
    if "all" in included:
        plan["all"].include_regex.append(".*")
    return plan
