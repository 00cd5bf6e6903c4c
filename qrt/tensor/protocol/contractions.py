"""Exact products of tensors: each is an ``einsum``, and each ``einsum`` is a few batched ``matmul``.

Integers are multiplied; what they are worth is known by label. So channels may lie along any axis that is kept. What is
to be done is found once for operands of given types and shapes: a ``_Term`` holds what computes its integers.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from qrt.eager.calls import kernel_operand
from qrt.eager.storage import is_packed
from qrt.errors import QuantTypeError, QuantValueError
from qrt.ops.core import Array, Shape, storage_dtype
from qrt.ops.requant import max_magnitude
from qrt.tensor.functions import mul as qrt_mul
from qrt.tensor.products import matmul as qrt_matmul
from qrt.tensor.protocol.elements import storage_of
from qrt.tensor.protocol.exact import GIVE_VALUES, I32_END, I64_END, Units, add_up, centre_of, dtype_for, planned
from qrt.tensor.protocol.subscripts import Labels
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import FloatType, UniformType

Operands = Sequence[QuantTensor]
Compute = Callable[[Operands], Array]
_Matrices = tuple[Compute, Shape]
"""(what computes the integers, in the order of a shape, the shape)."""
_Multiply = Callable[[_Matrices, _Matrices], Compute]
LabelsOf = Callable[..., tuple[Sequence[Labels], Labels]]
"""(labels of the axes of each operand, those of the result), of a name, the shapes of the operands, and options."""


_MANY = 64
"""So many elements of two lists of vectors are sooner multiplied one by one, and then summed."""


def contracted(
    name: str, operands: Operands, labels_of: LabelsOf, *options: Hashable, dtype: Any = None, out: Any = None
) -> Any:
    """The product of the operands, summed over the labels that the result has not. Axes of size 1 broadcast in
    ``einsum``, and where the label begins with b."""
    signature = tuple([(q.type, q._shape) for q in operands])
    plan = _plan_of(name, signature, labels_of, options)
    return planned(name, tuple(operands), plan.compute, plan.bound, plan.units, dtype, out)


@dataclass(frozen=True)
class _Plan:
    """How tensors of given types and shapes are multiplied."""

    compute: Compute
    bound: int
    units: Units


@lru_cache(maxsize=256)
def _plan_of(
    name: str, signature: tuple[tuple[UniformType, Shape], ...], labels_of: LabelsOf, options: tuple[Hashable, ...]
) -> _Plan:
    shapes = [shape for _, shape in signature]
    inputs, output = labels_of(name, shapes, *options)
    sizes = _sizes(name, shapes, inputs)
    terms = [
        _without_ones(_term(name, i, t, shape, labels), sizes)
        for i, ((t, shape), labels) in enumerate(zip(signature, inputs, strict=True))
    ]
    result = terms[0]
    for i, term in enumerate(terms[1:], 2):
        later = {label for other in terms[i:] for label in other.labels}
        result = _product(name, result, term, frozenset(later.union(output)))
    result = _summed(name, result, tuple(label for label in result.labels if label not in output))
    bound, compute = result.magnitude, result.grouped(*((label,) for label in output))
    axis = None if result.channel is None else output.index(result.channel)
    units = Units(result.expressed, result.factors, () if axis is None else (len(result.factors),), axis)
    return _Plan(_less_zero(compute, result.zero), bound, units)


@dataclass(frozen=True)
class _Term:
    """Integers with a label for each axis; their value is the integer less ``zero``."""

    compute: Compute
    shape: Shape
    dtype: np.dtype[Any]
    labels: Labels
    zero: int
    bounds: tuple[int, int]
    expressed: FloatType
    factors: tuple[tuple[float, ...], ...]
    channel: Hashable
    """The label of the axis along which ``factors`` differ, None where there is one."""
    operand: int | None = None
    """Whose memory the integers are, if they are the memory of an operand as it is."""

    @property
    def magnitude(self) -> int:
        return max(self.bounds[1] - self.zero, self.zero - self.bounds[0])

    def size(self, label: Hashable) -> int:
        return self.shape[self.labels.index(label)]

    def grouped(self, *groups: Labels) -> Compute:
        """What computes the integers, with the axes of each group merged to one."""
        order = [self.labels.index(label) for group in groups for label in group]
        shape, i = tuple([self.count(group) for group in groups]), self.operand
        if i is not None and order == sorted(order):
            if shape == self.shape:
                return self.compute
            return lambda operands: operands[i]._data.reshape(shape)
        return _reshaped(_moved(self.compute, order), [self.shape[d] for d in order], shape)

    def matrices(self, *groups: Labels) -> "_Matrices":
        """As ``grouped``, with its shape. Where the operand's memory has the elements in order, it is that memory."""
        order = [self.labels.index(label) for group in groups for label in group]
        shape, i = tuple([self.count(group) for group in groups]), self.operand
        if i is not None and order == sorted(order) and len(shape) != len(self.shape):
            return lambda operands: operands[i]._data, shape
        return self.grouped(*groups), shape

    def count(self, labels: Iterable[Hashable]) -> int:
        return prod(self.size(label) for label in labels)


def _moved(compute: Compute, order: list[int]) -> Compute:
    return compute if order == sorted(order) else lambda operands: compute(operands).transpose(order)


def _reshaped(compute: Compute, old: Sequence[int], new: Sequence[int]) -> Compute:
    return compute if list(old) == list(new) else lambda operands: compute(operands).reshape(new)


def _less_zero(compute: Compute, zero: int) -> Compute:
    if not zero:
        return compute
    return lambda operands: np.subtract(compute(operands), zero, dtype=np.int64)


def _term(name: str, i: int, t: UniformType, shape: Shape, labels: Labels) -> _Term:
    """The operand number ``i``."""
    if t.is_sub_channel:
        raise QuantTypeError(f"{name}: {_short(t)} is sub-channel: requantize first, by qrt.requantize(q, t)")
    zero, bounds, dtype = t.zero_points[0], (t.storage_min, t.storage_max), storage_dtype(t)
    are_centred = len(set(t.zero_points)) > 1
    limit = max_magnitude(t)
    if are_centred:
        zero, bounds, dtype = 0, (-limit, limit), np.dtype(dtype_for(limit))
    centre = centre_of(t, shape, limit) if are_centred else storage_of(t)
    compute: Compute = lambda operands: centre(operands[i])  # noqa: E731 - one expression

    channel = None if t.axis is None or len(t.scales) == 1 else labels[t.axis]
    factors = tuple((s,) for s in t.scales)
    operand = None if is_packed(t) or are_centred else i
    return _on_diagonals(
        _Term(compute, shape, dtype, labels, zero, bounds, t.expressed_type, factors, channel, operand)
    )


def _short(t: UniformType) -> str:
    return str(t) if len(t.scales) < 9 else "the type"


def _on_diagonals(term: _Term) -> _Term:
    """Each label once: the diagonal of the axes that share one."""
    once = tuple(dict.fromkeys(term.labels))
    if once == term.labels:
        return term
    numbers, kept, compute = [once.index(label) for label in term.labels], list(range(len(once))), term.compute
    shape = tuple(term.size(label) for label in once)
    diagonal: Compute = lambda operands: np.einsum(compute(operands), numbers, kept)  # noqa: E731 - one expression
    return replace(term, compute=diagonal, shape=shape, labels=once, operand=None)


def _without_ones(term: _Term, sizes: dict[Hashable, int]) -> _Term:
    """Without the axes of size 1 that broadcast to those of other terms."""
    kept = [d for d, label in enumerate(term.labels) if term.shape[d] != 1 or sizes[label] == 1]
    shape = tuple(term.shape[d] for d in kept)
    compute = _reshaped(term.compute, term.shape, shape)
    return replace(term, compute=compute, shape=shape, labels=tuple(term.labels[d] for d in kept))


def _summed(name: str, term: _Term, labels: Labels) -> _Term:
    """The sum over the axes of some labels."""
    if not labels:
        return term
    _check_channel(name, term, labels)
    axes = tuple(term.labels.index(label) for label in labels)
    kept = [d for d in range(len(term.shape)) if d not in axes]
    bound, centre = max(term.count(labels), 1) * term.magnitude, _less_zero(term.compute, term.zero)
    return replace(
        term,
        compute=lambda operands: np.asarray(add_up(centre(operands), axes, np.int64)),
        shape=tuple(term.shape[d] for d in kept),
        dtype=np.dtype(np.int64),
        labels=tuple(term.labels[d] for d in kept),
        zero=0,
        bounds=(-bound, bound),
        operand=None,
    )


def _check_channel(name: str, term: _Term, labels: Iterable[Hashable]) -> None:
    if term.channel is not None and term.channel in labels:
        raise QuantTypeError(
            f"{name}: an axis along which the scales differ is summed over, and they have no common sum: "
            "requantize first, by qrt.requantize(q, t) with a type t per layer"
        )


# --------------------------------------------------------------------------------------------------- two terms to one


def _product(name: str, a: _Term, b: _Term, kept: frozenset[Hashable]) -> _Term:
    """The product of two terms, summed over the labels that are not kept."""
    a = _summed(name, a, tuple(x for x in a.labels if x not in kept and x not in b.labels))
    b = _summed(name, b, tuple(x for x in b.labels if x not in kept and x not in a.labels))
    shared = [x for x in a.labels if x in b.labels]
    depth = tuple(x for x in shared if x not in kept)
    for term in (a, b):
        _check_channel(name, term, depth)
    batch = tuple(x for x in shared if x in kept)
    rows = tuple(x for x in a.labels if x not in shared)
    columns = tuple(x for x in b.labels if x not in shared)
    bound = max(a.count(depth), 1) * a.magnitude * b.magnitude
    # One product is faster than a batch of one.
    batches, one = ((batch,), ()) if a.count(batch) != 1 else ((), batch)
    multiply, dtype = _multiplication(name, a, b, bound)
    are_lines = a.count(rows) == b.count(columns) == 1 and None not in (a.operand, b.operand)
    if bound < I32_END and are_lines and a.count(batch) * a.count(depth) >= _MANY:
        multiply = _elementwise(a, b)
    sides = a.matrices(*batches, one + rows, depth), b.matrices(*batches, one + depth, columns)
    shape = tuple([a.size(x) for x in (*batch, *rows)] + [b.size(x) for x in columns])
    made = (*([a.count(batch)] if batches else []), a.count(one + rows), b.count(columns))
    compute = _reshaped(multiply(*sides), made, shape)
    factors, channel = _joined(name, a, b)
    labels = (*batch, *rows, *columns)
    return _Term(compute, shape, dtype, labels, 0, (-bound, bound), a.expressed, factors, channel)


def _multiplication(name: str, a: _Term, b: _Term, bound: int) -> tuple[_Multiply, np.dtype[Any]]:
    """(what multiplies batches of matrices, the dtype of the product)."""
    if bound >= I64_END:
        raise QuantTypeError(f"{name}: the result may reach {bound}, which 64 bits do not hold: {GIVE_VALUES}")
    if bound >= I32_END:

        def wide(left: _Matrices, right: _Matrices) -> Compute:
            (x, shape), (y, other) = left, right

            def multiply(operands: Operands) -> Array:
                first = np.subtract(x(operands).reshape(shape), a.zero, dtype=np.int64)
                return np.asarray(np.matmul(first, np.subtract(y(operands).reshape(other), b.zero, dtype=np.int64)))

            return multiply

        return wide, np.dtype(np.int64)
    first, second = _kernel_type(a), _kernel_type(b)
    kinds = storage_dtype(first), storage_dtype(second)

    def by_kernel(left: _Matrices, right: _Matrices) -> Compute:
        (x, shape), (y, other) = left, right

        def multiply(operands: Operands) -> Array:
            one = kernel_operand(x(operands), kinds[0], first, shape)
            result: Array = qrt_matmul(one, kernel_operand(y(operands), kinds[1], second, other))._data
            return result

        return multiply

    return by_kernel, np.dtype(np.int32)


def _elementwise(a: _Term, b: _Term) -> _Multiply:
    """What multiplies a row by a column, or a batch of them: sums of products of elements, which as matrices of one
    row and one column would be slower."""
    first, second = _kernel_type(a), _kernel_type(b)

    def by_element(left: _Matrices, right: _Matrices) -> Compute:
        (x, shape), (y, other) = left, right
        made = (*shape[:-1], other[-1])

        def multiply(operands: Operands) -> Array:
            one = kernel_operand(x(operands), a.dtype, first, shape)
            products: Array = qrt_mul(one, kernel_operand(y(operands).reshape(shape), b.dtype, second, shape))._data
            return add_up(products, -1, np.int32).reshape(made)  # type: ignore[no-any-return]

        return multiply

    return by_element


def _kernel_type(term: _Term) -> UniformType:
    """The type of the integers for the kernels, of a scale that nobody reads."""
    dtype = term.dtype
    if dtype == np.int64:
        dtype = np.dtype(np.int32 if term.magnitude >= 1 << 15 else np.int16)
    low, high = term.bounds
    return UniformType(dtype, "f32", 1.0, term.zero, storage_min=low, storage_max=high)


def _joined(name: str, a: _Term, b: _Term) -> tuple[tuple[tuple[float, ...], ...], Hashable]:
    """What an integer of the product is worth, and the label along which that differs."""
    if a.expressed != b.expressed:
        raise QuantTypeError(f"{name}: the operands express {a.expressed} and {b.expressed}")
    if a.channel is not None and b.channel is not None:
        if a.channel != b.channel:
            raise QuantTypeError(
                f"{name}: both operands have channels, along different axes of the result: requantize one of them, "
                "by qrt.requantize(q, t) with a type t per layer"
            )
        return tuple(s + t for s, t in zip(a.factors, b.factors, strict=True)), a.channel
    return tuple(s + t for s in a.factors for t in b.factors), b.channel if a.channel is None else a.channel


def _sizes(name: str, shapes: Sequence[Shape], inputs: Sequence[Labels]) -> dict[Hashable, int]:
    """The size of each label; 1 gives way to any other."""
    sizes: dict[Hashable, int] = {}
    for shape, labels in zip(shapes, inputs, strict=True):
        repeated = [label for label, times in Counter(labels).items() if times > 1]
        if any(len({n for x, n in zip(labels, shape, strict=True) if x == label}) > 1 for label in repeated):
            raise QuantValueError(f"{name}: the axes of a diagonal have different sizes in shape {shape}")
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            broadcasts = name == "np.einsum" or str(label)[0] == "b"
            if known == 1 and broadcasts:
                sizes[label] = size
            elif size != known and not (size == 1 and broadcasts):
                said = " and ".join(map(str, shapes))
                raise QuantValueError(f"{name}: sizes {known} and {size} do not match, in shapes {said}")
    return sizes
