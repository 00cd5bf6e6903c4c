"""NumPy's products of tensors, each as the labels of the axes that are multiplied, summed over and kept."""

from collections import Counter
from collections.abc import Callable, Sequence
from inspect import signature
from operator import index
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Shape
from qrt.tensor.protocol.contractions import Labels, contracted
from qrt.tensor.protocol.exact import NO_DTYPE, axis_of, refuse_others, require_tensors
from qrt.tensor.protocol.table import Function, enter, implements

Shapes = Sequence[Shape]
Contraction = tuple[Sequence[Labels], Labels]
"""The labels of the axes of each operand, and those of the result."""


@implements(np.einsum, kind="sums", operands=0)
def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False, casting: Any = "safe", **others: Any
) -> Any:
    """A sum of products, by labels of axes."""
    refuse_others(others)
    *subscripts, tensors = _subscripts_of(operands)
    require_tensors(*tensors)
    return contracted(tensors, _of_subscripts, *subscripts, dtype=dtype, out=out)


# ----------------------------------------------------------------------------------------------------------- subscripts

_OTHERS = "..."
"""It stands among labels for axes without one."""


def _subscripts_of(operands: tuple[Any, ...]) -> tuple[list[Labels], Labels | None, Sequence[Any]]:
    """Return (labels of each operand, those of the result if given, tensors) of both forms: ``"ij,jk->ik", a, b`` and
    ``a, [0, 1], b, [1, 2], [0, 2]``."""
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
        raise QuantTypeError(f"{shown(text)} is no list of subscripts")
    return tuple(dots if label == "." else f"b{label}" for label in before + dots[:1] + after)


def _of_list(given: Any) -> Labels:
    try:
        return tuple(_OTHERS if x is ... else f"b{index(x):09}" for x in given)
    except TypeError:
        raise QuantTypeError(f"subscripts are text or lists of integers, got {shown(given)}") from None


def _of_subscripts(shapes: Shapes, inputs: list[Labels], output: Labels | None) -> Contraction:
    """Return the labels with an ellipsis spelled out as axes counted from the last. All of them broadcast."""
    if len(inputs) != len(shapes) or not shapes:
        raise QuantValueError(f"subscripts for {len(inputs)} operands are given, and {len(shapes)} operands")
    gaps = [_gap(labels, len(shape)) for labels, shape in zip(inputs, shapes, strict=True)]
    whole = [_spelled_out(labels, gap) for labels, gap in zip(inputs, gaps, strict=True)]
    batch = max(gaps, key=len)
    if output is None:
        times = Counter(label for labels in inputs for label in labels if label != _OTHERS)
        return whole, (*batch, *sorted(label for label, n in times.items() if n == 1))
    result = _spelled_out(output, batch)
    known = {label for labels in whole for label in labels}
    if len(set(result)) != len(result) or not known.issuperset(result) or (batch and _OTHERS not in output):
        raise QuantValueError("the result must have labels of the operands, each once, and their ellipsis")
    return whole, result


def _gap(labels: Labels, rank: int) -> Labels:
    named = sum(label != _OTHERS for label in labels)
    if named > rank or (named < rank and _OTHERS not in labels):
        raise QuantValueError(f"{named} subscripts are given for an operand of rank {rank}")
    return tuple(f"b.{i}" for i in range(rank - named, 0, -1))


def _spelled_out(labels: Labels, gap: Labels) -> Labels:
    return tuple(x for label in labels for x in (gap if label == _OTHERS else (label,)))


# ---------------------------------------------------------------------------------------------------------- two tensors


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
    return _of_pairs(shapes, ([-1], [max(-2, -len(shapes[1]))]) if all(shapes) else 0)


def _of_inner(shapes: Shapes) -> Contraction:
    return _of_pairs(shapes, ([-1], [-1]) if all(shapes) else 0)


def _of_outer(shapes: Shapes) -> Contraction:
    return _of_pairs(shapes, 0)


def _of_vectors(shapes: Shapes) -> Contraction:
    if [len(shape) for shape in shapes] != [1, 1]:
        raise QuantValueError(f"vectors are needed, got {shapes[0]} and {shapes[1]}")
    return _of_outer(shapes)


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
