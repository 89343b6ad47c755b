"""Trains a network by a plan, under smdebug 1.0 and smdebug 2 alike.

A plan is a dict that can be JSON; plans.py has them. Only what both packages have is used here.
"""

# ruff: noqa: ANN401, PTH123

import json
import os
from typing import Any

import smdebug.pytorch as smd
import torch
from compat_torch.networks import MODELS, Spec, batches
from torch import nn


def save_mode(given: dict[str, Any]) -> smd.SaveConfigMode:
    return smd.SaveConfigMode(**given)


def save_config(given: dict[str, Any]) -> smd.SaveConfig:
    if any(key.isupper() for key in given):
        return smd.SaveConfig({smd.modes[key]: save_mode(value) for key, value in given.items()})
    return smd.SaveConfig(**given)


def optional(make: Any, given: Any) -> Any:
    return None if given is None else make(given)


def reduction_config(given: dict[str, Any]) -> smd.ReductionConfig:
    return smd.ReductionConfig(**given)


def make_hook(plan: dict[str, Any]) -> Any:
    run = plan["run"]
    if "json" in plan:
        path = f"{run}.json"
        with open(path, "w") as file:
            json.dump({"LocalPath": run, **plan["json"]}, file)
        if plan["by"] == "path":
            return smd.Hook.create_from_json_file(path)
        os.environ["SMDEBUG_CONFIG_FILE_PATH"] = path
        if plan["by"] == "get_hook":
            made = smd.get_hook(create_if_not_exists=True)
            assert made is not None and made is smd.get_hook()
            return made
        return smd.Hook.create_from_json_file()
    return smd.Hook(
        out_dir=run,
        save_config=optional(save_config, plan.get("save")),
        reduction_config=optional(reduction_config, plan.get("reduce")),
        include_regex=plan.get("include_regex"),
        include_collections=plan.get("include_collections"),
        save_all=plan.get("save_all", False),
        **plan.get("more", {}),
    )


def set_collections(hook: Any, model: nn.Module, plan: dict[str, Any]) -> None:
    modules = dict(model.named_modules())
    for given in plan.get("collections", []):
        if given.get("added"):
            hook.add_collection(smd.Collection(given["name"]))
        collection = hook.get_collection(given["name"])
        if "include" in given:
            collection.include(given["include"])
        for name, inputs, outputs in given.get("modules", []):
            collection.add_module_tensors(modules[name], inputs=inputs, outputs=outputs)
        if "save" in given:
            collection.save_config = save_config(given["save"])
        if "reduce" in given:
            collection.reduction_config = reduction_config(given["reduce"])


def after_forward(hook: Any, plan: dict[str, Any], step: int, loss: torch.Tensor) -> None:
    if "record" in plan:
        hook.record_tensor_value(plan["record"], loss)
    for scalar in plan.get("scalars", []):
        hook.save_scalar(scalar, loss.item() if scalar == "loss" else step)


def save_tensors(hook: Any, plan: dict[str, Any], inputs: torch.Tensor, when: str) -> None:
    for tensor, collection, its_time in plan.get("tensors", []):
        if its_time == when:
            hook.save_tensor(tensor, inputs.sum(0), collections_to_write=collection)


def train(plan: dict[str, Any]) -> None:
    torch.manual_seed(0)
    spec: Spec = MODELS[plan["model"]]
    roots = spec.make()
    hook = make_hook(plan)
    for root in roots:
        hook.register_module(root)
    set_collections(hook, roots[0], plan)
    criterion = nn.CrossEntropyLoss() if plan["loss"] == "cross" else nn.MSELoss()
    if plan["loss"] is not None:
        hook.register_loss(criterion)
    weights = [parameter for root in roots for parameter in root.parameters()]
    optimizer = torch.optim.SGD(weights, 0.05, momentum=0.9)
    count = 0
    for mode, steps in plan["phases"]:
        if mode is not None:
            hook.set_mode(smd.modes[mode])
        learns = mode in (None, "TRAIN", "GLOBAL")
        for root in roots:
            root.train(learns)
        for inputs in batches(spec.shape, steps, seed=count):
            count += 1
            save_tensors(hook, plan, inputs, "before")
            with torch.set_grad_enabled(learns):
                out = spec.run(roots, inputs)
                target = out.detach().sign() if plan["loss"] != "cross" else None
                if target is None:
                    out = out.flatten(1)
                    target = torch.arange(out.shape[0]) % out.shape[1]
                loss = criterion(out, target)
            after_forward(hook, plan, count, loss)
            save_tensors(hook, plan, inputs, "after")
            if learns:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    hook.close()
