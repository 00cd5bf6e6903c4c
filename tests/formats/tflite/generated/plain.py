"""Integers, floats and bools that are not quantized: comparisons, choices, logic, whole division, casts. Hazards: a
division that rounds to zero instead of down, a NaN that compares, a cast that wraps, an operand that is broadcast."""

from functools import partial

import numpy as np

from tests.formats.tflite.generated import draw
from tests.formats.tflite.oracle import Case
from tests.formats.tflite.writing import Tensor, one_op

RUNS = 4


def values(rng, shape, dtype, divides=False):
    """Small values, many of which are equal; none is 0 where it divides."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    found = rng.integers(-40, 41, shape)
    if dtype == "float32":
        found = np.where(rng.random(shape) < 0.1, rng.choice([np.nan, np.inf, -0.0, 0.5], shape), found / 2)
        return np.where(found == 0, 1, found).astype(dtype) if divides else found.astype(dtype)
    return np.where(found == 0, 7, found).astype(dtype) if divides else found.astype(dtype)


def _shapes(rng):
    full = draw.shape(rng)
    other = [1 if rng.random() < 0.3 else extent for extent in full]
    return full, tuple(other if rng.random() < 0.5 else full)


def binary(rng, name, dtype, out=None, divides=False):
    full, other = _shapes(rng)
    a, b, y = Tensor(full, dtype), Tensor(other, dtype), Tensor(full, out or dtype)
    runs = [[values(rng, full, dtype), values(rng, other, dtype, divides)] for _ in range(RUNS)]
    return Case(one_op(name, [a, b], [y]), runs)


def select(rng, name, dtype):
    full, other = _shapes(rng) if name == "SELECT_V2" else (draw.shape(rng),) * 2
    asked, a, b, y = Tensor(other, "bool"), Tensor(full, dtype), Tensor(full, dtype), Tensor(full, dtype)
    runs = [[values(rng, other, "bool"), values(rng, full, dtype), values(rng, full, dtype)] for _ in range(RUNS)]
    return Case(one_op(name, [asked, a, b], [y]), runs)


def cast(rng, source, target):
    shape = draw.shape(rng)
    names = {"in_data_type": source.upper(), "out_data_type": target.upper()}
    runs = [[_castable(rng, shape, source, target)] for _ in range(RUNS)]
    return Case(one_op("CAST", [Tensor(shape, source)], [Tensor(shape, target)], names), runs)


def _castable(rng, shape, source, target):
    """Floats that the integer type holds: LiteRT leaves others to the CPU."""
    if source == "float32":
        low = 0 if target == "uint8" else -100
        return rng.uniform(low, 100, shape).astype(source)
    return values(rng, shape, source)


def negated(rng):
    shape = draw.shape(rng)
    runs = [[values(rng, shape, "bool")] for _ in range(RUNS)]
    return Case(one_op("LOGICAL_NOT", [Tensor(shape, "bool")], [Tensor(shape, "bool")]), runs)


COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
SHORT = {"int32": "i32", "int64": "i64", "float32": "f32", "int8": "i8 plain", "uint8": "u8 plain", "bool": "bool"}
CASTS = (("float32", "int32"), ("int32", "float32"), ("int64", "int32"), ("int32", "int64"), ("float32", "int8"))

CASES = {
    **{
        f"{name} {SHORT[dtype]}": partial(binary, name=name, dtype=dtype, out="bool")
        for name in COMPARISONS
        for dtype in ("int32", "int64", "float32")
    },
    **{f"{name} bool": partial(binary, name=name, dtype="bool") for name in ("LOGICAL_AND", "LOGICAL_OR")},
    "LOGICAL_NOT bool": negated,
    **{
        f"{name} {SHORT[dtype]}": partial(binary, name=name, dtype=dtype, divides=True)
        for name, dtype in (("FLOOR_DIV", "int32"), ("FLOOR_MOD", "int32"), ("FLOOR_MOD", "int64"))
    },
    **{
        f"{name} {SHORT[dtype]}": partial(binary, name=name, dtype=dtype)
        for name in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
        for dtype in ("int32", "int64")
    },
    **{
        f"{name} {SHORT[dtype]}": partial(select, name=name, dtype=dtype)
        for name in ("SELECT", "SELECT_V2")
        for dtype in ("int32", "float32")
    },
    **{f"CAST {SHORT[a]} to {SHORT[b]}": partial(cast, source=a, target=b) for a, b in CASTS},
}
