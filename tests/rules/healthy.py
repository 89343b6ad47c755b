"""Trainings that go well: twins of those that do not, and some that look odd."""

from __future__ import annotations

from typing import Callable

import torch
from rules.data import Blobs, fixed, images, regression, texts
from rules.networks import Cnn, Mlp, TextClassifier, zero
from rules.training import Job
from torch import nn

MakeJob = Callable[[int], Job]
HEALTHY: dict[str, MakeJob] = {}


def healthy(make: MakeJob) -> MakeJob:
    """Marks a training as one at which no rule has anything to find."""
    HEALTHY[make.__name__] = make
    return make


@healthy
def plain(seed: int) -> Job:
    """Nothing special."""
    blobs = Blobs(seed)
    held_out = blobs.sample(400)
    return Job(Mlp(16, 4), blobs.batches(32), evaluate=lambda: held_out)


@healthy
def deep_relu(seed: int) -> Job:
    """Deep, with an initialisation made for it."""
    blobs = Blobs(seed)
    net = Mlp(16, 4, depth=6)
    for layer in net.fc:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    return Job(net, blobs.batches(32), lr=0.02)


@healthy
def tanh_network(seed: int) -> Job:
    """Tanh, in the range where it works."""
    blobs = Blobs(seed)
    return Job(Mlp(16, 4, activation=nn.Tanh), blobs.batches(32))


@healthy
def normalised_images(seed: int) -> Job:
    """Images around zero."""
    return Job(Cnn(3, 2), images(seed, 32), lr=0.05)


@healthy
def full_sequences(seed: int) -> Job:
    """Sequences with little padding."""
    return Job(TextClassifier(50, 2), texts(seed, 32, padding=0.2), lr=0.2)


@healthy
def plenty_of_data(seed: int) -> Job:
    """The task of the fifty samples, with as many as it needs."""
    blobs = Blobs(seed, spread=2.5)
    unknown = blobs.sample(1000)
    return Job(Mlp(16, 4), blobs.batches(64), evaluate=lambda: unknown, lr=0.02, steps=200)


@healthy
def small_noisy_batches(seed: int) -> Job:
    """Four samples a step of a task that stays uncertain: the loss jumps and falls."""
    blobs = Blobs(seed, spread=1.5)
    held_out = blobs.sample(400)
    return Job(Mlp(16, 4), blobs.batches(4), evaluate=lambda: held_out, lr=0.01, steps=300)


@healthy
def near_perfect(seed: int) -> Job:
    """So easy that the loss is soon near zero, in training and in evaluation."""
    blobs = Blobs(seed, spread=0.05)
    held_out = blobs.sample(200)
    return Job(Mlp(16, 4), blobs.batches(32), evaluate=lambda: held_out, lr=0.2, steps=300)


@healthy
def frozen_backbone(seed: int) -> Job:
    """Only the head learns, as in fine-tuning."""
    blobs = Blobs(seed)
    net = Mlp(16, 4, width=64)
    net.fc.requires_grad_(False)
    held_out = blobs.sample(400)
    return Job(net, blobs.batches(32), evaluate=lambda: held_out)


@healthy
def zero_head(seed: int) -> Job:
    """The last layer starts at zero, as is often done on purpose."""
    blobs = Blobs(seed)
    net = Mlp(16, 4)
    zero(net.head)
    return Job(net, blobs.batches(32))


@healthy
def batch_of_one(seed: int) -> Job:
    """One sample a step."""
    blobs = Blobs(seed)
    return Job(Mlp(16, 4), blobs.batches(1), lr=0.01, steps=400)


@healthy
def converged(seed: int) -> Job:
    """Long after there was anything left to learn, without harm."""
    train = regression(seed, 64, noise=0.3)
    held_out = regression(seed, 400, noise=0.3)(0)
    return Job(
        nn.Sequential(nn.Linear(16, 1)),
        train,
        evaluate=lambda: held_out,
        loss=nn.MSELoss(),
        lr=0.02,
        steps=400,
        save_interval=5,
    )


@healthy
def uneven_classes(seed: int) -> Job:
    """Classes that are not equally frequent, though none is rare."""
    blobs = Blobs(seed, classes=3)
    return Job(Mlp(16, 3), blobs.batches(32, [3.0, 2.0, 1.0]))


@healthy
def small_epochs(seed: int) -> Job:
    """A few hundred samples, again and again, of a task that they suffice for."""
    blobs = Blobs(seed, spread=0.8)
    known, unknown = blobs.sample(400), blobs.sample(400)
    net = Mlp(16, 4, width=16)
    job = Job(net, fixed(known, 40), evaluate=lambda: unknown, lr=0.01, steps=200)
    assert all(torch.isfinite(parameter).all() for parameter in net.parameters())
    return job
