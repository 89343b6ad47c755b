"""Losses that a GradScaler scales: what of their gradients is saved, and what rules make of it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smdebug.pytorch as smd
import torch
from smdebug.exceptions import SMDebugTypeError
from smdebug.pytorch import optimizers, scaling
from smdebug.rules import check
from smdebug.trials import Trial
from support.torch_hooks import MakeHook, ReadRun
from support.torch_nets import Net, batches
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

GRADIENTS = ["gradients"]
WEIGHT = "gradient/Net_fc.weight"


def scaler_of(scale: float, **options: Any) -> Any:
    try:
        return torch.amp.GradScaler("cpu", init_scale=scale, **options)
    except (AttributeError, TypeError):
        pytest.skip("this torch scales gradients on GPUs only")


def scalar(trial: Trial, name: str) -> dict[int, float]:
    if name not in trial.tensor_names():
        return {}
    return {step: value.item() for step, value in trial.tensor(name).values().items()}


def loss_of(net: nn.Module, x: Tensor, y: Tensor, factor: float) -> Tensor:
    """A loss whose gradients come out times `factor`."""
    out = net(x)
    out.register_hook(lambda gradient: gradient * factor)
    return cross_entropy(out, y)


def train(
    net: nn.Module,
    scaler: Any,
    factors: list[float],
    batches_a_step: int = 1,
    see: Callable[[], None] = lambda: None,
    **options: Any,
) -> list[Tensor]:
    """Trains with gradients times `factors`; calls `see` after each backward pass."""
    optimizer = torch.optim.Adam(net.parameters(), 0.01, **options)
    drawn = batches(len(factors) * batches_a_step)
    for step, factor in enumerate(factors):
        optimizer.zero_grad()
        for x, y in drawn[step * batches_a_step :][:batches_a_step]:
            scaler.scale(loss_of(net, x, y, factor) / batches_a_step).backward()
            see()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
    return [value.clone() for value in net.state_dict().values()]


@pytest.mark.parametrize("forwards", [1, 2, "auto"])
@pytest.mark.parametrize("scale", [65536.0, 3.0])
def test_gradients_are_what_the_scaler_makes_of_them(
    scale: float, forwards: Any, make_hook: MakeHook, read_run: ReadRun
) -> None:
    net, factors = Net(), [1.0, float("inf"), 1.0, 1.0]
    twin = copy.deepcopy(net)
    inverse = torch.tensor(scale).double().reciprocal().float()
    gradients: list[Tensor] = []

    def see() -> None:
        gradients.append(twin.fc.weight.grad.clone())

    each = 1 if forwards == 1 else 2
    scaler = scaler_of(scale, backoff_factor=0.5)
    expected = train(twin, scaler, factors, each, see)
    hook = make_hook(include_collections=GRADIENTS, forwards_per_step=forwards)
    hook.register_module(net)
    got = train(net, scaler_of(scale, backoff_factor=0.5), factors, each)
    for one, other in zip(expected, got):
        assert torch.equal(one, other)
    trial = read_run()
    assert scalar(trial, "scalar/grad_scale") == {0: scale, 1: scale, 2: scale / 2, 3: scale / 2}
    assert scalar(trial, "scalar/step_skipped") == {0: 0, 1: 1, 2: 0, 3: 0}
    for step in range(4):
        made = gradients[step * each + each - 1] * (inverse * 2 if step > 1 else inverse)
        np.testing.assert_array_equal(trial.tensor(WEIGHT).value(step), made.numpy())
    assert hook.stats["skipped"] == hook.stats["errors"] == 0


def test_they_may_be_saved_scaled(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    hook = make_hook(include_collections=GRADIENTS, scaled=True)
    hook.register_module(net)
    gradients: list[Tensor] = []
    factors = [1.0, float("inf")]
    train(net, scaler_of(8.0), factors, see=lambda: gradients.append(net.fc.weight.grad.clone()))
    trial = read_run()
    for step, gradient in enumerate(gradients):
        np.testing.assert_array_equal(trial.tensor(WEIGHT).value(step), gradient.numpy())
    assert scalar(trial, "scalar/grad_scale") == {0: 8, 1: 8}
    assert scalar(trial, "scalar/step_skipped") == {0: 0, 1: 1}


def test_scaled_is_a_boolean(make_hook: MakeHook) -> None:
    with pytest.raises(SMDebugTypeError, match="scaled"):
        make_hook(scaled="yes")


def test_a_gradient_of_half_precision_stays_what_it_is(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    scaler = scaler_of(2.0**16)
    net = nn.Linear(2, 1, bias=False).half()
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    x = torch.tensor([[2.0**-15, 1.0]], dtype=torch.float16)
    scaler.scale(net(x).float().sum() * 2.0**-12).backward()
    value = read_run().tensor("gradient/Linear_weight").value(0)
    assert value.dtype == np.float32
    assert value.tolist() == [[2.0**-27, 2.0**-12]]  # As float16 the first would be 0.


def test_a_sparse_gradient(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = nn.Embedding(8, 2, sparse=True)
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    scaler_of(4.0).scale(net(torch.tensor([1, 3, 1])).square().sum()).backward()
    assert net.weight.grad is not None
    value = read_run().tensor("gradient/Embedding_weight").value(0)
    np.testing.assert_array_equal(value, net.weight.grad.to_dense().numpy() / 4)


def test_other_gradients_are_as_they_are(make_hook: MakeHook, read_run: ReadRun) -> None:
    """Without a scaler, with one that is switched off, and beside a scaled loss in one step."""
    net, scaler = Net(), scaler_of(4.0)
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    (x, y), gradients = batches(1)[0], []

    def backward(scaler: Any, again: Any) -> None:
        net.zero_grad()
        loss = cross_entropy(net(x), y)
        scaler.scale(loss).backward(retain_graph=True)
        net.zero_grad()
        again.scale(loss * 2).backward()
        gradients.append(net.fc.weight.grad.clone())

    off = torch.amp.GradScaler("cpu", enabled=False)
    backward(off, off)
    backward(scaler, off)
    backward(off, scaler)
    trial = read_run()
    for step, by in enumerate((1, 1, 4)):
        np.testing.assert_array_equal(
            trial.tensor(WEIGHT).value(step), gradients[step].numpy() / by
        )
    assert scalar(trial, "scalar/grad_scale") == {1: 4, 2: 4}


def test_several_scalers_and_optimizers(make_hook: MakeHook, read_run: ReadRun) -> None:
    net = Net()
    scalers = [scaler_of(4.0), scaler_of(16.0)]
    parts = [net.child, net.fc]
    optimizers = [torch.optim.SGD(part.parameters(), 0.1) for part in parts]
    other = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1)
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    gradients = []
    for step, (x, _) in enumerate(batches(3)):
        net.zero_grad()
        out = net.child(x)
        first = (out * (float("inf") if step == 1 else 1)).sum()
        second = net(x).square().sum()
        for scaler, loss, part in zip(scalers, (first, second), ("child.lin", "fc")):
            net.zero_grad()
            scaler.scale(loss).backward(inputs=list(net.get_submodule(part).parameters()))
            gradient = net.get_submodule(part).weight.grad
            gradients.append((step, f"gradient/Net_{part}.weight", gradient / scaler.get_scale()))
        for scaler, optimizer in zip(scalers, optimizers):
            if any(p.grad is not None for g in optimizer.param_groups for p in g["params"]):
                scaler.step(optimizer)
                scaler.update()
        other.step()
    trial = read_run()
    for step, name, gradient in gradients:
        np.testing.assert_array_equal(trial.tensor(name).value(step), gradient.numpy())
    assert scalar(trial, "scalar/grad_scale") == {0: 4, 1: 4, 2: 4}
    assert scalar(trial, "scalar/grad_scale_1") == {0: 16, 1: 16, 2: 16}


def test_one_backward_pass_of_two_scales_is_not_guessed(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net, (x, y) = Net(), batches(1)[0]
    one, other = scaler_of(4.0), scaler_of(16.0)
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    loss = cross_entropy(net(x), y)
    (one.scale(loss) + one.scale(loss)).backward()
    loss = cross_entropy(net(x), y)
    (one.scale(loss) + other.scale(loss)).backward()
    assert read_run().tensor(WEIGHT).steps() == [0]
    assert hook.stats["skipped"] == 4


@pytest.mark.parametrize("reentrant", [False, True])
def test_under_checkpointing(reentrant: bool, make_hook: MakeHook, read_run: ReadRun) -> None:
    class Checkpointed(Net):
        def forward(self, x: Tensor) -> Tensor:
            x = checkpoint(self.child, x, use_reentrant=reentrant)
            out: Tensor = self.fc(x)
            return out

    net, (x, y) = Checkpointed(), batches(1)[0]
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    scaler_of(8.0).scale([cross_entropy(net(x.requires_grad_()), y)])[0].backward()
    trial = read_run()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None
        value = trial.tensor(f"gradient/Checkpointed_{name}").value(0)
        np.testing.assert_array_equal(value, parameter.grad.numpy() / 8)


def test_a_backward_pass_that_failed_is_forgotten(make_hook: MakeHook, read_run: ReadRun) -> None:
    net, scaler, (x, y) = Net(), scaler_of(8.0), batches(1)[0]
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)

    def fail(_gradient: Tensor) -> None:
        raise RuntimeError("as out of memory")

    out = net(x)
    handle = out.register_hook(fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        scaler.scale(cross_entropy(out, y)).backward()
    handle.remove()
    cross_entropy(net(x), y).backward()
    assert net.fc.weight.grad is not None
    value = read_run().tensor(WEIGHT).value(1)
    np.testing.assert_array_equal(value, net.fc.weight.grad.numpy())


def test_an_optimizer_that_asks_by_itself_whether_to_step(
    make_hook: MakeHook, read_run: ReadRun
) -> None:
    net = Net()
    try:
        torch.optim.Adam(net.parameters(), fused=True)
    except (RuntimeError, TypeError):
        pytest.skip("this torch has no fused optimizer for the CPU")
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    train(net, scaler_of(8.0), [1.0, float("inf")], fused=True)
    assert scalar(read_run(), "scalar/step_skipped") == {0: 0, 1: 1}


def test_a_scaler_that_fails_reaches_no_training(
    make_hook: MakeHook, read_run: ReadRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("injected")

    net, twin = Net(), Net()
    twin.load_state_dict(net.state_dict())
    factors = [1.0, 1.0, 1.0]
    expected = train(twin, scaler_of(8.0), factors)
    hook = make_hook(include_collections=GRADIENTS)
    hook.register_module(net)
    monkeypatch.setattr(scaling.Scaling, "scale_of", fail)
    got = train(net, scaler_of(8.0), factors)
    for one, other in zip(expected, got):
        assert torch.equal(one, other)
    trial = read_run()
    assert hook.stats["skipped"] + hook.stats["errors"] > 0
    assert WEIGHT not in trial.tensor_names(), "nothing is guessed"


def test_nothing_stays_behind(make_hook: MakeHook) -> None:
    before = vars(optimizers.GradScaler)["scale"], vars(optimizers.GradScaler)["step"]
    net, scaler = Net(), scaler_of(8.0)
    hook = make_hook(include_collections=GRADIENTS, save_config=smd.SaveConfig(save_interval=2))
    hook.register_module(net)
    train(net, scaler, [1.0])
    for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(copied(torch.ones(1, 4)), net(torch.ones(1, 4)))
    pickle.dumps(scaler)
    train(net, scaler, [1.0] * 2)
    hook.close()
    assert (vars(optimizers.GradScaler)["scale"], vars(optimizers.GradScaler)["step"]) == before


class TestRules:
    """A scaler looks for its scale by trying, which is no explosion."""

    COLLECTIONS = ("weights", "gradients", "biases")
    RULES = (
        "ExplodingTensor",
        "VanishingGradient",
        "WeightUpdateRatio",
        "UnchangedTensor:collection_names=weights:num_steps=2",
    )

    def judged(self, hook: smd.Hook, read_run: ReadRun) -> dict[str, tuple[str, tuple[int, ...]]]:
        hook.close()
        return {
            report["name"]: (report["status"], tuple(report["fired_steps"]))
            for report in check(read_run(), self.RULES)
        }

    @pytest.mark.parametrize("scaled", [False, True])
    def test_a_search_for_a_scale(
        self, scaled: bool, make_hook: MakeHook, read_run: ReadRun
    ) -> None:
        net = Net()
        hook = make_hook(include_collections=self.COLLECTIONS, scaled=scaled)
        hook.register_module(net)
        train(net, scaler_of(2.0**16), [float("inf")] * 4 + [1.0] * 4)
        assert set(self.judged(hook, read_run).values()) == {("NoIssuesFound", ())}

    def test_a_step_that_was_made_with_infinities(
        self, make_hook: MakeHook, read_run: ReadRun
    ) -> None:
        net, scaler = Net(), scaler_of(4.0)
        hook = make_hook(include_collections=self.COLLECTIONS)
        hook.register_module(net)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for step, (x, y) in enumerate(batches(3)):
            optimizer.zero_grad()
            factor = float("inf") if step == 1 else 1
            scaler.scale(loss_of(net, x, y, factor)).backward()
            optimizer.step()  # Not by the scaler.
        assert self.judged(hook, read_run)["ExplodingTensor"] == ("IssuesFound", (1, 2))

    def test_a_scale_below_one(self, make_hook: MakeHook, read_run: ReadRun) -> None:
        net = Net()
        hook = make_hook(include_collections=self.COLLECTIONS)
        hook.register_module(net)
        train(net, scaler_of(4.0), [1.0] + [float("nan")] * 5)
        judged = self.judged(hook, read_run)
        assert judged["ExplodingTensor"] == ("IssuesFound", (4, 5))
        assert judged["UnchangedTensor"][0] == "IssuesFound"

    def test_a_job_that_only_searches_is_not_well(
        self, make_hook: MakeHook, read_run: ReadRun
    ) -> None:
        net = Net()
        hook = make_hook(include_collections=self.COLLECTIONS)
        hook.register_module(net)
        train(net, scaler_of(2.0**16), [float("inf")] * 5)
        statuses = {name: status for name, (status, _) in self.judged(hook, read_run).items()}
        assert set(statuses.values()) == {"Error"}

    def test_gradients_of_batches_before_the_scaler_decides(
        self, make_hook: MakeHook, read_run: ReadRun
    ) -> None:
        net = Net()
        hook = make_hook(include_collections=GRADIENTS)
        hook.register_module(net)
        train(net, scaler_of(2.0**16), [1.0, float("inf"), 1.0], batches_a_step=3)
        assert self.judged(hook, read_run)["ExplodingTensor"] == ("NoIssuesFound", ())
