"""Trainings that go wrong, each with the rules that have to say so."""

from __future__ import annotations

from typing import Callable

import torch
from rules.data import Blobs, fixed, images, regression, texts
from rules.networks import Cnn, Mlp, TextClassifier, zero
from rules.training import Job
from torch import nn

MakeJob = Callable[[int], Job]
FAULTS: dict[str, tuple[MakeJob, tuple[str, ...]]] = {}


def breaks(*rules: str) -> Callable[[MakeJob], MakeJob]:
    """Marks a training as one that these rules have to find."""

    def add(make: MakeJob) -> MakeJob:
        FAULTS[make.__name__] = (make, rules)
        return make

    return add


@breaks("VanishingGradient")
def sigmoid_stack(seed: int) -> Job:
    """Twelve sigmoids in a row: nothing of the gradient reaches the first layers."""
    blobs = Blobs(seed)
    return Job(Mlp(16, 4, depth=12, activation=nn.Sigmoid), blobs.batches(32))


@breaks("PoorWeightInitialization", "AllZero")
def zero_weights(seed: int) -> Job:
    """Every weight and bias starts at zero, so nothing but the last bias ever learns."""
    blobs = Blobs(seed)
    net = Mlp(16, 4)
    zero(net)
    return Job(net, blobs.batches(32))


@breaks("WeightUpdateRatio", "ExplodingTensor")
def huge_learning_rate(seed: int) -> Job:
    """Steps far too wide: the weights leap away and overflow."""
    batches = regression(seed, 32, noise=0.1)
    net = nn.Sequential(nn.Linear(16, 1))
    return Job(net, batches, loss=nn.MSELoss(), lr=5.0, momentum=0.0)


@breaks("LossNotDecreasing", "WeightUpdateRatio", "UnchangedTensor")
def zero_learning_rate(seed: int) -> Job:
    """Gradients come and nothing moves."""
    blobs = Blobs(seed)
    return Job(Mlp(16, 4), fixed(blobs.sample(64), 64), lr=0.0)


@breaks("UnchangedTensor")
def forgotten_layer(seed: int) -> Job:
    """One layer gets gradients, but the optimizer does not know it."""
    blobs = Blobs(seed)
    net = Mlp(16, 4, depth=3)
    kept = [parameter.detach().clone() for parameter in net.fc[1].parameters()]

    def restore(_step: int) -> None:
        with torch.no_grad():
            for parameter, value in zip(net.fc[1].parameters(), kept):
                parameter.copy_(value)

    return Job(net, blobs.batches(32), before=restore)


@breaks("DeadRelu", "AllZero")
def dead_relu(seed: int) -> Job:
    """A bias far below zero: no input ever makes the layer active."""
    blobs = Blobs(seed)
    net = Mlp(16, 4)
    with torch.no_grad():
        net.fc[1].bias.fill_(-100.0)
    return Job(net, blobs.batches(32))


@breaks("SaturatedActivation")
def saturated_tanh(seed: int) -> Job:
    """Weights so large that every tanh sits at its end."""
    blobs = Blobs(seed)
    net = Mlp(16, 4, activation=nn.Tanh)
    with torch.no_grad():
        net.fc[0].weight.mul_(10_000)
        net.fc[1].weight.mul_(10_000)
    return Job(net, blobs.batches(32))


@breaks("ExplodingTensor")
def nan_at_a_step(seed: int) -> Job:
    """A single NaN gets into the data in the middle of the training."""
    blobs = Blobs(seed)

    def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
        inputs, labels = blobs.sample(32)
        if step == 50:
            inputs[3, 5] = float("nan")
        return inputs, labels

    return Job(Mlp(16, 4), batch)


@breaks("ClassImbalance")
def rare_class(seed: int) -> Job:
    """One class in a hundred."""
    blobs = Blobs(seed, classes=3)
    return Job(Mlp(16, 3), blobs.batches(32, [50.0, 50.0, 1.0]))


@breaks("ClassImbalance", "Confusion")
def ignored_class(seed: int) -> Job:
    """The weights of the loss leave one class out, so it is never predicted."""
    blobs = Blobs(seed)
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 1.0, 0.0]))
    return Job(Mlp(16, 4), blobs.batches(32), loss=loss, steps=200, save_interval=1)


@breaks("Overfit", "Overtraining")
def fifty_samples(seed: int) -> Job:
    """A wide network learns fifty noisy samples by heart."""
    blobs = Blobs(seed, spread=2.5)
    known, unknown = blobs.sample(50), blobs.sample(400)
    return Job(
        Mlp(16, 4, width=128),
        fixed(known, 50),
        evaluate=lambda: unknown,
        lr=0.02,
        steps=400,
        save_interval=5,
        evaluate_every=5,
    )


@breaks("CheckInputImages")
def raw_pixels(seed: int) -> Job:
    """Images with values from 0 to 255."""
    return Job(Cnn(3, 2), images(seed, 32, scale=40.0, offset=127.0), lr=1e-4)


@breaks("NLPSequenceRatio")
def mostly_padding(seed: int) -> Job:
    """Sequences of which four fifths are padding."""
    return Job(TextClassifier(50, 2), texts(seed, 32, padding=0.8), lr=0.2)


@breaks("TensorVariance")
def collapsed_weights(seed: int) -> Job:
    """A layer whose weights are all nearly the same."""
    blobs = Blobs(seed)
    net = Mlp(16, 4)
    with torch.no_grad():
        net.fc[1].weight.fill_(1e-6)
        net.fc[1].bias.fill_(0)
        net.head.weight.fill_(1e-9)
    return Job(net, blobs.batches(32), lr=1e-6)
