"""Rules that count inactive units fire where their definitions do."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rule_definitions.definitions import units as definitions
from rule_definitions.plans import SPECIAL, Plan, arrays, fired, plans, some_of, spec, to_run

percents = st.sampled_from((0, 1, 12.5, 25, 33, 50, 62.5, 75, 100))


@st.composite
def layers(draw: st.DrawFn, names: Sequence[str], numbers: Sequence[float]) -> Plan:
    """Batches of one shape, of one size or of several."""
    shape = draw(st.sampled_from(((), (1,), (3,), (2, 2), (0,))))
    sizes = draw(st.lists(st.sampled_from((0, 1, 3, 4, 7, 8, 10)), min_size=1, max_size=2))
    values = arrays([(size, *shape) for size in sizes], numbers, ("float32", "float64"))
    return draw(plans(some_of(names, values)))


@given(
    layers(
        ("relu_output", "net0_relu_output_0", "gradient/relu_output", "x"), (0, -1, 0.5, *SPECIAL)
    ),
    percents,
    percents,
)
def test_dead_relu(plan: Plan, inactivity: float, layer: float) -> None:
    rule = spec("DeadRelu", threshold_inactivity=inactivity, threshold_layer=layer)
    expected = definitions.dead_relu(
        to_run(plan), lambda name: "relu_output" in name, inactivity, layer
    )
    assert fired(plan, rule) == [expected]


@given(
    layers(
        ("tanh_input", "net_sigmoid_input_0", "mine/Sigmoid", "mine/tanH", "mine/x", "tanh_output"),
        (0, 9.5, -9.5, 10, -10, 17, -23, 30, *SPECIAL),
    ),
    st.sampled_from((None, (-1, 10), (-10, 20))),
    st.sampled_from((None, (-1, 10), (-10, 20))),
    percents,
    percents,
    st.booleans(),
)
def test_saturated_activation(
    plan: Plan,
    tanh: tuple[float, float] | None,
    sigmoid: tuple[float, float] | None,
    inactivity: float,
    layer: float,
    is_selected: bool,
) -> None:
    rule = spec(
        "SaturatedActivation",
        collection_names=["mine"] if is_selected else None,
        threshold_tanh_min=tanh and tanh[0],
        threshold_tanh_max=tanh and tanh[1],
        threshold_sigmoid=sigmoid and f"({sigmoid[0]}, {sigmoid[1]})",
        threshold_inactivity=inactivity,
        threshold_layer=layer,
    )
    names = (
        ("mine/Sigmoid", "mine/tanH", "mine/x")
        if is_selected
        else ("tanh_input", "net_sigmoid_input_0")
    )
    expected = definitions.saturated_activation(
        to_run(plan),
        names.__contains__,
        tanh or (-9.4999, 9.4999),
        sigmoid or (-23, 16.99999),
        inactivity,
        layer,
    )
    assert fired(plan, rule, collections={"mine": "^mine/"}) == [expected]
