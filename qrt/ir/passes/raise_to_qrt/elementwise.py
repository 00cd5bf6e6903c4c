"""Kernels that requantize elements, or products of two elements: `qrt.requantize` and `qrt.mul`."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Operation, Value
from qrt.ir.dialects.linalg.lowering import Array, tensor_type
from qrt.ir.passes.raise_to_qrt.building import build, integers, quantized, require_visible, storage_of
from qrt.ir.passes.raise_to_qrt.requantized import Requantized
from qrt.ir.passes.raise_to_qrt.terms import ONE, NotRaisedError, Read, signed
from qrt.types import TensorType, UniformType


def is_elementwise(r: Requantized) -> bool:
    """Return True if the requantized value is computed from single elements only, without sums over loops."""
    return all(isinstance(variable, Read) for m in (*r.inner.terms, *r.sums.terms) for variable, _ in m)


def build_elementwise(root: Operation, result: TensorType, r: Requantized) -> Value:
    """Build the kernel of a requantized element or product before `root`, and return its result as integers.

    Raises NotRaisedError, with the condition that does not hold, if no kernel computes the value.
    """
    if r.inner.terms and r.sums.terms:
        raise NotRaisedError("a constant is added after the extension of a value that may overflow")
    terms = dict(r.inner.terms or r.sums.terms)
    constant = np.asarray(signed(terms.pop(ONE, np.asarray(0, object)), r.inner_width), object)
    reads = {variable for monomial in terms for variable, _ in monomial if isinstance(variable, Read)}
    if len(terms) == len(reads) == 1:
        return _requantize(root, result, r, terms.popitem()[1], reads.pop(), constant)
    if len(reads) == 2:
        first, second = sorted(reads, key=lambda read: (str(read.indices), read.source.index, id(read.source)))
        return _multiply(root, result, r, (first, second), constant)
    raise NotRaisedError("it is neither an element nor a product of two elements that is requantized")


def _requantize(
    root: Operation, result: TensorType, r: Requantized, factor: Array, read: Read, constant: Array
) -> Value:
    if np.any(factor != 1) or not _is_whole(read, result, allow_broadcast=False):
        raise NotRaisedError("the element that is requantized is not that of the result's place")
    r.require_bounds(*[max(map(abs, read.range)) + int(np.max(np.abs(constant)))] * 2)
    scales, points = np.broadcast_arrays(
        np.reshape(np.array(r.scales()), np.broadcast(r.multiplier, r.places).shape), -constant
    )
    axes = [axis for axis, size in enumerate(scales.shape) if size != 1]
    if len(axes) > 1:
        raise NotRaisedError("the multipliers or zero points differ along several dimensions")
    b = Builder(root)
    try:
        if axes:
            t = UniformType(storage_of(read), "f32", scales.ravel().tolist(), integers(points), axis=axes[0])
        else:
            t = UniformType(storage_of(read), "f32", float(scales.flat[0]), int(points.flat[0]))
    except QuantTypeError as error:
        raise NotRaisedError(f"a quantized type would be wrong: {error}") from None
    require_visible([read.source], root)
    return build(b, "requantize", [quantized(b, read.source, t)], {}, result, r)


def _multiply(root: Operation, result: TensorType, r: Requantized, reads: Sequence[Read], constant: Array) -> Value:
    """Build a `qrt.mul` for the polynomial `(x - zx) * (y - zy)`, in which x has the factor -zy, and y has -zx."""
    terms = r.inner.terms or r.sums.terms
    product = frozenset((read, 1) for read in reads)
    names = {product, *(frozenset(((read, 1),)) for read in reads), ONE}
    if not terms.keys() <= names or np.any(terms.get(product, np.asarray(0, object)) != 1):
        raise NotRaisedError("it is not a product of two elements without a factor")
    zero = np.asarray(0, object)
    factors = [signed(terms.get(frozenset(((read, 1),)), zero), r.inner_width) for read in reads]
    y_point, x_point = (-value for value in map(_only, factors))
    scales = set(r.scales())
    if len(scales) > 1:
        raise NotRaisedError("the multipliers of a product of elements differ")
    if np.any((constant - x_point * y_point) % (1 << r.inner_width)):
        raise NotRaisedError("the constant of a product of elements is not the product of the zero points")
    if not all(_is_whole(read, result, allow_broadcast=True) for read in reads):
        raise NotRaisedError("the elements that are multiplied are not those of the result's place")
    points = x_point, y_point
    bound = 1
    for read, point in zip(reads, points, strict=True):
        bound *= max(abs(end - point) for end in read.range)
    r.require_bounds(bound, bound)
    require_visible([read.source for read in reads], root)
    b = Builder(root)
    try:
        operands = [
            quantized(b, read.source, UniformType(storage_of(read), "f32", scale, point))
            for read, scale, point in zip(reads, (1.0, scales.pop()), points, strict=True)
        ]
    except QuantTypeError as error:
        raise NotRaisedError(f"a quantized type would be wrong: {error}") from None
    return build(b, "mul", operands, {}, result, r)


def _only(values: Array) -> int:
    """Return the number that all entries of an array equal; raise NotRaisedError if the entries differ."""
    numbers = set(integers(np.asarray(values, object)))
    if len(numbers) > 1:
        raise NotRaisedError("the zero points of a factor differ")
    return numbers.pop()


def _is_whole(read: Read, result: TensorType, allow_broadcast: bool) -> bool:
    """Return True if an element is read at the indices of the result's element, from a tensor of the result's shape.

    With `allow_broadcast`, the tensor may also broadcast to the result's shape by NumPy's rules.
    """
    shape, sizes = tensor_type(read.source).shape or (), result.shape or ()
    first = len(sizes) - len(shape)
    return all(
        (index == ("d", first + axis) and size == sizes[first + axis]) or (allow_broadcast and index == 0 and size == 1)
        for axis, (index, size) in enumerate(zip(read.indices, shape, strict=True))
    )
