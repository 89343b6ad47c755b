"""All that a trial says about a run, under smdebug 1.0 and smdebug 2 alike.

An array is (dtype, shape, bytes), so that any version of NumPy can take it.
"""

# ruff: noqa: ANN401

from typing import Any, Callable

import numpy as np
from smdebug import modes
from smdebug.exceptions import SMDebugError
from smdebug.trials import create_trial


def array(value: Any) -> Any:
    if value is None:
        return None
    value = np.asarray(value)
    return value.dtype.name, value.shape, value.tobytes()


def asked(question: Callable[..., Any], *args: Any, then: Callable[[Any], Any]) -> Any:
    """What `then` makes of the answer, or the name of what was raised."""
    try:
        return then(question(*args))
    except SMDebugError as error:
        return type(error).__name__


def tensor(trial: Any, name: str) -> dict[str, Any]:
    known = trial.tensor(name)
    told: dict[str, Any] = {"steps": {}, "values": {}, "reductions": {}, "shapes": {}}
    for mode in modes:
        told["steps"][mode.name] = known.steps(mode)
        for step in known.steps(mode):
            key = (mode.name, step)
            told["values"][key] = asked(known.value, step, mode, then=array)
            told["shapes"][key] = asked(known.shape, step, mode, then=tuple)
            told["reductions"][key] = {
                name: np.asarray(value).item()
                for name, value in (known.reduction_values(step, mode) or {}).items()
            }
    told["workers"] = {step: sorted(known.workers(step)) for step in known.steps()}
    return told


def tell(path: str) -> dict[str, Any]:
    """Names, steps, modes, collections, values, reductions, shapes and workers of a run."""
    trial: Any = create_trial(path)
    names = trial.tensor_names()
    return {
        "names": sorted(names),
        "modes": sorted(mode.name for mode in trial.modes()),
        "steps": {mode.name: trial.steps(mode) for mode in modes},
        "global": {
            (mode.name, step): trial.global_step(mode, step)
            for mode in modes
            for step in trial.steps(mode)
        },
        "mode_of": {step: (trial.mode(step).name, trial.mode_step(step)) for step in trial.steps()},
        "names_at": {
            (mode.name, step): sorted(trial.tensor_names(step=step, mode=mode))
            for mode in modes
            for step in trial.steps(mode)
        },
        "workers": sorted(trial.workers()),
        "collections": {
            name: {
                "members": sorted(trial.tensor_names(collection=name)),
                "known": sorted(collection.tensor_names),
                "config": {
                    key: value
                    for key, value in collection.to_json_dict().items()
                    if key not in ("tensor_names",)
                },
            }
            for name, collection in trial.collections().items()
        },
        "tensors": {name: tensor(trial, name) for name in names},
    }
