"""Exact products of tensors: each is an ``einsum``, and each ``einsum`` is a few batched ``matmul``.

Integers are multiplied; what they are worth is known by label. So channels may lie along any axis that is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError
from qrt.ops.core import Array, Shape
from qrt.ops.requant import max_magnitude
from qrt.tensor.functions import mul as qrt_mul
from qrt.tensor.products import matmul as qrt_matmul
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.exact import GIVE_VALUES, I32_END, I64_END, NO_DTYPE, Units, add_up, centred, finish
from qrt.tensor.quant_tensor import QuantTensor, tensor_of
from qrt.types import FloatType, UniformType

Labels = tuple[str, ...]
LabelsOf = Callable[..., tuple[Sequence[Labels], Labels]]
"""(labels of the axes of each operand, those of the result), of the shapes of the operands and options."""
_FEW = 4096
"""So many products are sooner formed by NumPy than by a kernel, which needs types for its operands."""


def contracted(
    operands: Sequence[QuantTensor], labels_of: LabelsOf, *options: Any, dtype: Any = NO_DTYPE, out: Any = None
) -> Any:
    """Return the product of the operands, summed over the labels that the result has not. Axes of size 1 broadcast
    where the label begins with b."""
    inputs, output = labels_of([q.shape for q in operands], *options)
    sizes = _sizes([q.shape for q in operands], inputs)
    terms = [_term(q, labels, sizes) for q, labels in zip(operands, inputs, strict=True)]
    result = terms[0]
    for i, term in enumerate(terms[1:], 2):
        later = {label for other in terms[i:] for label in other.labels}
        result = _product(result, term, frozenset(later.union(output)))
    result = _summed(result, tuple(label for label in result.labels if label not in output))
    axis = None if result.channel is None else output.index(result.channel)
    units = Units(result.expressed, result.factors, () if axis is None else (len(result.factors),), axis)
    integers = result.grouped(*((label,) for label in output))
    if result.zero:
        integers = np.subtract(integers, result.zero, dtype=np.int64)
    return finish(integers, result.magnitude, units, dtype, out)


@dataclass(slots=True)
class _Term:
    """Integers with a label for each axis; their value is the integer less ``zero``."""

    integers: Array
    labels: Labels
    zero: int
    bounds: tuple[int, int]
    expressed: FloatType
    factors: tuple[tuple[float, ...], ...]
    channel: str | None
    """The label of the axis along which ``factors`` differ, None where there is one."""

    @property
    def magnitude(self) -> int:
        return max(self.bounds[1] - self.zero, self.zero - self.bounds[0])

    def size(self, label: str) -> int:
        return int(self.integers.shape[self.labels.index(label)])

    def count(self, labels: Iterable[str]) -> int:
        return prod(self.size(label) for label in labels)

    def grouped(self, *groups: Labels) -> Array:
        """Return the integers, with the axes of each group merged to one."""
        order = [self.labels.index(label) for group in groups for label in group]
        return self.integers.transpose(order).reshape([self.count(group) for group in groups])


def _term(q: QuantTensor, labels: Labels, sizes: dict[str, int]) -> _Term:
    """Return an operand with each label once, without the axes of size 1 that broadcast to those of other terms."""
    t, once = q.type, tuple(dict.fromkeys(labels))
    if t.is_sub_channel:
        text = str(t) if len(t.scales) < 9 else "the type"
        raise QuantTypeError(f"{text} is sub-channel: requantize first, by qrt.requantize(q, t)")
    integers, zero, bounds = stored(q), t.zero_points[0], (t.storage_min, t.storage_max)
    if len(set(t.zero_points)) > 1:
        limit = max_magnitude(t)
        integers, zero, bounds = centred(q, limit), 0, (-limit, limit)
    if once != labels:  # the diagonal of the axes that share a label
        integers = np.einsum(integers, [once.index(label) for label in labels], list(range(len(once))))
    places = [d for d, label in enumerate(once) if integers.shape[d] != 1 or sizes[label] == 1]
    integers = integers.reshape([integers.shape[d] for d in places])
    channel = None if t.axis is None or len(t.scales) == 1 else labels[t.axis]
    factors = tuple((s,) for s in t.scales)
    return _Term(integers, tuple(once[d] for d in places), zero, bounds, t.expressed_type, factors, channel)


def _summed(term: _Term, labels: Labels) -> _Term:
    """Return the sum over the axes of some labels."""
    if not labels:
        return term
    _check_channel(term, labels)
    axes, count = tuple(term.labels.index(label) for label in labels), term.count(labels)
    bound = max(count, 1) * term.magnitude
    return replace(
        term,
        integers=np.asarray(add_up(term.integers, axes, np.int64)) - term.zero * count,
        labels=tuple(label for label in term.labels if label not in labels),
        zero=0,
        bounds=(-bound, bound),
    )


def _check_channel(term: _Term, labels: Iterable[str]) -> None:
    if term.channel is not None and term.channel in labels:
        raise QuantTypeError(
            "an axis along which the scales differ is summed over, and they have no common sum: "
            "requantize first, by qrt.requantize(q, t) with a type t per layer"
        )


# --------------------------------------------------------------------------------------------------- two terms to one


def _product(a: _Term, b: _Term, kept: frozenset[str]) -> _Term:
    """Return the product of two terms, summed over the labels that are not kept."""
    a = _summed(a, tuple(x for x in a.labels if x not in kept and x not in b.labels))
    b = _summed(b, tuple(x for x in b.labels if x not in kept and x not in a.labels))
    shared = [x for x in a.labels if x in b.labels]
    depth, batch = (tuple(x for x in shared if (x in kept) is is_kept) for is_kept in (False, True))
    for term in (a, b):
        _check_channel(term, depth)
    rows = tuple(x for x in a.labels if x not in shared)
    columns = tuple(x for x in b.labels if x not in shared)
    bound = max(a.count(depth), 1) * a.magnitude * b.magnitude
    if bound >= I64_END:
        raise QuantTypeError(f"the result may reach {bound}, which 64 bits do not hold: {GIVE_VALUES}")
    # One product is faster than a batch of one.
    batches, one = ((batch,), ()) if a.count(batch) != 1 else ((), batch)
    x, y = a.grouped(*batches, one + rows, depth), b.grouped(*batches, one + depth, columns)
    integers = _multiplied(a, b, x, y, bound)
    labels, (factors, channel) = (*batch, *rows, *columns), _joined(a, b)
    shape = [a.size(label) for label in (*batch, *rows)] + [b.size(label) for label in columns]
    return _Term(integers.reshape(shape), labels, 0, (-bound, bound), a.expressed, factors, channel)


def _multiplied(a: _Term, b: _Term, x: Array, y: Array, bound: int) -> Array:
    """Return the product of matrices, or of a batch of them, which hold the integers of two terms."""
    if bound >= I32_END or x.size * y.shape[-1] <= _FEW:
        centred_x, centred_y = (np.subtract(z, term.zero, dtype=np.int64) for z, term in ((x, a), (y, b)))
        return np.asarray(np.matmul(centred_x, centred_y))
    left = _kernel_operand(a, x)
    if x.shape[-2] == y.shape[-1] == 1:  # elements are multiplied: of a row and a column no kernel makes use
        products = qrt_mul(left, _kernel_operand(b, y.reshape(x.shape)))
        return np.asarray(add_up(products._data, -1, np.int32))
    return qrt_matmul(left, _kernel_operand(b, y))._data


def _kernel_operand(term: _Term, integers: Array) -> QuantTensor:
    """Return a tensor of the integers for the kernels."""
    dtype = integers.dtype
    if dtype == np.int64:
        dtype = np.dtype(np.int32 if term.magnitude >= 1 << 15 else np.int16)
    t = _kernel_type(dtype, term.zero, *term.bounds)
    return tensor_of(np.ascontiguousarray(integers, dtype), t, integers.shape)


def _kernel_type(dtype: np.dtype[Any], zero: int, low: int, high: int) -> UniformType:
    """Return a type of a scale that nobody reads."""
    return UniformType(dtype, "f32", 1.0, zero, storage_min=low, storage_max=high)


def _joined(a: _Term, b: _Term) -> tuple[tuple[tuple[float, ...], ...], str | None]:
    """Return what an integer of the product is worth, and the label along which that differs."""
    if a.expressed != b.expressed:
        raise QuantTypeError(f"the operands express {a.expressed} and {b.expressed}")
    if a.channel is not None and b.channel is not None:
        if a.channel != b.channel:
            raise QuantTypeError(
                "both operands have channels, along different axes of the result: requantize one of them, "
                "by qrt.requantize(q, t) with a type t per layer"
            )
        return tuple(s + t for s, t in zip(a.factors, b.factors, strict=True)), a.channel
    return tuple(s + t for s in a.factors for t in b.factors), b.channel if a.channel is None else a.channel


def _sizes(shapes: Sequence[Shape], inputs: Sequence[Labels]) -> dict[str, int]:
    """Return the size of each label; 1 gives way to any other."""
    sizes: dict[str, int] = {}
    for shape, labels in zip(shapes, inputs, strict=True):
        repeated = [label for label, times in Counter(labels).items() if times > 1]
        if any(len({n for x, n in zip(labels, shape, strict=True) if x == label}) > 1 for label in repeated):
            raise QuantValueError(f"the axes of a diagonal have different sizes in shape {shape}")
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            broadcasts = label[0] == "b"
            if known == 1 and broadcasts:
                sizes[label] = size
            elif size != known and not (size == 1 and broadcasts):
                listed = " and ".join(map(str, shapes))
                raise QuantValueError(f"sizes {known} and {size} do not match, in shapes {listed}")
    return sizes
