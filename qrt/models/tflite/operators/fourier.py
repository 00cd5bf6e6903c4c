"""Import of RFFT2D, COMPLEX_ABS, REAL and IMAG.

The program has no complex numbers: the value of a complex64 tensor is its real parts, and ``Graph.imaginary`` has its
imaginary parts. Like LiteRT, the import of RFFT2D adds in float64 and rounds the result once.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, Array, LoweringContext, tensor_type
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import require_floats
from qrt.models.tflite.operators.operands import input_shape
from qrt.numerics.transcendental.correctly_rounded import bind
from qrt.types import TensorType

_RADIX = 32
"""The most terms of a sum: longer transforms are computed in two steps."""


class _Complex(NamedTuple):
    """The real and imaginary parts of a tensor of complex numbers, in float64. Real numbers have no imaginary parts."""

    real: Value
    imaginary: Value | None

    def parts(self) -> list[Value]:
        return [self.real] if self.imaginary is None else [self.real, self.imaginary]


def rfft2d(node: Node) -> None:
    """Import RFFT2D: compute the Fourier transforms of float32 matrices, without the redundant half of the columns.

    The two sizes of the transform must be known at import. They must be powers of two, and the second at least 2.
    Matrices are cut or padded with zeros to these sizes.
    """
    require_floats(node, 0)
    if node.outputs[0].dtype != "complex64":
        node.refuse(f"a result of {node.outputs[0].dtype}")
    shape, sizes = input_shape(node), node.integers(1, "the sizes of a transform")
    if len(shape) < 2 or None in shape:
        node.refuse(f"float32 of shape {list(shape)}")
    if len(sizes) != 2 or any(size < 1 or size & (size - 1) for size in sizes):
        node.fail(f"fft_length must be two powers of two, got {list(sizes)}")
    height, width = sizes
    if width < 2:
        node.refuse("a transform of one column, which LiteRT computes wrongly")
    outer = prod(size or 0 for size in shape[:-2])
    context, x = lowering_context(node), _sized(node, node.value(0), outer, sizes)
    nest = LoopNest(context, "widen", [outer * height, width])
    widened = nest.finish(nest.value("arith.extf", (nest.read(x, nest.loops),), F64))[0]
    columns = width // 2 + 1
    numbers = _sliced(node, _transform(node, context, _Complex(widened, None), outer * height, width), columns)
    if height > 1:
        numbers = _turned(node, numbers, (outer, height, columns), (outer * columns, height))
        numbers = _transform(node, context, numbers, outer * columns, height)
        numbers = _turned(node, numbers, (outer, columns, height), (outer * height, columns))
    result = []
    for part in numbers.parts():
        nest = LoopNest(context, "round", [outer * height, columns])
        rounded = nest.finish(nest.value("arith.truncf", (nest.read(part, nest.loops),), F32))[0]
        result.append(_in_shape(node, rounded, (*shape[:-2], height, columns)))
    node.set(0, result[0])
    node.graph.imaginary[node.outputs[0].index] = result[1]


def _sized(node: Node, x: Value, outer: int, sizes: tuple[int, ...]) -> Value:
    """Return ``outer`` matrices, cut or padded with zeros to ``sizes``, as one matrix of all rows."""
    shape = [size or 0 for size in (tensor_type(x).shape or ())[-2:]]
    common = [min(pair) for pair in zip(shape, sizes, strict=True)]
    x = _in_shape(node, x, (outer, *shape))
    if common != shape:
        x = node.emit("qrt.slice", [x], {"offsets": [0, 0, 0], "sizes": [outer, *common], "strides": [1, 1, 1]})
    if tuple(common) != sizes:
        ends = [(0, size - own) for size, own in zip(sizes, common, strict=True)]
        x = node.emit("qrt.pad", [x], {"padding": ((0, 0), *ends)})
    return _in_shape(node, x, (outer * sizes[0], sizes[1]))


def _transform(node: Node, context: LoweringContext, x: _Complex, rows: int, size: int) -> _Complex:
    """Return the Fourier transforms of the rows of ``x`` [rows, size]."""
    if size <= _RADIX:
        return _product(context, x, rows, size, 1)
    # Element rest * i + j of the input and k + _RADIX * l of the result: sums over i, a rotation by j * k, sums over j.
    rest = size // _RADIX
    inner = _product(context, _shaped(node, x, (rows, _RADIX, rest)), rows, _RADIX, rest)
    turned = _turned(node, _rotated(context, inner, rows, rest), (rows, rest, _RADIX), (rows * _RADIX, rest))
    outer = _transform(node, context, turned, rows * _RADIX, rest)
    return _turned(node, outer, (rows, _RADIX, rest), (rows, size))


def _circle(turns: Array, size: int) -> tuple[Array, Array]:
    """Return the real and imaginary parts of exp(-2 pi i turns / size), exact at multiples of a quarter turn."""
    turns = turns % size
    angles = np.arange(size) * (2 * np.pi / size)
    cosines, sines = (bind(name, "f64")(angles)[turns] for name in ("cos", "sin"))  # NumPy's depend on the CPU
    real, imaginary = cosines, -sines
    real[4 * turns % (2 * size) == size] = 0
    imaginary[2 * turns % size == 0] = 0
    return real, imaginary


def _product(context: LoweringContext, x: _Complex, rows: int, size: int, last: int) -> _Complex:
    """Return the Fourier transforms of ``x`` [rows, size, last] along axis 1, as [rows, last, size].

    A matrix ``x`` [rows, size] gives a result [rows, size]. The terms of each real or imaginary part are added in the
    order of the axis. A term of complex numbers has two products, which are added one after the other.
    """
    real, imaginary = (context.dense(table, F64) for table in _circle(np.outer(*[np.arange(size)] * 2), size))
    minus = context.dense(-_circle(np.outer(*[np.arange(size)] * 2), size)[1], F64)
    is_flat = len(tensor_type(x.real).shape or ()) == 2
    results = []
    for factors in ((real, minus), (imaginary, real)):
        nest = LoopNest(context, "accumulate", [rows, size] if is_flat else [rows, last, size], [size])
        *outer, k, i = nest.loops
        places = [outer[0], i, *outer[1:]]
        total = nest.running(F64, 0.0)
        for part, table in zip(x.parts(), factors, strict=False):
            term = nest.value("arith.mulf", (nest.read(part, places), nest.read(table, [i, k])), F64)
            total = nest.value("arith.addf", (total, term), F64)
        results.append(nest.finish(total)[0])
    return _Complex(*results)


def _rotated(context: LoweringContext, x: _Complex, rows: int, rest: int) -> _Complex:
    """Multiply each number [row, j, k] of a tensor [rows, rest, _RADIX] by exp(-2 pi i j k / (rest * _RADIX))."""
    tables = _circle(np.outer(np.arange(rest), np.arange(_RADIX)), rest * _RADIX)
    nest = LoopNest(context, "rotate", [rows, rest, _RADIX])
    a, b = (nest.read(part, nest.loops) for part in x.parts())
    c, d = (nest.read(context.dense(table, F64), nest.loops[1:]) for table in tables)
    products = [nest.value("arith.mulf", pair, F64) for pair in ((a, c), (b, d), (a, d), (b, c))]
    real, imaginary = (
        nest.value(op, pair, F64) for op, pair in (("arith.subf", products[:2]), ("arith.addf", products[2:]))
    )
    return _Complex(*nest.finish(real, imaginary))


def _turned(node: Node, x: _Complex, shape: tuple[int, int, int], result: tuple[int, int]) -> _Complex:
    """Reshape numbers to the three axes of ``shape``, swap the last two axes, and reshape to ``result``."""
    parts = [
        node.emit("qrt.transpose", [_in_shape(node, part, shape)], {"permutation": [0, 2, 1]}) for part in x.parts()
    ]
    return _Complex(*(_in_shape(node, part, result) for part in parts))


def _shaped(node: Node, x: _Complex, shape: tuple[int, ...]) -> _Complex:
    parts = [_in_shape(node, part, shape) for part in x.parts()]
    return _Complex(parts[0], parts[1] if len(parts) > 1 else None)


def _sliced(node: Node, x: _Complex, columns: int) -> _Complex:
    sizes = {"offsets": [0, 0], "sizes": [-1, columns], "strides": [1, 1]}
    return _Complex(*(node.emit("qrt.slice", [part], sizes) for part in x.parts()))


def _in_shape(node: Node, value: Value, shape: tuple[int | None, ...]) -> Value:
    own = tensor_type(value)
    return value if own.shape == shape else node.emit("qrt.reshape", [value], None, TensorType(shape, own.element))


def complex_abs(node: Node) -> None:
    """Import COMPLEX_ABS: compute the magnitudes of complex64 numbers, in float64, rounded once."""
    context, parts = lowering_context(node), _parts(node)
    nest = LoopNest(context, "magnitude", context.extents(parts[0]))
    squares = []
    for part in parts:
        number = nest.value("arith.extf", (nest.read(part, nest.loops),), F64)
        squares.append(nest.value("arith.mulf", (number, number), F64))
    root = nest.value("math.sqrt", (nest.value("arith.addf", squares, F64),), F64)
    node.set(0, nest.finish(nest.value("arith.truncf", (root,), F32))[0])


def real(node: Node) -> None:
    """Import REAL: take the real parts of complex64 numbers."""
    node.set(0, _parts(node)[0])


def imaginary(node: Node) -> None:
    """Import IMAG: take the imaginary parts of complex64 numbers."""
    node.set(0, _parts(node)[1])


def _parts(node: Node) -> tuple[Value, Value]:
    if node.input(0).dtype != "complex64":
        node.refuse(node.input(0).dtype)
    return node.value(0), node.graph.imaginary[node.input(0).index]
