"""Exact products of tensors: every one is an ``einsum``, and every ``einsum`` is a few batched ``matmul``.

Integers are multiplied; what they are worth is known by label. So channels may lie along any axis that is kept.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Array, Shape
from qrt.ops.requant import max_magnitude
from qrt.tensor.products import matmul as qrt_matmul
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.exact import (
    I32_END,
    I64_END,
    Units,
    add_up,
    axis_of,
    centred,
    finish,
    of_tensors,
    refuse_others,
    require_tensors,
)
from qrt.tensor.protocol.subscripts import Labels, interleaved, parsed
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import FloatType, UniformType


@dataclass(frozen=True)
class _Term:
    """Integers with a label for each axis; their value is the integer less ``zero``."""

    data: Array
    labels: Labels
    zero: int
    bounds: tuple[int, int]
    expressed: FloatType
    factors: tuple[tuple[float, ...], ...]
    channel: Hashable
    """The label of the axis along which ``factors`` differ, None where there is one."""

    @property
    def magnitude(self) -> int:
        return max(self.bounds[1] - self.zero, self.zero - self.bounds[0])

    def size(self, label: Hashable) -> int:
        return int(self.data.shape[self.labels.index(label)])

    def moved(self, labels: Labels) -> Array:
        """The integers with axes in this order."""
        return self.data.transpose([self.labels.index(label) for label in labels])


def _term(name: str, q: QuantTensor, labels: Labels) -> _Term:
    t = q.type
    if t.is_sub_channel:
        raise QuantTypeError(f"{name}: {_short(t)} is sub-channel: requantize first, by qrt.requantize(q, t)")
    data, zero, bounds = stored(q), t.zero_points[0], (t.storage_min, t.storage_max)
    if len(set(t.zero_points)) > 1:
        limit = max_magnitude(t)
        data, zero, bounds = centred(q), 0, (-limit, limit)
    channel = None if t.axis is None or len(t.scales) == 1 else labels[t.axis]
    term = _Term(data, labels, zero, bounds, t.expressed_type, tuple((s,) for s in t.scales), channel)
    return _on_diagonals(term)


def _short(t: UniformType) -> str:
    return str(t) if len(t.scales) < 9 else "the type"


def _on_diagonals(term: _Term) -> _Term:
    """Each label once: the diagonal of the axes that share one."""
    once = tuple(dict.fromkeys(term.labels))
    if once == term.labels:
        return term
    numbers = [once.index(label) for label in term.labels]
    return _replaced(term, np.einsum(term.data, numbers, list(range(len(once)))), once)


def _replaced(term: _Term, data: Array, labels: Labels, bound: int | None = None) -> _Term:
    zero, bounds = (term.zero, term.bounds) if bound is None else (0, (-bound, bound))
    return _Term(data, labels, zero, bounds, term.expressed, term.factors, term.channel)


def _without_ones(term: _Term, sizes: dict[Hashable, int]) -> _Term:
    """Without the axes of size 1 that broadcast to those of other terms."""
    spare = [d for d, label in enumerate(term.labels) if term.data.shape[d] == 1 and sizes[label] != 1]
    kept = tuple(label for d, label in enumerate(term.labels) if d not in spare)
    return _replaced(term, term.data.squeeze(tuple(spare)), kept) if spare else term


def _summed(name: str, term: _Term, labels: Labels) -> _Term:
    """The sum over the axes of some labels."""
    if not labels:
        return term
    _check_channel(name, term, labels)
    axes = tuple(term.labels.index(label) for label in labels)
    count = prod(term.data.shape[d] for d in axes)
    total = add_up(np.subtract(term.data, term.zero, dtype=np.int64), axes)
    kept = tuple(label for label in term.labels if label not in labels)
    return _replaced(term, np.asarray(total), kept, max(count, 1) * term.magnitude)


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
    bound = max(prod(a.size(x) for x in depth), 1) * a.magnitude * b.magnitude
    left, right = _matrices(a, batch, rows, depth), _matrices(b, batch, depth, columns)
    data = _multiplied(name, left, a, right, b, bound)
    shape = [a.size(x) for x in (*batch, *rows)] + [b.size(x) for x in columns]
    factors, channel = _joined(name, a, b)
    labels = (*batch, *rows, *columns)
    return _Term(data.reshape(shape), labels, 0, (-bound, bound), a.expressed, factors, channel)


def _matrices(term: _Term, *groups: Labels) -> Array:
    """A batch of matrices: the axes of each group merged."""
    data = term.moved(tuple(x for group in groups for x in group))
    return data.reshape([prod(term.size(x) for x in group) for group in groups])


def _multiplied(name: str, a: Array, a_term: _Term, b: Array, b_term: _Term, bound: int) -> Array:
    if bound < I32_END:
        if len(a) == len(b) == 1:  # one product is faster than a batch of one
            a, b = a[0], b[0]
        return qrt_matmul(_as_tensor(a, a_term), _as_tensor(b, b_term)).storage
    if bound >= I64_END:
        raise QuantTypeError(f"{name}: the result may reach {bound}, which 64 bits do not hold: requantize first")
    wide = [np.subtract(x, term.zero, dtype=np.int64) for x, term in ((a, a_term), (b, b_term))]
    return np.asarray(np.matmul(*wide))


def _as_tensor(data: Array, term: _Term) -> QuantTensor:
    """Integers for the kernels, of a scale that nobody reads."""
    if data.dtype == np.int64:
        data = data.astype(np.int32 if term.magnitude >= 1 << 15 else np.int16)
    storage = f"{'u' if data.dtype.kind == 'u' else 'i'}{8 * data.itemsize}"
    low, high = term.bounds
    return QuantTensor._of(data, UniformType(storage, "f32", 1.0, term.zero, storage_min=low, storage_max=high))


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


def contracted(
    name: str, operands: Sequence[QuantTensor], inputs: Sequence[Labels], output: Labels, dtype: Any, out: Any
) -> Any:
    """The product of the operands, summed over the labels that are not in ``output``. Axes of size 1 broadcast in
    ``einsum``, and where the label begins with b."""
    sizes = _sizes(name, operands, inputs)
    terms = [_without_ones(_term(name, q, labels), sizes) for q, labels in zip(operands, inputs, strict=True)]
    result = terms[0]
    for i, term in enumerate(terms[1:], 2):
        later = {label for other in terms[i:] for label in other.labels}
        result = _product(name, result, term, frozenset(later.union(output)))
    result = _summed(name, result, tuple(label for label in result.labels if label not in output))
    acc = np.subtract(result.moved(output), result.zero, dtype=np.int64)
    axis = None if result.channel is None else output.index(result.channel)
    units = Units(result.expressed, result.factors, () if axis is None else (len(result.factors),), axis)
    return finish(name, acc, result.magnitude, units, dtype, out)


def _sizes(name: str, operands: Sequence[QuantTensor], inputs: Sequence[Labels]) -> dict[Hashable, int]:
    """The size of each label; 1 gives way to any other."""
    sizes: dict[Hashable, int] = {}
    for q, labels in zip(operands, inputs, strict=True):
        repeated = [label for label, times in Counter(labels).items() if times > 1]
        if any(len({n for x, n in zip(labels, q.shape, strict=True) if x == label}) > 1 for label in repeated):
            raise QuantValueError(f"{name}: the axes of a diagonal have different sizes in shape {q.shape}")
        for label, size in zip(labels, q.shape, strict=True):
            known = sizes.setdefault(label, size)
            broadcasts = name == "np.einsum" or str(label)[0] == "b"
            if known == 1 and broadcasts:
                sizes[label] = size
            elif size != known and not (size == 1 and broadcasts):
                shapes = " and ".join(str(x.shape) for x in operands)
                raise QuantValueError(f"{name}: sizes {known} and {size} do not match, in shapes {shapes}")
    return sizes


# ---------------------------------------------------------------------------------------------------- NumPy's functions


@of_tensors(np.einsum)
def einsum(*operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False, **others: Any) -> Any:
    """A sum of products, by labels of axes."""
    refuse_others("np.einsum", {key: value for key, value in others.items() if key != "casting"})
    subscripts, tensors = interleaved(operands)
    require_tensors("np.einsum", *tensors)
    inputs, output = parsed(subscripts, [q.ndim for q in tensors])
    return contracted("np.einsum", tensors, inputs, output, dtype, out)


@implements(np.einsum_path, kind="sums")
def _einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order in which NumPy would contract operands of these shapes."""
    arrays = [np.broadcast_to(np.int8(0), x.shape) if isinstance(x, QuantTensor) else x for x in operands]
    return np.einsum_path(*arrays, optimize=optimize, einsum_call=einsum_call)


def _by_labels(name: str, a: Any, b: Any, left: Labels, right: Labels, output: Labels, **more: Any) -> Any:
    require_tensors(name, a, b)
    return contracted(name, (a, b), (left, right), output, more.get("dtype"), more.get("out"))


def _letters(prefix: str, count: int) -> Labels:
    """Labels of neighbouring axes, the last of which is number 1: batches are matched from the right."""
    return tuple(f"{prefix}{i}" for i in range(count, 0, -1))


def _ranks(name: str, a: Any, b: Any, least_a: int, least_b: int) -> tuple[int, int]:
    require_tensors(name, a, b)
    if a.ndim < least_a or b.ndim < least_b:
        raise QuantValueError(f"{name}: ranks of at least {least_a} and {least_b} are needed, got {a.shape}, {b.shape}")
    return a.ndim, b.ndim


@of_tensors(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product over the last axis of one tensor and the last but one of the other."""
    m, n = _ranks("np.dot", a, b, 0, 0)
    if 0 in (m, n):
        left, right = _letters("m", m), _letters("n", n)
        return _by_labels("np.dot", a, b, left, right, left + right, out=out)
    rows, columns, batch = _letters("m", m - 1), ("n",) * (n > 1), _letters("b", max(n - 2, 0))
    return _by_labels("np.dot", a, b, (*rows, "k"), (*batch, "k", *columns), (*rows, *batch, *columns), out=out)


@of_tensors(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """The product over the last axes."""
    m, n = _ranks("np.inner", a, b, 0, 0)
    if 0 in (m, n):
        return dot(a, b)
    rows, columns = _letters("m", m - 1), _letters("n", n - 1)
    return _by_labels("np.inner", a, b, (*rows, "k"), (*columns, "k"), rows + columns)


@of_tensors(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """All products of two lines of elements."""
    require_tensors("np.outer", a, b)
    return _by_labels("np.outer", a.reshape(-1), b.reshape(-1), ("m",), ("n",), ("m", "n"), out=out)


@of_tensors(np.linalg.outer)
def _linalg_outer(x1: Any, x2: Any, /) -> Any:
    """All products of the elements of two vectors."""
    if _ranks("np.linalg.outer", x1, x2, 1, 1) != (1, 1):
        raise QuantValueError(f"np.linalg.outer: vectors are needed, got {x1.shape} and {x2.shape}")
    return outer(x1, x2)


@of_tensors((np.multiply, "outer"))
def _multiply_outer(a: Any, b: Any, **others: Any) -> Any:
    """All products of the elements of two tensors."""
    refuse_others("np.multiply.outer", others)
    require_tensors("np.multiply.outer", a, b)
    left, right = _letters("m", a.ndim), _letters("n", b.ndim)
    return _by_labels("np.multiply.outer", a, b, left, right, left + right)


@of_tensors(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of the products of two lines of elements."""
    require_tensors("np.vdot", a, b)
    return _by_labels("np.vdot", a.reshape(-1), b.reshape(-1), ("k",), ("k",), ())


def _batched(name: str, a: Any, b: Any, left: Labels, right: Labels, **more: Any) -> Any:
    """The last axes labelled; those before them are a batch, and broadcast."""
    m, n = _ranks(name, a, b, len(left), len(right))
    batches = [_letters("b", rank - len(core)) for rank, core in ((m, left), (n, right))]
    output = (*max(batches, key=len), *(x for x in left + right if x != "k"))
    return _by_labels(name, a, b, batches[0] + left, batches[1] + right, output, **more)


@of_tensors(np.vecdot)
def vecdot(a: Any, b: Any, /, axis: Any = -1, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The products of vectors along an axis, summed."""
    name = "np.vecdot"
    refuse_others(name, others)
    _ranks(name, a, b, 1, 1)
    left, right = (_with_last(q, axis_of(name, axis, q.ndim)) for q in (a, b))
    return _batched(name, left, right, ("k",), ("k",), out=out, dtype=dtype)


def _with_last(q: QuantTensor, axis: int) -> QuantTensor:
    return q.transpose([*(d for d in range(q.ndim) if d != axis), axis])


@of_tensors(np.linalg.vecdot)
def _linalg_vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """The products of vectors along an axis, summed."""
    return vecdot(x1, x2, axis)


@of_tensors(np.matvec)
def matvec(a: Any, b: Any, /, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """Matrices times vectors."""
    refuse_others("np.matvec", others)
    return _batched("np.matvec", a, b, ("m", "k"), ("k",), out=out, dtype=dtype)


@of_tensors(np.vecmat)
def vecmat(a: Any, b: Any, /, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """Vectors times matrices."""
    refuse_others("np.vecmat", others)
    return _batched("np.vecmat", a, b, ("k",), ("k", "n"), out=out, dtype=dtype)


@of_tensors(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The product over pairs of axes."""
    name = "np.tensordot"
    m, n = _ranks(name, a, b, 0, 0)
    first, second = _contracted_axes(name, axes, m, n)
    left, right = list(_letters("m", m)), list(_letters("n", n))
    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        left[x] = right[y] = f"k{i}"
    output = tuple(
        x for labels, axes in ((left, first), (right, second)) for d, x in enumerate(labels) if d not in axes
    )
    return _by_labels(name, a, b, tuple(left), tuple(right), output)


@of_tensors(np.linalg.tensordot)
def _linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The product over pairs of axes."""
    return tensordot(x1, x2, axes)


def _contracted_axes(name: str, axes: Any, m: int, n: int) -> tuple[Shape, Shape]:
    if isinstance(axes, (int, np.integer)) and 0 <= axes <= min(m, n):
        return tuple(range(m - int(axes), m)), tuple(range(int(axes)))
    try:
        pair = [(x,) if isinstance(x, (int, np.integer)) else tuple(x) for x in axes]
        first, second = (tuple(axis_of(name, x, rank) for x in given) for given, rank in zip(pair, (m, n), strict=True))
    except (TypeError, ValueError):
        first = second = (0, 0)
    if len(first) != len(second) or len(set(first)) != len(first) or len(set(second)) != len(second):
        raise QuantValueError(f"{name}: axes {shown(axes)} do not fit tensors of ranks {m} and {n}")
    return first, second


@of_tensors(np.linalg.multi_dot)
def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of a chain of matrices."""
    name, given = "np.linalg.multi_dot", tuple(arrays)
    require_tensors(name, *given)
    ends = (0, len(given) - 1)
    if len(given) < 2 or any(q.ndim != 2 and not (q.ndim == 1 and i in ends) for i, q in enumerate(given)):
        raise QuantValueError(f"{name}: two matrices or more are needed, the first and the last may be vectors")
    inputs: list[Labels] = [(f"k{i}", f"k{i + 1}") for i in range(len(given))]
    inputs[0] = inputs[0] if given[0].ndim == 2 else inputs[0][1:]
    inputs[-1] = inputs[-1] if given[-1].ndim == 2 else inputs[-1][:1]
    output = inputs[0][:-1] + inputs[-1][1:]
    return contracted(name, given, inputs, output, None, out)


@of_tensors(np.linalg.matrix_power)
def _matrix_power(a: Any, n: Any = 1) -> Any:
    """The product of a square matrix by itself, 1 to 64 times."""
    name = "np.linalg.matrix_power"
    require_tensors(name, a)
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= 64:
        raise QuantTypeError(f"{name}: n must be an integer from 1 to 64; write {name}(np.asarray(q), n) for others")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise QuantValueError(f"{name}: square matrices are needed, got shape {a.shape}")
    if n == 1:
        return a.copy()
    batch, last = _letters("b", a.ndim - 2), f"k{n}"
    inputs = [(*batch, f"k{i}", f"k{i + 1}") for i in range(int(n))]
    return contracted(name, [a] * int(n), inputs, (*batch, "k0", last), None, None)
