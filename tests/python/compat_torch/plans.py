"""What the two packages are told to do.

A plan names a model of networks.py and has the phases of the training: pairs of a mode, or None
for none set, and a number of steps. Everything else may be left out: the arguments of the hook
(`save` and `reduce` are those of SaveConfig, by mode or for all, and of ReductionConfig), or `json`
with `by` for a configuration file; `collections` with what is done to each before the training;
`loss`; and what the script itself saves (`scalars`, `tensors`, `record`).
"""

# ruff: noqa: ANN401

from __future__ import annotations

from typing import Any

Plan = dict[str, Any]

ALL_REDUCTIONS = {
    "reductions": ["min", "max", "mean", "std", "variance", "sum", "prod"],
    "abs_reductions": ["min", "max", "mean", "std", "variance", "sum", "prod"],
    "norms": ["l1", "l2"],
    "abs_norms": ["l1", "l2"],
}
EVERY = {"save_interval": 1}
MODES = [["TRAIN", 3], ["EVAL", 2], ["TRAIN", 2], ["PREDICT", 2], ["EVAL", 1]]


def plan(model: str = "mlp", **given: Any) -> Plan:
    given.setdefault("loss", "mse")
    given.setdefault("phases", [[None, 3]])
    return {"model": model, **given}


def by_json(document: Plan, by: str = "path", **given: Any) -> Plan:
    return plan(json=document, by=by, phases=MODES, **given)


def collection(name: str, **parameters: str) -> Plan:
    return {"CollectionName": name, "CollectionParameters": parameters or None}


MODELS = (
    "mlp",
    "cnn",
    "wide",
    "lstm",
    "transformer",
    "tied",
    "shared",
    "nested",
    "parallel",
    "two",
)

PLANS: dict[str, Plan] = {
    "default": plan(loss="cross"),
    "default with modes": plan(loss="cross", phases=MODES),
    **{f"everything of {model}": plan(model, save_all=True, save=EVERY) for model in MODELS},
    **{
        f"everything of {model} by modes": plan(model, save_all=True, save=EVERY, phases=MODES)
        for model in ("mlp", "cnn", "lstm")
    },
    "integers as targets": plan(loss="cross", save_all=True, save=EVERY),
    "built-in collections": plan(
        "cnn", include_collections=["weights", "biases", "gradients"], save=EVERY, phases=MODES
    ),
    "an unknown collection": plan(include_collections=["nothing"], save=EVERY),
    "regexes": plan(include_regex=["relu", "^gradient/.*weight$"], save=EVERY),
    "a regex as a text": plan(include_regex="fc[12]_output", save=EVERY),
    "an interval": plan(save_all=True, save={"save_interval": 3}, phases=[[None, 8]]),
    "start and end": plan(
        include_collections=["weights"],
        save={"save_interval": 2, "start_step": 3, "end_step": 9},
        phases=[[None, 12]],
    ),
    "chosen steps": plan(
        include_collections=["weights", "gradients"],
        save={"save_steps": [1, 4, 5], "save_interval": 100},
        phases=[[None, 7]],
    ),
    "a schedule for each mode": plan(
        save_all=True,
        save={
            "TRAIN": {"save_interval": 2},
            "EVAL": {"save_interval": 1, "start_step": 1},
            "PREDICT": {"save_steps": [1]},
            "GLOBAL": {"save_interval": 3},
        },
        phases=MODES,
    ),
    "nothing is due": plan(save={"save_interval": 5, "start_step": 4}, phases=[[None, 2]]),
    "losses switched off": plan(
        include_collections=["biases"],
        save=EVERY,
        collections=[{"name": "losses", "save": {"end_step": 0}}],
    ),
    "own collections": plan(
        include_collections=["mine", "outputs_of_relu", "weights"],
        save={"save_interval": 2},
        collections=[
            {"name": "mine", "include": ["fc1", ["head.*output"]], "save": EVERY},
            {
                "name": "outputs_of_relu",
                "modules": [["relu", True, True], ["head.1", False, True]],
                "save": {"TRAIN": EVERY, "EVAL": {"save_interval": 2}},
                "reduce": {"reductions": ["mean", "max"], "norms": ["l2"]},
            },
            {"name": "weights", "reduce": {"abs_reductions": ["mean"], "save_raw_tensor": True}},
        ],
        phases=MODES,
    ),
    "a collection that was added": plan(
        include_collections=["added"],
        collections=[{"name": "added", "added": True, "include": "head", "save": EVERY}],
    ),
    "collections that overlap": plan(
        include_collections=["one", "two"],
        save=EVERY,
        collections=[
            {"name": "one", "include": "fc", "reduce": {"reductions": ["min"]}},
            {
                "name": "two",
                "include": "fc1",
                "save": {"save_interval": 2},
                "reduce": {"reductions": ["max", "min"], "save_raw_tensor": True},
            },
        ],
        phases=[[None, 4]],
    ),
    "all reductions": plan("cnn", save_all=True, save=EVERY, reduce=ALL_REDUCTIONS),
    "all reductions and values": plan(
        "lstm", save_all=True, save=EVERY, reduce={**ALL_REDUCTIONS, "save_raw_tensor": True}
    ),
    "all reductions and shapes": plan(
        "mlp", save_all=True, save=EVERY, reduce={**ALL_REDUCTIONS, "save_shape": True}
    ),
    "shapes alone": plan(include_collections=["weights"], save=EVERY, reduce={"save_shape": True}),
    "values and shapes": plan(
        include_collections=["weights"],
        save=EVERY,
        reduce={"save_shape": True, "save_raw_tensor": True},
    ),
    "scalars": plan(save=EVERY, scalars=["loss", "count"]),
    "scalars by modes": plan(save=EVERY, scalars=["loss"], phases=MODES),
    "tensors of the script": plan(
        save=EVERY,
        save_all=True,
        tensors=[["batch", "default", "after"], ["other", "weights", "after"]],
    ),
    "tensors between steps": plan(
        save=EVERY,
        tensors=[["batch", "default", "before"], ["same", "default", "after"]],
        phases=[[None, 4]],
    ),
    "tensors between steps of modes": plan(
        save=EVERY,
        include_regex="batch",
        tensors=[["batch", "default", "before"]],
        phases=[["TRAIN", 3], ["EVAL", 2], ["TRAIN", 1]],
    ),
    "a functional loss": plan(loss=None, save=EVERY, record="nll_loss"),
    "a recorded tensor": plan(save=EVERY, include_regex="mine", record="mine"),
    "JSON without anything": by_json({}),
    "JSON by the variable": by_json(
        {"HookParameters": {"save_interval": "2", "save_all": "true"}}, by="variable"
    ),
    "JSON by get_hook": by_json(
        {
            "S3OutputPath": "s3://bucket/prefix",
            "HookParameters": {"save_interval": "2"},
            "CollectionConfigurations": [collection("weights"), collection("gradients")],
        },
        by="get_hook",
    ),
    "JSON with two collections": by_json(
        {
            "HookParameters": {"save_interval": "2"},
            "CollectionConfigurations": [
                collection("collection_name_1", include_regex=".*"),
                collection("collection_name_2", include_regex="fc", save_interval="4"),
            ],
        }
    ),
    "JSON with a relu collection": by_json(
        {
            "CollectionConfigurations": [
                collection(
                    "custom_relu_collection",
                    include_regex="relu",
                    save_interval="2",
                    start_step="1",
                    end_step="4",
                )
            ]
        }
    ),
    "JSON with reductions": by_json(
        {
            "HookParameters": {"save_interval": "1"},
            "CollectionConfigurations": [
                collection(
                    "custom_activations_collection",
                    include_regex="relu|tanh|head.0",
                    reductions="mean,variance,max,abs_mean,abs_variance,abs_max",
                )
            ],
        }
    ),
    "JSON by modes": by_json(
        {
            "HookParameters": {
                "save_interval": "10",
                "include_regex": "relu,fc1",
                "reductions": "min, l1_norm,abs_l2_norm",
                "train.save_interval": "2",
                "eval.save_steps": "0, 2",
                "predict.end_step": "0",
            },
            "CollectionConfigurations": [
                collection("losses", **{"train.save_interval": "3", "eval.save_interval": "1"}),
                collection("biases", save_steps="1,2", save_histogram="false"),
            ],
        }
    ),
    "JSON that switches losses off": by_json(
        {
            "HookParameters": {"save_interval": "1"},
            "CollectionConfigurations": [collection("losses", end_step="0"), collection("biases")],
        }
    ),
}
