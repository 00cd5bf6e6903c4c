"""Tensors without elements, beside others that have some. Hazards: an empty part that moves the parts behind it; a sum
of no terms; padding of nothing; a kernel that divides by a number of elements."""

from dataclasses import replace
from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.movement import ints
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

_STEPS = ("RELU", "FULLY_CONNECTED", "ADD", "MAXIMUM", "TRANSPOSE", "TILE", "REVERSE_V2", "RESHAPE")


def _pair(rng, dtype, shape):
    return Tensor(tuple(shape), dtype) if dtype == "float32" else draw.tensor(rng, shape, dtype)


def _like(x, shape):
    return replace(x, shape=tuple(shape))


def joined(rng, *, dtype):
    """Parts of which some are empty, one of them for all inputs."""
    shape = list(draw.shape(rng, int(rng.integers(1, 5)), 1000))
    axis = int(rng.integers(len(shape)))
    first = _pair(rng, dtype, shape)
    sizes = [int(rng.choice([0, 0, 1, 2, 9])) for _ in range(int(rng.integers(1, 4)))]
    parts = [first, *(_like(first, [*shape[:axis], size, *shape[axis + 1 :]]) for size in sizes)]
    rng.shuffle(parts)
    total = shape[axis] + sum(sizes)
    y = _like(first, [*shape[:axis], total, *shape[axis + 1 :]])
    return Case(one_op("CONCATENATION", parts, [y], {"axis": axis}, version=2), ulp=0)


def padded(rng, *, dtype):
    """Padding of an empty tensor, joined to a tensor with elements."""
    shape = list(draw.shape(rng, int(rng.integers(1, 4)), 300))
    axis = int(rng.integers(len(shape)))
    x, empty = _pair(rng, dtype, shape), list(shape)
    empty[axis] = 0
    sides = np.zeros((len(shape), 2), int)
    sides[axis] = rng.integers(0, 4, 2)
    sides[axis, 0] += not sides[axis].any()
    grown = [size + int(side.sum()) for size, side in zip(empty, sides, strict=True)]
    nothing, new, y = (_like(x, size) for size in (empty, grown, shape))
    y = _like(x, [*shape[:axis], shape[axis] + grown[axis], *shape[axis + 1 :]])
    operators = [
        Operator("PAD", [nothing, ints(sides)], [new], version=2),
        Operator("CONCATENATION", [x, new], [y], {"axis": axis}, version=2),
    ]
    return Case(write([Subgraph([x, nothing], [y], operators)]), ulp=0)


def through(rng, *, dtype):
    """A slice without rows goes through an operator, and is then joined to the whole."""
    rows, depth = draw.size(rng, 33), draw.size(rng, 33)
    x, name = _pair(rng, dtype, (rows, depth)), str(rng.choice(_STEPS))
    part, step, last, y = (_like(x, (n, depth)) for n in (0, 0, 0, rows))
    inputs, options, operators = [part], {}, []
    if name == "FULLY_CONNECTED":
        scale = None if dtype == "float32" else 2.0**-6
        weights = Tensor((depth, depth), dtype, scale, data=draw.integers(rng, (depth, depth), "int8", -9, 9))
        inputs, options = [part, weights, None], {"keep_num_dims": False}
    elif name in ("ADD", "MAXIMUM"):
        inputs, options = [part, part], {} if name == "MAXIMUM" else {"pot_scale_int16": False}
    elif name == "TRANSPOSE":
        inputs, step = [part, ints([1, 0])], _like(x, (depth, 0))
        operators = [Operator("TRANSPOSE", [step, ints([1, 0])], [last])]
    elif name == "TILE":
        inputs = [part, ints([3, 1])]
    elif name == "REVERSE_V2":
        inputs = [part, ints([0])]
    elif name == "RESHAPE":
        inputs, step, options = [part, ints([depth, 0])], _like(x, (depth, 0)), {"new_shape": [depth, 0]}
        operators = [Operator("RESHAPE", [step, ints([0, depth])], [last], {"new_shape": [0, depth]})]
    begin = int(rng.integers(rows + 1))
    steps = [
        Operator("SLICE", [x, ints([begin, 0]), ints([0, depth])], [part], version=2),
        Operator(name, inputs, [step], options, version=2 if name in ("ADD", "TRANSPOSE", "RELU") else 1),
        *operators,
        Operator("CONCATENATION", [last if operators else step, x], [y], {"axis": 0}, version=2),
    ]
    return Case(write([Subgraph([x], [y], steps)]), ulp=0)


def summed(rng):
    """A sum of no terms, added to a tensor."""
    shape = draw.shape(rng, 3, 2000)
    axis = int(rng.integers(3))
    terms = [0 if d == axis else n for d, n in enumerate(shape)]
    x, empty = Tensor(shape, "float32"), Tensor(tuple(terms), "float32")
    sums, y = Tensor(tuple(1 if d == axis else n for d, n in enumerate(shape)), "float32"), Tensor(shape, "float32")
    operators = [
        Operator("SUM", [empty, ints([axis])], [sums], {"keep_dims": True}),
        Operator("ADD", [x, sums], [y], {"pot_scale_int16": False}),
    ]
    return Case(write([Subgraph([x, empty], [y], operators)]), ulp=0)


_TYPES = ("float32", "int8")

CASES = {
    **{f"CONCATENATION {dtype}, empty parts": partial(joined, dtype=dtype) for dtype in _TYPES},
    **{f"PAD {dtype}, of nothing": partial(padded, dtype=dtype) for dtype in _TYPES},
    **{f"Operators on no rows, {dtype}": partial(through, dtype=dtype) for dtype in _TYPES},
    "SUM float32, of no terms": summed,
}
