"""NumPy's products of tensors, each as the labels of the axes that are multiplied, summed over and kept."""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from qrt.errors import QuantValueError, shown
from qrt.ops.core import Shape
from qrt.tensor.protocol.contractions import Labels, contracted
from qrt.tensor.protocol.exact import NO_DTYPE, axis_of, refuse_others, require_tensors
from qrt.tensor.protocol.subscripts import parsed, subscripts_of
from qrt.tensor.protocol.table import Function, enter, implements

Shapes = Sequence[Shape]
Contraction = tuple[Sequence[Labels], Labels]
"""The labels of the axes of each operand, and those of the result."""


@implements(np.einsum, kind="sums", operands=0)
def einsum(*operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False, **others: Any) -> Any:
    """A sum of products, by labels of axes."""
    if others:
        refuse_others({key: value for key, value in others.items() if key != "casting"})
    *subscripts, tensors = subscripts_of(operands)
    require_tensors(*tensors)
    return contracted(tensors, _of_subscripts, *subscripts, dtype=dtype, out=out)


def _of_subscripts(shapes: Shapes, inputs: Any, output: Any) -> Contraction:
    whole, result = parsed(inputs, output, [len(shape) for shape in shapes])
    every = [tuple(f"b{label}" for label in labels) for labels in (*whole, result)]  # all of them broadcast
    return every[:-1], every[-1]


def _letters(prefix: str, count: int) -> Labels:
    """Return labels of neighbouring axes, the last of which is number 1: batches are matched from the right."""
    return tuple(f"{prefix}{i}" for i in range(count, 0, -1))


def _of_two(function: Function, labels_of: Any) -> Callable[..., Any]:
    """Return the rule of a product of two tensors. ``labels_of`` takes the shapes and the options of NumPy's function,
    whose defaults are its own."""
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
        raise QuantValueError(f"ranks of at least {least} and {other_least} are needed, got {first}, {second}")
    return len(first), len(second)


def _of_dot(shapes: Shapes) -> Contraction:
    m, n = _ranks(shapes, 0, 0)
    if 0 in (m, n):
        return _of_outer(shapes)
    rows, columns, batch = _letters("m", m - 1), ("n",) * (n > 1), _letters("b", max(n - 2, 0))
    return ((*rows, "k"), (*batch, "k", *columns)), (*rows, *batch, *columns)


def _of_vectors(shapes: Shapes) -> Contraction:
    if [len(shape) for shape in shapes] != [1, 1]:
        raise QuantValueError(f"vectors are needed, got {shapes[0]} and {shapes[1]}")
    return _of_outer(shapes)


def _of_outer(shapes: Shapes) -> Contraction:
    left, right = (_letters(*side) for side in zip("mn", _ranks(shapes, 0, 0), strict=True))
    return (left, right), left + right


def _of_inner(shapes: Shapes) -> Contraction:
    m, n = _ranks(shapes, 0, 0)
    if 0 in (m, n):
        return _of_outer(shapes)
    rows, columns = _letters("m", m - 1), _letters("n", n - 1)
    return ((*rows, "k"), (*columns, "k")), rows + columns


def _of_batches(left: Labels, right: Labels) -> Any:
    """Return what labels the last axes so; those before them are a batch, and broadcast."""

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
    m, n = _ranks(shapes, 0, 0)
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
        raise QuantValueError(f"axes {shown(axes)} do not fit tensors of ranks {m} and {n}")
    return first, second


_ON_LINES = (np.outer, np.vdot)
"""Products of the elements of each tensor in one line."""
_ROWS: dict[Any, tuple[Any, str]] = {
    np.dot: (_of_dot, "The product over the last axis of one tensor and the last but one of the other."),
    np.inner: (_of_inner, "The product over the last axes."),
    np.outer: (_of_outer, "All products of two lines of elements."),
    np.linalg.outer: (_of_vectors, "All products of the elements of two vectors."),
    (np.multiply, "outer"): (_of_outer, "All products of the elements of two tensors."),
    np.vdot: (_of_inner, "The sum of the products of two lines of elements."),
    (np.vecdot, np.linalg.vecdot): (_of_vecdot, "The products of vectors along an axis, summed."),
    "matvec": (_of_batches(("m", "k"), ("k",)), "Matrices times vectors."),
    "vecmat": (_of_batches(("k",), ("k", "n")), "Vectors times matrices."),
    (np.tensordot, np.linalg.tensordot): (_of_pairs, "The product over pairs of axes."),
}
enter("sums", _of_two, _ROWS, operands=2)
