"""Scenarios drawn at random: configurations, training loops and tensors."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from support.config import (
    BUILT_IN,
    MODES,
    REDUCTIONS_OF_1_0,
    CollectionSpec,
    Form,
    HookSpec,
    Schedule,
    Schedules,
)
from support.scenario import (
    Action,
    Array,
    BeginStep,
    EndStep,
    Save,
    SaveScalar,
    Scenario,
    SetMode,
)

NAMES = (
    "fc.weight",
    "fc.bias",
    "gradient/fc.weight",
    "CrossEntropyLoss_output_0",
    "loss_input_0",
    "relu_output_0",
    "conv/kernel:0",
    "näme with spaces",
    "x",
)
REGEXES = ("relu", "^conv/", "weight$", "(?<!gradient/)fc", "^x$|bias", ".*", "nothing matches")
CUSTOM = ("custom", "other")
DTYPES = (
    *("float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"),
    *("int64", "uint64", "bool", "complex64", "complex128"),
)
REDUCTIONS = tuple(
    prefix + name for prefix in ("", "abs_") for name in (*REDUCTIONS_OF_1_0, "median")
)

schedules = st.builds(
    Schedule,
    save_interval=st.integers(1, 4),
    start_step=st.integers(0, 4),
    end_step=st.none() | st.integers(0, 6),
    save_steps=st.lists(st.integers(0, 6), max_size=2, unique=True).map(tuple),
).filter(lambda s: not s.end_step or s.start_step <= s.end_step)
every_mode: st.SearchStrategy[Schedules] = schedules.map(lambda s: dict.fromkeys(MODES, s))
some_modes: st.SearchStrategy[Schedules] = st.dictionaries(st.sampled_from(MODES), schedules)
save_configs = st.just(dict.fromkeys(MODES, Schedule(save_interval=1))) | every_mode | some_modes

forms = st.builds(
    Form,
    reductions=st.lists(st.sampled_from(REDUCTIONS), max_size=5, unique=True).map(tuple),
    save_raw_tensor=st.booleans(),
    save_shape=st.booleans(),
).filter(lambda form: form != Form())


@st.composite
def collections(draw: st.DrawFn, name: str, *, sagemaker: bool) -> CollectionSpec:
    regexes = st.lists(st.sampled_from(REGEXES), min_size=1, max_size=2, unique=True)
    names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
    return CollectionSpec(
        name,
        include_regex=tuple(BUILT_IN.get(name, []) + draw(regexes)),
        tensor_names=() if sagemaker else tuple(draw(names)),
        form=draw(st.none() | forms),
        schedules=draw(st.none() | save_configs),
        save_histogram=draw(st.booleans()),
    )


@st.composite
def hooks(draw: st.DrawFn, out_dir: str) -> HookSpec:
    sagemaker = draw(st.booleans())
    own = draw(st.lists(st.sampled_from((*CUSTOM, "weights")), max_size=2, unique=True))
    specs = [draw(collections(name, sagemaker=sagemaker)) for name in own]
    general: Schedules | None = draw(st.none() | save_configs)
    if sagemaker and any(spec.schedules for spec in specs):
        # There a collection's schedule is laid over the hook's key by key.
        general = None
    including = st.sampled_from(("weights", "biases", "gradients", "all", *own))
    return HookSpec(
        out_dir,
        save_all=draw(st.booleans()),
        include_regex=tuple(draw(st.lists(st.sampled_from(REGEXES), max_size=2, unique=True))),
        include_collections=tuple(draw(st.lists(including, max_size=3, unique=True))),
        form=draw(st.none() | forms),
        schedules=general,
        collections=tuple(specs),
        as_sagemaker=sagemaker,
    )


def make_values(rng: np.random.Generator, dtype: str, size: int, *, special: bool) -> Array:
    """Values of every magnitude that squares and sums of doubles can hold."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.integers(0, 2, size).astype(kind)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        if special:
            return rng.choice(np.array([limits.min, 0, 1, limits.max], kind), size)
        return rng.integers(max(limits.min, -1000), min(limits.max, 1000), size).astype(kind)
    values = rng.standard_normal(size) * 10.0 ** rng.integers(-4, 4)
    if kind.kind == "c":
        return (values + 1j * rng.standard_normal(size)).astype(kind)
    if special and size:
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, 6e4])
        where = rng.integers(0, size, 3)
        values[where] = rng.choice(odd, len(where))
    return values.astype(kind)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    """An array of any dtype and layout: dense, transposed, reversed, with gaps,
    broadcast."""
    if draw(st.integers(0, 15)) == 0:
        texts = draw(st.lists(st.sampled_from(("", "a", "bär", "x" * 300)), max_size=3))
        return np.array(texts, dtype=object)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = tuple(draw(st.lists(st.integers(0, 5) | st.just(9), max_size=4)))
    dtype = draw(st.sampled_from(DTYPES))
    size = int(np.prod(shape, dtype=int))
    dense = make_values(rng, dtype, size, special=draw(st.booleans())).reshape(shape)
    if not shape:
        return dense
    layout = draw(
        st.sampled_from(("dense", "dense", "transposed", "reversed", "gaps", "broadcast"))
    )
    if layout == "transposed":
        return dense.T
    if layout == "reversed":
        return dense[::-1]
    if layout == "gaps":
        return dense[..., ::2]
    if layout == "broadcast":
        return np.broadcast_to(dense, (2, *shape))
    return dense


finite_or_not = st.floats(width=64) | st.just(float("nan"))


@st.composite
def steps(draw: st.DrawFn) -> list[Action]:
    """One step of a training loop, scalars in all the places they may come."""
    actions: list[Action] = []
    scalars = st.lists(
        st.builds(SaveScalar, st.sampled_from(("lr", "acc/top 1")), finite_or_not), max_size=2
    )
    if draw(st.integers(0, 3)) == 0:
        actions.append(SetMode(draw(st.sampled_from(MODES))))
    actions.append(BeginStep())
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True)):
        actions.append(Save(name, draw(arrays())))
    if draw(st.integers(0, 3)) == 0:
        named = st.lists(st.sampled_from(("default", "weights", "late")), min_size=1, unique=True)
        actions.append(Save("joined", draw(arrays()), tuple(draw(named))))
    actions += draw(scalars)
    if draw(st.booleans()):
        actions.append(EndStep())
        actions += draw(scalars)
    return actions


@st.composite
def scenarios(draw: st.DrawFn, out_dir: str) -> Scenario:
    actions = [action for step in draw(st.lists(steps(), max_size=6)) for action in step]
    return Scenario([draw(hooks(out_dir))], actions)
