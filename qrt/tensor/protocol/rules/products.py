"""NumPy's products of tensors, each as the labels of the axes that are multiplied, summed over and kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Shape
from qrt.tensor.protocol.contractions import contracted
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.exact import GIVE_VALUES, axis_of, of_tensors, refuse_others, require_tensors
from qrt.tensor.protocol.subscripts import Labels, interleaved, of_text, parsed
from qrt.tensor.protocol.table import Function, implements, name_of
from qrt.tensor.quant_tensor import QuantTensor

Shapes = Sequence[Shape]
Contraction = tuple[Sequence[Labels], Labels]
"""The labels of the axes of each operand, and those of the result."""


@of_tensors(np.einsum)
def einsum(*operands: Any, out: Any = None, dtype: Any = None, optimize: Any = False, **others: Any) -> Any:
    """A sum of products, by labels of axes."""
    if others:
        refuse_others("np.einsum", {key: value for key, value in others.items() if key != "casting"})
    subscripts, tensors = interleaved(operands)
    require_tensors("np.einsum", *tensors)
    return contracted("np.einsum", tensors, _of_subscripts, subscripts, dtype=dtype, out=out)


def _of_subscripts(name: str, shapes: Shapes, subscripts: Any) -> Contraction:
    return parsed(of_text(subscripts) if isinstance(subscripts, str) else subscripts, [len(shape) for shape in shapes])


@implements(np.einsum_path, kind="sums")
def _einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order in which NumPy would contract operands of these shapes."""
    arrays = [stored(x) if isinstance(x, QuantTensor) else x for x in operands]
    return np.einsum_path(*arrays, optimize=optimize, einsum_call=einsum_call)


def _letters(prefix: str, count: int) -> Labels:
    """Return labels of neighbouring axes, the last of which is number 1: batches are matched from the right."""
    return tuple(f"{prefix}{i}" for i in range(count, 0, -1))


def _of_two(function: Function, labels_of: Any, summary: str, *, are_lines: bool = False, **options: Any) -> None:
    """Register a product of two tensors, or of their elements in one line each. ``labels_of`` takes the name, the
    shapes, and the ``options`` of NumPy's function, whose defaults these are."""
    name, third = name_of(function), next(iter(options), "out")

    def rule(a: Any, b: Any, *rest: Any, **named: Any) -> Any:
        require_tensors(name, a, b)
        given = options | {"out": None, "dtype": None} | dict(zip((third,), rest, strict=False)) | named
        refuse_others(name, {key: value for key, value in given.items() if key not in (*options, "out", "dtype")})
        operands = [q.reshape(-1) if are_lines and q.ndim != 1 else q for q in (a, b)]
        chosen = [given[key] for key in options]
        return contracted(name, operands, labels_of, *chosen, dtype=given["dtype"], out=given["out"])

    rule.__doc__ = summary
    of_tensors(function)(rule)


def _ranks(name: str, shapes: Shapes, least: int, other_least: int) -> tuple[int, int]:
    first, second = shapes
    if len(first) < least or len(second) < other_least:
        raise QuantValueError(f"{name}: ranks of at least {least} and {other_least} are needed, got {first}, {second}")
    return len(first), len(second)


def _of_dot(name: str, shapes: Shapes) -> Contraction:
    m, n = _ranks(name, shapes, 0, 0)
    if 0 in (m, n):
        return _of_outer(name, shapes)
    rows, columns, batch = _letters("m", m - 1), ("n",) * (n > 1), _letters("b", max(n - 2, 0))
    return ((*rows, "k"), (*batch, "k", *columns)), (*rows, *batch, *columns)


def _of_outer(name: str, shapes: Shapes) -> Contraction:
    if name == "np.linalg.outer" and [len(shape) for shape in shapes] != [1, 1]:
        raise QuantValueError(f"{name}: vectors are needed, got {shapes[0]} and {shapes[1]}")
    left, right = (_letters(*side) for side in zip("mn", _ranks(name, shapes, 0, 0), strict=True))
    return (left, right), left + right


def _of_inner(name: str, shapes: Shapes) -> Contraction:
    m, n = _ranks(name, shapes, 0, 0)
    if 0 in (m, n):
        return _of_outer(name, shapes)
    rows, columns = _letters("m", m - 1), _letters("n", n - 1)
    return ((*rows, "k"), (*columns, "k")), rows + columns


def _of_batches(left: Labels, right: Labels) -> Any:
    """Return what labels the last axes so; those before them are a batch, and broadcast."""

    def labels_of(name: str, shapes: Shapes) -> Contraction:
        m, n = _ranks(name, shapes, len(left), len(right))
        batches = [_letters("b", rank - len(core)) for rank, core in ((m, left), (n, right))]
        output = (*max(batches, key=len), *(x for x in left + right if x != "k"))
        return (batches[0] + left, batches[1] + right), output

    return labels_of


def _of_vecdot(name: str, shapes: Shapes, axis: Any) -> Contraction:
    ranks = _ranks(name, shapes, 1, 1)
    batches = [_letters("b", rank - 1) for rank in ranks]
    places = [axis_of(name, axis, rank) for rank in ranks]
    inputs = [(*batch[:place], "k", *batch[place:]) for batch, place in zip(batches, places, strict=True)]
    return inputs, max(batches, key=len)


def _of_pairs(name: str, shapes: Shapes, axes: Any) -> Contraction:
    m, n = _ranks(name, shapes, 0, 0)
    first, second = _contracted_axes(name, axes, m, n)
    left, right = list(_letters("m", m)), list(_letters("n", n))
    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        left[x] = right[y] = f"k{i}"
    sides = ((left, first), (right, second))
    return (tuple(left), tuple(right)), tuple(x for labels, ks in sides for d, x in enumerate(labels) if d not in ks)


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


_of_two(np.dot, _of_dot, "The product over the last axis of one tensor and the last but one of the other.")
_of_two(np.inner, _of_inner, "The product over the last axes.")
_of_two(np.outer, _of_outer, "All products of two lines of elements.", are_lines=True)
_of_two(np.linalg.outer, _of_outer, "All products of the elements of two vectors.")
_of_two((np.multiply, "outer"), _of_outer, "All products of the elements of two tensors.")
_of_two(np.vdot, _of_inner, "The sum of the products of two lines of elements.", are_lines=True)
_of_two(np.vecdot, _of_vecdot, "The products of vectors along an axis, summed.", axis=-1)
_of_two(np.linalg.vecdot, _of_vecdot, "The products of vectors along an axis, summed.", axis=-1)
_of_two(np.matvec, _of_batches(("m", "k"), ("k",)), "Matrices times vectors.")
_of_two(np.vecmat, _of_batches(("k",), ("k", "n")), "Vectors times matrices.")
_of_two(np.tensordot, _of_pairs, "The product over pairs of axes.", axes=2)
_of_two(np.linalg.tensordot, _of_pairs, "The product over pairs of axes.", axes=2)


@of_tensors(np.linalg.multi_dot)
def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of a chain of matrices."""
    name, given = "np.linalg.multi_dot", tuple(arrays)
    require_tensors(name, *given)
    ends = (0, len(given) - 1)
    if len(given) < 2 or any(q.ndim != 2 and not (q.ndim == 1 and i in ends) for i, q in enumerate(given)):
        raise QuantValueError(f"{name}: two matrices or more are needed, the first and the last may be vectors")
    return contracted(name, given, _of_chain, out=out)


def _of_chain(name: str, shapes: Shapes) -> Contraction:
    """Each has the last axis of the one before it as its first; a vector has one axis."""
    inputs: list[Labels] = [(f"k{i}", f"k{i + 1}") for i in range(len(shapes))]
    inputs[0] = inputs[0] if len(shapes[0]) == 2 else inputs[0][1:]
    inputs[-1] = inputs[-1] if len(shapes[-1]) == 2 else inputs[-1][:1]
    return inputs, inputs[0][:-1] + inputs[-1][1:]


@of_tensors(np.linalg.matrix_power)
def _matrix_power(a: Any, n: Any = 1) -> Any:
    """The product of a square matrix by itself, 1 to 64 times."""
    name = "np.linalg.matrix_power"
    require_tensors(name, a)
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= 64:
        raise QuantTypeError(f"{name}: n must be an integer from 1 to 64, got {shown(n)}: {GIVE_VALUES}")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise QuantValueError(f"{name}: square matrices are needed, got shape {a.shape}")
    if n == 1:
        return a.copy()
    return contracted(name, [a] * int(n), _of_powers)


def _of_powers(name: str, shapes: Shapes) -> Contraction:
    batch = _letters("b", len(shapes[0]) - 2)
    return [(*batch, f"k{i}", f"k{i + 1}") for i in range(len(shapes))], (*batch, "k0", f"k{len(shapes)}")
