"""Runs of smdebug 1.0 drawn at random: workers, steps, modes and payloads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from compat import strategies
from compat.reference_run import (
    ReferenceRun,
    StepFile,
    Write,
    WriteReduction,
    WriteShape,
    WriteValue,
)
from hypothesis import strategies as st
from support.config import MODES, REDUCTIONS_OF_1_0, CollectionSpec, Form
from support.model import Stamp
from support.scenario import Array, Scenario

# As in file names; those that begin with "_" are devices of TensorFlow.
WORKERS = (
    ["worker_0"],
    ["worker_0", "worker_1"],
    ["worker_0", "worker_1", "worker_10", "worker_2"],
    ["algo-1_0", "algo-2_0"],
    ["_replica-0_task-0_device-GPU-0"],
    [f"_job-worker_replica-0_task-{task}_device-GPU-{gpu}" for task in (0, 1) for gpu in (0, 1)],
)
NAMES = (*strategies.NAMES, "scalar/lr", "ложь/0", 'quoted "name"', "labels_1", "x_predictions_0")
ORIGINAL_NAMES = {"fc.bias": "dense/bias:0", "x": "Placeholder:0", "relu_output_0": None}
REDUCTIONS = tuple(prefix + name for prefix in ("", "abs_") for name in REDUCTIONS_OF_1_0)
REDUCED_TYPES = ("float16", "float32", "float64", "int64", "int8", "uint64", "bool")


@st.composite
def stamps(draw: st.DrawFn) -> list[Stamp]:
    """Steps in order, each of a mode, with gaps in both countings."""
    step = draw(st.sampled_from((0, 0, 1, 997, 999_999_999)))
    modes = draw(st.sampled_from((("GLOBAL",), ("TRAIN", "EVAL"), MODES)))
    mode_steps = dict.fromkeys(MODES, draw(st.integers(0, 2)))
    drawn = []
    for _ in range(draw(st.integers(0, 6))):
        mode = draw(st.sampled_from(modes))
        drawn.append(Stamp(step, mode, step if mode == "GLOBAL" else mode_steps[mode]))
        mode_steps[mode] += draw(st.integers(1, 3))
        step += draw(st.integers(1, 3))
    return drawn


@st.composite
def reduced_values(draw: st.DrawFn) -> Array:
    """What hooks save as a reduction: one number, of rank 1 or 0."""
    dtype = draw(st.sampled_from(REDUCED_TYPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value = strategies.make_values(rng, dtype, 1, special=draw(st.booleans()))
    return value if draw(st.booleans()) else value.reshape(())


@st.composite
def writes(draw: st.DrawFn) -> list[Write]:
    """What a step file holds; a name can have several kinds of entries, and the
    same more than once."""
    drawn: list[Write] = []
    names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
    for name in draw(names):
        kind = draw(st.sampled_from(("value", "value", "reductions", "shape", "everything")))
        value = draw(strategies.arrays())
        if kind in ("shape", "everything"):
            drawn.append(WriteShape(name, value.shape, ORIGINAL_NAMES.get(name)))
        if kind in ("reductions", "everything"):
            some = st.lists(st.sampled_from(REDUCTIONS), min_size=1, max_size=3, unique=True)
            drawn += [WriteReduction(name, r, draw(reduced_values())) for r in draw(some)]
        if kind in ("value", "everything"):
            drawn.append(WriteValue(name, value))
    return drawn


@st.composite
def collection_specs(draw: st.DrawFn) -> list[CollectionSpec]:
    names = draw(st.lists(st.sampled_from(("weights", "losses", "custom", "inputs")), unique=True))
    return [
        CollectionSpec(
            name,
            include_regex=tuple(draw(st.lists(st.sampled_from(strategies.REGEXES), max_size=2))),
            tensor_names=tuple(draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))),
            form=known_to_1_0(draw(st.none() | strategies.forms)),
            schedules=draw(st.none() | strategies.save_configs),
            save_histogram=draw(st.booleans()),
        )
        for name in names
    ]


@st.composite
def runs(draw: st.DrawFn) -> ReferenceRun:
    workers = draw(st.sampled_from(WORKERS))
    files = []
    for stamp in draw(stamps()):
        # A step that some worker did not write, or not yet, is incomplete.
        present = draw(st.just(workers) | st.lists(st.sampled_from(workers), unique=True))
        files += [StepFile(stamp, worker, draw(writes())) for worker in present]
    specs = draw(collection_specs())
    collections = {worker: specs for worker in workers}
    if specs and len(workers) > 1 and draw(st.booleans()):
        # Each worker lists the names that it has seen.
        first, *others = specs
        more = replace(first, tensor_names=("fc.weight", "seen elsewhere"))
        collections[workers[-1]] = [more, *others]
    return ReferenceRun(workers, files, collections, ended=draw(st.booleans()))


def known_to_1_0(form: Form | None) -> Form | None:
    return form and replace(form, reductions=tuple(r for r in form.reductions if r in REDUCTIONS))


@st.composite
def scenarios(draw: st.DrawFn, out_dir: str) -> Scenario:
    """What strategies.scenarios() draws, as far as hooks of 1.0 go, by one worker
    or by two that do the same."""
    drawn = draw(strategies.scenarios(out_dir))
    hook = drawn.hooks[0]
    specs = [replace(spec, form=known_to_1_0(spec.form)) for spec in hook.collections]
    hook = replace(hook, form=known_to_1_0(hook.form), collections=tuple(specs))
    if draw(st.integers(0, 3)):
        return Scenario([hook], drawn.actions)
    both = [replace(hook, rank=rank, workers=2, include_workers="all") for rank in (0, 1)]
    return Scenario(both, drawn.actions + [replace(action, hook=1) for action in drawn.actions])
