"""NumPy's products of tensors, each described by labels of the axes that are multiplied, summed over and kept.

Each product is an ``einsum``, and each ``einsum`` is a few batched ``matmul`` of integers. The scales of the result
follow from the labels, so channels may lie along any axis that is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from math import prod
from operator import index
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, plural, shown
from qrt.ops.core import Array, Shape
from qrt.ops.requant import max_magnitude
from qrt.tensor.functions import mul as qrt_mul
from qrt.tensor.products import matmul as qrt_matmul
from qrt.tensor.protocol.elements import axis_of, stored
from qrt.tensor.protocol.exact import (
    GIVE_VALUES,
    I32_END,
    I64_END,
    NO_DTYPE,
    Units,
    add_up,
    centred,
    finish,
    refuse_others,
    require_tensors,
)
from qrt.tensor.protocol.table import Function, enter, implements
from qrt.tensor.quant_tensor import QuantTensor, tensor_of
from qrt.types import FloatType, UniformType

Shapes = Sequence[Shape]
Labels = tuple[str, ...]
Contraction = tuple[Sequence[Labels], Labels]
"""The labels of the axes of each operand, and those of the result."""
_FEW = 4096
"""The number of products up to which NumPy is faster than a kernel, whose operands need types."""


@implements(np.einsum, kind="sums", operands=0)
def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False, casting: Any = "safe", **others: Any
) -> Any:
    """A sum of products, given by labels of the operands' axes."""
    refuse_others(others)
    *subscripts, tensors = _subscripts_of(operands)
    require_tensors(*tensors)
    return contracted(tensors, _of_subscripts, *subscripts, dtype=dtype, out=out)


_OTHERS = "..."
"""The label that `einsum` has in place of all axes without a label."""


def _subscripts_of(operands: tuple[Any, ...]) -> tuple[list[Labels], Labels | None, Sequence[Any]]:
    """Return (labels of each operand, labels of the result if given, tensors) of the arguments of ``einsum``.

    Both forms are accepted: ``"ij,jk->ik", a, b`` and ``a, [0, 1], b, [1, 2], [0, 2]``.
    """
    if operands and isinstance(operands[0], str):
        text = operands[0]
        left, arrow, right = text.replace(" ", "").partition("->")
        inputs = [_of_term(term, text) for term in left.split(",")]
        return inputs, _of_term(right, text) if arrow else None, operands[1:]
    lists = [_of_list(given) for given in operands[1::2]]
    output = _of_list(operands[-1]) if len(operands) % 2 else None
    return lists, output, operands[: len(operands) // 2 * 2 : 2]


def _of_term(term: str, text: str) -> Labels:
    before, dots, after = term.partition(_OTHERS)
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise QuantTypeError(f"'subscripts' must consist of letters, ',', '...' and '->', got {shown(text)}")
    return tuple(dots if label == "." else f"b{label}" for label in before + dots[:1] + after)


def _of_list(given: Any) -> Labels:
    try:
        return tuple(_OTHERS if x is ... else f"b{index(x):09}" for x in given)
    except TypeError:
        raise QuantTypeError(f"'subscripts' must be text or lists of integers, got {shown(given)}") from None


def _of_subscripts(shapes: Shapes, inputs: list[Labels], output: Labels | None) -> Contraction:
    """Return the labels of operands and result, with each ellipsis replaced by labels for its axes.

    Axes of an ellipsis are labelled by their position, counted from the last one, because they broadcast as in NumPy's
    elementwise functions. Without ``output``, the result has these axes first, and then all labels that occur once.
    """
    if len(inputs) != len(shapes) or not shapes:
        raise QuantValueError(f"expected {plural(len(inputs), 'operand')} by the subscripts, got {len(shapes)}")
    gaps = [_gap(labels, len(shape)) for labels, shape in zip(inputs, shapes, strict=True)]
    whole = [_spelled_out(labels, gap) for labels, gap in zip(inputs, gaps, strict=True)]
    batch = max(gaps, key=len)
    if output is None:
        times = Counter(label for labels in inputs for label in labels if label != _OTHERS)
        return whole, (*batch, *sorted(label for label, n in times.items() if n == 1))
    result = _spelled_out(output, batch)
    known = {label for labels in whole for label in labels}
    labels = ", ".join(label if label == _OTHERS else label[1:].lstrip("0") or "0" for label in output) or "none"
    if batch and _OTHERS not in output:
        raise QuantValueError(f"the labels of the result must contain the '...' of the operands, got {labels}")
    if len(set(result)) != len(result) or not known.issuperset(result):
        raise QuantValueError(f"each label of the result must be a label of an operand and occur once, got {labels}")
    return whole, result


def _gap(labels: Labels, rank: int) -> Labels:
    named = sum(label != _OTHERS for label in labels)
    if named > rank or (named < rank and _OTHERS not in labels):
        raise QuantValueError(
            f"the subscripts of an operand of rank {rank} must have {plural(rank, 'label')}, got {named}"
        )
    return tuple(f"b.{i}" for i in range(rank - named, 0, -1))


def _spelled_out(labels: Labels, gap: Labels) -> Labels:
    return tuple(x for label in labels for x in (gap if label == _OTHERS else (label,)))


@implements(np.dot, kind="sums", operands=2)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product over the last axis of one tensor and the second to last axis of the other."""
    require_tensors(a, b)
    if out is None and 1 <= a.ndim <= 2 and 1 <= b.ndim <= 2:
        with suppress(QuantTypeError):  # whose message is about matmul's arguments
            return qrt_matmul(a, b)
    return contracted([a, b], _of_dot, out=out)


def _letters(prefix: str, count: int) -> Labels:
    """Return ``count`` labels of adjacent axes, such as ("b3", "b2", "b1"). The last axis has number 1.

    Operands of different rank then have equal labels for the batch axes that broadcast against each other.
    """
    return tuple(f"{prefix}{i}" for i in range(count, 0, -1))


def _of_two(function: Function, labels_of: Any) -> Callable[..., Any]:
    """Return the implementation of a NumPy product of two tensors.

    ``labels_of`` returns the labels of operands and result, given the operands' shapes and the options of NumPy's
    function. Its parameters have the names and defaults of these options.
    """
    options = {key: p.default for key, p in signature(labels_of).parameters.items() if p.default is not p.empty}
    third, defaults = next(iter(options), "out"), {**options, "out": None}
    takes_dtype, are_lines = not callable(function) or isinstance(function, np.ufunc), function in _ON_LINES

    def rule(a: Any, b: Any, *rest: Any, **named: Any) -> Any:
        require_tensors(a, b)
        given = (
            defaults | {"dtype": None if takes_dtype else NO_DTYPE} | dict(zip((third,), rest, strict=False)) | named
        )
        refuse_others({key: value for key, value in given.items() if key not in (*defaults, "dtype")})
        operands = [q.reshape(-1) if are_lines and q.ndim != 1 else q for q in (a, b)]
        chosen = [given[key] for key in options]
        return contracted(operands, labels_of, *chosen, dtype=given["dtype"], out=given["out"])

    return rule


def _ranks(shapes: Shapes, least: int, other_least: int) -> tuple[int, int]:
    first, second = shapes
    if len(first) < least or len(second) < other_least:
        raise QuantValueError(
            f"the operands must have ranks of at least {least} and {other_least}, got the shapes {first} and {second}"
        )
    return len(first), len(second)


def _of_dot(shapes: Shapes) -> Contraction:
    return _of_pairs(shapes, ([-1], [max(-2, -len(shapes[1]))]) if all(shapes) else 0)


def _of_inner(shapes: Shapes) -> Contraction:
    return _of_pairs(shapes, ([-1], [-1]) if all(shapes) else 0)


def _of_outer(shapes: Shapes) -> Contraction:
    return _of_pairs(shapes, 0)


def _of_vectors(shapes: Shapes) -> Contraction:
    if [len(shape) for shape in shapes] != [1, 1]:
        raise QuantValueError(f"the operands must be vectors, got shapes {shapes[0]} and {shapes[1]}")
    return _of_outer(shapes)


def _of_batches(left: Labels, right: Labels) -> Any:
    """Return a function ``labels_of`` (see `_of_two`) that labels the operands' last axes by ``left`` and ``right``.

    The axes before them are batch axes, which broadcast.
    """

    def labels_of(shapes: Shapes) -> Contraction:
        m, n = _ranks(shapes, len(left), len(right))
        batches = [_letters("b", rank - len(core)) for rank, core in ((m, left), (n, right))]
        output = (*max(batches, key=len), *(x for x in left + right if x != "k"))
        return (batches[0] + left, batches[1] + right), output

    return labels_of


def _of_vecdot(shapes: Shapes, axis: Any = -1) -> Contraction:
    ranks = _ranks(shapes, 1, 1)
    batches = [_letters("b", rank - 1) for rank in ranks]
    places = [axis_of(axis, rank) for rank in ranks]
    inputs = [(*batch[:place], "k", *batch[place:]) for batch, place in zip(batches, places, strict=True)]
    return inputs, max(batches, key=len)


def _of_pairs(shapes: Shapes, axes: Any = 2) -> Contraction:
    m, n = map(len, shapes)
    first, second = _contracted_axes(axes, m, n)
    left, right = list(_letters("m", m)), list(_letters("n", n))
    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        left[x] = right[y] = f"k{i}"
    sides = ((left, first), (right, second))
    return (tuple(left), tuple(right)), tuple(x for labels, ks in sides for d, x in enumerate(labels) if d not in ks)


def _contracted_axes(axes: Any, m: int, n: int) -> tuple[Shape, Shape]:
    if isinstance(axes, (int, np.integer)) and 0 <= axes <= min(m, n):
        return tuple(range(m - int(axes), m)), tuple(range(int(axes)))
    try:
        pair = [(x,) if isinstance(x, (int, np.integer)) else tuple(x) for x in axes]
        first, second = (tuple(axis_of(x, rank) for x in given) for given, rank in zip(pair, (m, n), strict=True))
    except (TypeError, ValueError):
        first = second = (0, 0)
    if len(first) != len(second) or len(set(first)) != len(first) or len(set(second)) != len(second):
        raise QuantValueError(
            "'axes' must be a number of axes or a pair of lists of different axes of tensors of "
            f"ranks {m} and {n}, got {shown(axes)}"
        )
    return first, second


_ON_LINES = (np.outer, np.vdot)
"""Products that NumPy computes on flattened operands."""
_ROWS: dict[Any, tuple[Any, str]] = {
    np.inner: (_of_inner, "The product over the last axes."),
    np.outer: (_of_outer, "All products of an element of one flattened tensor and an element of the other."),
    np.linalg.outer: (_of_vectors, "All products of the elements of two vectors."),
    (np.multiply, "outer"): (_of_outer, "All products of the elements of two tensors."),
    np.vdot: (_of_inner, "The sum of the products of the elements of two flattened tensors."),
    (np.vecdot, np.linalg.vecdot): (_of_vecdot, "The products of vectors along an axis, summed."),
    "matvec": (_of_batches(("m", "k"), ("k",)), "Matrices times vectors."),
    "vecmat": (_of_batches(("k",), ("k", "n")), "Vectors times matrices."),
    (np.tensordot, np.linalg.tensordot): (_of_pairs, "The product over pairs of axes."),
}
enter("sums", _of_two, _ROWS, operands=2)


def contracted(
    operands: Sequence[QuantTensor], labels_of: Any, *options: Any, dtype: Any = NO_DTYPE, out: Any = None
) -> Any:
    """Return the product of the operands, summed over the labels that are not labels of the result.

    ``labels_of`` returns the labels of operands and result, given the operands' shapes and the options. Axes of size 1
    broadcast if their label begins with b.
    """
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
    """Integers with a label for each axis. The value of an integer is the integer minus ``zero``."""

    integers: Array
    labels: Labels
    zero: int
    bounds: tuple[int, int]
    expressed: FloatType
    factors: tuple[tuple[float, ...], ...]
    channel: str | None
    """The label of the axis along which ``factors`` differ; None if they are equal along every axis."""

    @property
    def magnitude(self) -> int:
        return max(self.bounds[1] - self.zero, self.zero - self.bounds[0])

    def size(self, label: str) -> int:
        return int(self.integers.shape[self.labels.index(label)])

    def count(self, labels: Iterable[str]) -> int:
        return prod(self.size(label) for label in labels)

    def grouped(self, *groups: Labels) -> Array:
        """Return the integers with the axes of each group of labels merged into one."""
        order = [self.labels.index(label) for group in groups for label in group]
        return self.integers.transpose(order).reshape([self.count(group) for group in groups])


def _term(q: QuantTensor, labels: Labels, sizes: dict[str, int]) -> _Term:
    """Return an operand as a term: axes with equal labels become their diagonal, axes to be broadcast are dropped."""
    t, once = q.type, tuple(dict.fromkeys(labels))
    if t.is_sub_channel:
        text = str(t) if len(t.scales) < 9 else "a sub-channel type"
        raise QuantTypeError(
            f"the operands must have types per layer or per axis, got {text}: requantize first, by qrt.requantize(q, t)"
        )
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
            "the scales of an operand differ along an axis that is summed over: requantize first, by "
            "qrt.requantize(q, t) with a per-layer type t"
        )


def _product(a: _Term, b: _Term, remaining: frozenset[str]) -> _Term:
    """Return the product of two terms, summed over the labels that are not in ``remaining``."""
    a = _summed(a, tuple(x for x in a.labels if x not in remaining and x not in b.labels))
    b = _summed(b, tuple(x for x in b.labels if x not in remaining and x not in a.labels))
    shared = [x for x in a.labels if x in b.labels]
    depth, batch = (tuple(x for x in shared if (x in remaining) is is_batch) for is_batch in (False, True))
    for term in (a, b):
        _check_channel(term, depth)
    rows = tuple(x for x in a.labels if x not in shared)
    columns = tuple(x for x in b.labels if x not in shared)
    bound = max(a.count(depth), 1) * a.magnitude * b.magnitude
    if bound >= I64_END:
        raise QuantTypeError(f"the result may reach {bound}, which overflows 64 bits: {GIVE_VALUES}")
    # A single product is faster than a batch of one.
    batches, one = ((batch,), ()) if a.count(batch) != 1 else ((), batch)
    x, y = a.grouped(*batches, one + rows, depth), b.grouped(*batches, one + depth, columns)
    integers = _multiplied(a, b, x, y, bound)
    labels, (factors, channel) = (*batch, *rows, *columns), _joined(a, b)
    shape = [a.size(label) for label in (*batch, *rows)] + [b.size(label) for label in columns]
    return _Term(integers.reshape(shape), labels, 0, (-bound, bound), a.expressed, factors, channel)


def _multiplied(a: _Term, b: _Term, x: Array, y: Array, bound: int) -> Array:
    """Return the product of ``x`` and ``y``, the integers of two terms as matrices or batches of matrices."""
    if bound >= I32_END or x.size * y.shape[-1] <= _FEW:
        centred_x, centred_y = (np.subtract(z, term.zero, dtype=np.int64) for z, term in ((x, a), (y, b)))
        return np.asarray(np.matmul(centred_x, centred_y))
    left = _kernel_operand(a, x)
    if x.shape[-2] == y.shape[-1] == 1:  # an element-wise product: matrix kernels do not speed it up
        products = qrt_mul(left, _kernel_operand(b, y.reshape(x.shape)))
        return np.asarray(add_up(products._data, -1, np.int32))
    return qrt_matmul(left, _kernel_operand(b, y))._data


def _kernel_operand(term: _Term, integers: Array) -> QuantTensor:
    """Return the integers as a tensor, so that the kernels can read them."""
    dtype = integers.dtype
    if dtype == np.int64:
        dtype = np.dtype(np.int32 if term.magnitude >= 1 << 15 else np.int16)
    low, high = term.bounds
    t = UniformType(dtype, "f32", 1.0, term.zero, storage_min=low, storage_max=high)  # the scale is not used
    return tensor_of(np.ascontiguousarray(integers, dtype), t, integers.shape)


def _joined(a: _Term, b: _Term) -> tuple[tuple[tuple[float, ...], ...], str | None]:
    """Return (scales of the product of two terms, as factors; label of the axis along which the scales vary)."""
    if a.expressed != b.expressed:
        raise QuantTypeError(f"the operands must have the same expressed type, got {a.expressed} and {b.expressed}")
    if a.channel is not None and b.channel is not None:
        if a.channel != b.channel:
            raise QuantTypeError(
                "the operands must not both be per axis along different axes of the result: requantize one of them, "
                "by qrt.requantize(q, t) with a per-layer type t"
            )
        return tuple(s + t for s, t in zip(a.factors, b.factors, strict=True)), a.channel
    return tuple(s + t for s in a.factors for t in b.factors), b.channel if a.channel is None else a.channel


def _sizes(shapes: Sequence[Shape], inputs: Sequence[Labels]) -> dict[str, int]:
    """Return the size of each label; a size of 1 broadcasts to any other."""
    sizes: dict[str, int] = {}
    for shape, labels in zip(shapes, inputs, strict=True):
        repeated = [label for label, times in Counter(labels).items() if times > 1]
        if any(len({n for x, n in zip(labels, shape, strict=True) if x == label}) > 1 for label in repeated):
            raise QuantValueError(f"axes with the same label must have the same size, got an operand of shape {shape}")
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            broadcasts = label[0] == "b"
            if known == 1 and broadcasts:
                sizes[label] = size
            elif size != known and not (size == 1 and broadcasts):
                listed = " and ".join(map(str, shapes))
                raise QuantValueError(
                    f"axes that are multiplied must have the same size, got {known} and {size} in the shapes {listed}"
                )
    return sizes
