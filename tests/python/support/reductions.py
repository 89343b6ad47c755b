"""Reductions by definition, in double precision, and how close is close enough."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from support.scenario import Array

RTOL = 1e-12


class Reduced(NamedTuple):
    """A value, and the magnitude that rounding errors are relative to."""

    value: float
    scale: float

    def matches(self, other: float) -> bool:
        if math.isnan(self.value) or math.isnan(other):
            return math.isnan(self.value) and math.isnan(other)
        if math.isinf(self.value) or math.isinf(other):
            return self.value == other
        # The smallest subnormal is one unit of rounding wherever results vanish.
        return abs(self.value - other) <= RTOL * self.scale + 2 * math.ulp(0.0)


def reduce(value: Array, reduction: str) -> Reduced:
    """`reduction` ("mean", "abs_l2", ...) of all elements; std and variance are
    those of the population, complex elements count by their magnitude."""
    is_complex = np.iscomplexobj(value)
    x = np.abs(value.astype(np.complex128)) if is_complex else value.astype(np.float64)
    x = x.ravel()
    op = reduction
    if reduction.startswith("abs_"):
        op = reduction[len("abs_") :]
        x = np.abs(x)
    with np.errstate(all="ignore"):
        reduced = _empty(op) if x.size == 0 else _reduce(x, op)
    # A magnitude is rounded; the smallest and the largest of others are exact.
    return reduced._replace(scale=max(reduced.scale, abs(reduced.value))) if is_complex else reduced


def _empty(op: str) -> Reduced:
    return Reduced({"sum": 0.0, "prod": 1.0, "l1": 0.0, "l2": 0.0}.get(op, math.nan), 0.0)


def _reduce(x: Array, op: str) -> Reduced:
    if op == "prod":
        return _product(x)
    mean_square = float(np.mean(x * x))
    mean_abs = float(np.mean(np.abs(x)))
    if op == "min":
        return Reduced(float(np.min(x)), 0.0)
    if op == "max":
        return Reduced(float(np.max(x)), 0.0)
    if op == "median":
        return Reduced(float(np.median(x)), mean_abs)
    if op == "mean":
        return Reduced(float(np.mean(x)), mean_abs)
    if op == "sum":
        return Reduced(float(np.sum(x)), mean_abs * x.size)
    if op == "std":
        return Reduced(float(np.std(x)), math.sqrt(mean_square))
    if op == "variance":
        return Reduced(float(np.var(x)), mean_square)
    if op == "l1":
        return Reduced(float(np.sum(np.abs(x))), mean_abs * x.size)
    if op == "l2":
        value = math.sqrt(float(np.sum(x * x)))
        return Reduced(value, value)
    raise ValueError(op)


def _product(x: Array) -> Reduced:
    """The product with mantissa and exponent apart, so that only the result can
    overflow or underflow."""
    if not np.all(np.isfinite(x)):
        value = math.nan if np.isnan(x).any() or (x == 0).any() else math.inf
        return Reduced(value * (-1) ** int(np.sum(np.signbit(x))), 0.0)
    mantissa, exponent = 1.0, 0
    for element in x:
        mantissa, more = math.frexp(mantissa * math.frexp(element)[0])
        exponent += more + math.frexp(element)[1]
    try:
        value = math.ldexp(mantissa, exponent)
    except OverflowError:
        value = math.copysign(math.inf, mantissa)
    return Reduced(value, abs(value))
