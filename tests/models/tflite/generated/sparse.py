"""Sparse constants, dense by DENSIFY or as the weights of FULLY_CONNECTED itself.

Hazards: blocks; axes in another order; levels without entries; small vectors of indices; an empty row; sparse float16
that is dequantized too; kernels for sparse weights, which round otherwise than those for dense ones.
"""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.hybrids import _rows
from tests.models.tflite.generated.products import _bias, _output, _window
from tests.models.tflite.sparsity import sparse
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write

SIZES = {"DEPTHWISE_CONV_2D": 3}
"""The axis of the channels in the weights, if it is not 0."""


def _drawn_levels(rng, dense):
    """An array without some of its blocks, its stored elements and its levels."""
    rank, largest = dense.ndim, max(dense.shape)
    sizes = [1] * rank
    for axis in rng.permutation(rank)[: int(rng.integers(0, 3))]:
        divisors = [n for n in (2, 4, 8, 16) if dense.shape[axis] % n == 0]
        sizes[axis] = int(rng.choice(divisors)) if divisors else 1
    axes = [axis for axis in range(rank) if rng.random() < 0.5] or [rank - 1]
    dense = _without(rng, dense, sizes)
    dtype = str(rng.choice(["Int32", "Uint16", *(["Uint8"] if largest < 256 and dense.size < 256 else [])]))
    return dense, *sparse(dense, axes, sizes, rng.permutation(rank).tolist(), dtype)


def _without(rng, dense, sizes):
    """Return an array in which about half the blocks are 0."""
    kept = rng.random([n // size for n, size in zip(dense.shape, sizes, strict=True)]) < rng.choice([0.1, 0.5, 0.9])
    kept.flat[int(rng.integers(kept.size))] = True  # LiteRT takes a constant without elements for one that is missing
    for axis, size in enumerate(sizes):
        kept = np.repeat(kept, size, axis)
    dense = np.where(dense == 0, dense.dtype.type(1), dense)  # a block of zeros would not be stored
    return np.where(kept, dense, 0).astype(dense.dtype)


def _dense(rng, shape, dtype):
    if dtype == "int8":
        return draw.integers(rng, shape, "int8", -127)
    return rng.normal(size=shape).astype(dtype)


def _densified(rng, shape, dtype, scales=None, axis=0, zero_point=0):
    """A sparse constant, the dense one that DENSIFY gives (as float32, if float16), and the operators for that."""
    _, stored, sparsity = _drawn_levels(rng, _dense(rng, shape, dtype))
    zero_points = zero_point if np.ndim(scales) == 0 else [0] * len(scales)
    constant = Tensor(shape, dtype, scales, zero_points, axis, data=stored, sparsity=sparsity)
    dense = Tensor(shape, dtype, scales, zero_points, axis)
    operators = [Operator("DENSIFY", [constant], [dense])]
    if dtype == "float16":
        operators.append(Operator("DEQUANTIZE", [dense], [wide := Tensor(shape, "float32")], version=3))
        return wide, operators
    return dense, operators


def _sized(rng, name):
    """Shapes of the input, the weights and the result of an operator, and its options."""
    if name == "FULLY_CONNECTED":
        rows, depth, units = draw.size(rng, 33), draw.size(rng, 65), draw.size(rng)
        return (rows, depth), (units, depth), (rows, units), {"fused_activation_function": draw.activation(rng)}
    image, window, result, options = _window(rng)
    depth, channels = draw.size(rng, 20), draw.size(rng, 20)
    if name == "CONV_2D":
        return (1, *image, depth), (channels, *window, depth), (1, *result, channels), options
    strides = max(options["stride_h"], options["stride_w"])
    options |= {"stride_h": strides, "stride_w": strides, "depth_multiplier": 1}
    reach = [(w - 1) * options[f"dilation_{d}_factor"] + 1 for w, d in zip(window, "hw", strict=True)]
    cut = [0, 0] if options["padding"] == "SAME" else [size - 1 for size in reach]
    result = [-(-(i - c) // strides) for i, c in zip(image, cut, strict=True)]
    return (1, *image, depth), (1, *window, depth), (1, *result, depth), options


def floats(rng, *, name, dtype):
    given, shape, result, options = _sized(rng, name)
    weights, operators = _densified(rng, shape, dtype)
    x, y = Tensor(given, "float32"), Tensor(result, "float32")
    bias = Tensor((result[-1],), "float32", data=rng.normal(size=result[-1]).astype(np.float32))
    operators.append(Operator(name, [x, weights, bias], [y], options, version=3))
    return Case(write([Subgraph([x], [y], operators)]), ulp=0)


def integers(rng, *, name):
    given, shape, result, options = _sized(rng, name)
    axis = SIZES.get(name, 0)
    scales = [draw.around(rng, 2.0**-6) for _ in range(shape[axis])]
    weights, operators = _densified(rng, shape, "int8", scales, axis)
    x = draw.tensor(rng, given, "int8")
    y = _output(rng, result, x, weights, np.prod(shape) // shape[axis], "int8")
    operators.append(Operator(name, [x, weights, _bias(rng, x, weights, shape[axis])], [y], options, version=4))
    return Case(write([Subgraph([x], [y], operators)]))


def hybrid(rng, *, name):
    given, shape, result, options = _sized(rng, name)
    weights, operators = _densified(rng, shape, "int8", draw.around(rng, 2.0**-6))
    x, y = Tensor(given, "float32"), Tensor(result, "float32")
    bias = Tensor((result[-1],), "float32", data=rng.normal(size=result[-1]).astype(np.float32))
    operators.append(Operator(name, [x, weights, bias], [y], options, version=5))
    runs = [[_rows(rng, given, 1 if name == "FULLY_CONNECTED" else 3)] for _ in range(8)]
    return Case(write([Subgraph([x], [y], operators)]), runs, ulp=0)


def moved(rng, *, dtype):
    """A constant that DENSIFY gives, of any rank, beside an input of another operator."""
    shape = tuple(draw.size(rng, 9) for _ in range(int(rng.integers(1, 5))))
    scales = None if dtype == "float32" else draw.scale(rng)
    zero_point = 0 if dtype == "float32" else draw.zero_point(rng)
    constant, operators = _densified(rng, shape, dtype, scales, zero_point=zero_point)
    x, y = (Tensor((*shape[:-1], n), dtype, scales, zero_point) for n in (3, shape[-1] + 3))
    operators.append(Operator("CONCATENATION", [x, constant], [y], {"axis": -1}, version=2))
    return Case(write([Subgraph([x], [y], operators)]), ulp=0)


# -- FULLY_CONNECTED of sparse weights --------------------------------------------------------------------------------


def _weights(rng, dtype, block, scales=None):
    """Weights [units, depth] in rows of blocks of 1, 4 or 16 elements."""
    units, depth = draw.size(rng), block * int(rng.integers(1, 9))
    dense = _without(rng, _dense(rng, (units, depth), dtype), [1, block])
    stored, sparsity = sparse(dense, [1], [1, block])
    return Tensor((units, depth), dtype, scales, data=stored, sparsity=sparsity)


def fully_connected(rng, *, block):
    rows, weights = draw.size(rng, 33), _weights(rng, "float32", block)
    units, depth = weights.shape
    x, y = Tensor((rows, depth), "float32"), Tensor((rows, units), "float32")
    bias = Tensor((units,), "float32", data=rng.normal(size=units).astype(np.float32))
    inputs, options = [x, weights, bias], {"fused_activation_function": draw.activation(rng)}
    operator = Operator("FULLY_CONNECTED", inputs, [y], options, version=8)
    return Case(write([Subgraph([x], [y], [operator])]), ulp=0)


def fully_connected_of_integers(rng):
    rows, weights = draw.size(rng, 33), _weights(rng, "int8", 16, draw.around(rng, 2.0**-6))
    units, depth = weights.shape
    x = draw.tensor(rng, (rows, depth), "int8")
    y = _output(rng, (rows, units), x, weights, depth // 2, "int8")
    options = {"fused_activation_function": draw.activation(rng)}
    operator = Operator("FULLY_CONNECTED", [x, weights, _bias(rng, x, weights, units)], [y], options, version=8)
    return Case(write([Subgraph([x], [y], [operator])]))


_PRODUCTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")

CASES = {
    "DENSIFY f32": partial(moved, dtype="float32"),
    "DENSIFY i8": partial(moved, dtype="int8"),
    **{f"DENSIFY f32, weights of {name}": partial(floats, name=name, dtype="float32") for name in _PRODUCTS},
    **{f"DENSIFY f16, weights of {name}": partial(floats, name=name, dtype="float16") for name in _PRODUCTS},
    **{f"DENSIFY i8, weights of {name} i8": partial(integers, name=name) for name in _PRODUCTS},
    **{
        f"DENSIFY i8, weights of {name} f32": partial(hybrid, name=name)
        for name in _PRODUCTS
        if name != "DEPTHWISE_CONV_2D"
    },
    "FULLY_CONNECTED f32, sparse": partial(fully_connected, block=1),
    "FULLY_CONNECTED f32, sparse blocks of 4": partial(fully_connected, block=4),
    "FULLY_CONNECTED i8, sparse": fully_connected_of_integers,
}
ONLY = {
    f"DENSIFY i8, weights of {name}": ("litert-ref",)
    for name in ("CONV_2D f32", "FULLY_CONNECTED f32", "FULLY_CONNECTED i8")
}
"""LiteRT's default build rejects models in which DENSIFY computes int8 weights of these operators."""
