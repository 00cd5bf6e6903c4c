"""Replacement of sums that are computed in several operations, such as partial sums, by one reduction."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.affine import Expression, linear_terms, substitute
from qrt.ir.core.attributes import Attribute, DenseArrayAttr
from qrt.ir.dialects.linalg.named_bodies import build_body
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.rewriting.rewrite import replace
from qrt.quantization.forms.elements import Expression as Computed
from qrt.quantization.forms.elements import body_expression, shape_of
from qrt.quantization.forms.pools import pool_of
from qrt.quantization.forms.reductions import axis_reduction_of, reduction_of
from qrt.quantization.layouts.tensors import Sizes, filled, loops, ranked, sizes_of, vector
from qrt.types import IntegerType, TensorType

Index = tuple[Expression, ...]
"""The indices of an element of a tensor, as expressions in the indices of a sum."""
MAX_ELEMENTS = 1 << 16
"""The greatest number of elements that one sum adds here; greater sums stay as they are."""


def write_sum(operation: Operation) -> None:
    """Replace the last of several operations that compute a sum by one reduction of the tensor they sum.

    The reduction is a `linalg.reduce` over whole axes, or a `linalg.pooling_nhwc_sum`. No other operation changes.
    """
    if not isinstance(operation, StructuredOp) or len(operation.results) != 1:
        return
    (value,) = operation.results
    if axis_reduction_of(value, "sum") is not None or pool_of(value, "sum") is not None:
        return
    elements = _elements_of_sum(value)
    if elements is None:
        return
    result = _sum_along_axes(operation, *elements) or _sum_over_windows(operation, *elements)
    if result is not None:
        replace(operation, [result])


def _elements_of_sum(value: Value) -> tuple[Value, list[Index]] | None:
    """Return (tensor, indices) if each element of ``value`` is a sum of elements of one tensor; None otherwise.

    `indices` has the index of each summed element, as expressions in the index of the element of ``value``.
    """
    terms = _terms(value.operation)
    if terms is None:
        return None
    inner = {term: _elements_of_sum(term) for term in dict(terms)}
    elements = [element for term, index in terms for element in _elements_of_term(inner[term], term, index)]
    sources = {source for source, _ in elements}
    if len(sources) != 1 or len(elements) > MAX_ELEMENTS:
        return None
    return sources.pop(), [index for _, index in elements]


def _elements_of_term(
    inner: tuple[Value, list[Index]] | None, term: Value, index: Index
) -> Iterator[tuple[Value, Index]]:
    """Yield (tensor, index) pairs of the elements whose sum is the element of ``term`` at ``index``.

    ``inner`` is the result of `_elements_of_sum` for ``term``. If it is None, the only pair is ``(term, index)``.
    """
    if inner is None:
        yield term, index
        return
    source, indices = inner
    for own in indices:
        yield source, tuple(substitute(expression, index, ()) for expression in own)


def _terms(operation: Operation | None) -> list[tuple[Value, Index]] | None:
    """Return (operand, index) pairs of the elements whose sum is a result element; None if the operation is no sum."""
    if not isinstance(operation, StructuredOp) or len(operation.outputs) != 1:
        return None
    maps, kinds = operation.indexing_maps, operation.iterators
    parallel = [loop for loop, kind in enumerate(kinds) if kind == "parallel"]
    if list(maps[-1].results) != [("d", loop) for loop in parallel]:
        return None
    extents = _extents(operation)
    reduced = [extents.get(loop) for loop, kind in enumerate(kinds) if kind == "reduction"]
    if reduced:
        reduction = reduction_of(operation.results[0])
        added = [0] if reduction is not None and reduction.kind == "sum" else None
    else:
        added = _added(body_expression(operation), operation.input_count)
    sizes = [size for size in reduced if size is not None]
    if not added or len(sizes) < len(reduced) or prod(sizes) * len(added) > MAX_ELEMENTS:
        return None
    terms = []
    for numbers in product(*map(range, sizes)):
        places = iter(numbers)
        indices: list[Expression] = [
            ("d", parallel.index(loop)) if loop in parallel else next(places) for loop in range(len(kinds))
        ]
        for number in added:
            index = tuple(substitute(result, indices, ()) for result in maps[number].results)
            terms.append((operation.operands[number], index))
    return terms


def _extents(operation: StructuredOp) -> dict[int, int | None]:
    """Map each loop whose counter indexes an operand's axis to the size of the axis, which is None if it is dynamic."""
    extents: dict[int, int | None] = {}
    for operand, map in zip(operation.operands, operation.indexing_maps, strict=True):
        for result, size in zip(map.results, shape_of(operand), strict=True):
            if isinstance(result, tuple) and result[0] == "d":
                extents[result[1]] = size
    return extents


def _added(computed: Computed | None, count: int) -> list[int] | None:
    """Return the indices of the inputs that an expression adds up; None if it is not a sum of inputs and zeros.

    Only the first ``count`` inputs may occur. In ``x0 + (0.0 + x2)`` the indices are ``[0, 2]``.
    """
    if computed is None:
        return None
    if computed[0] == "input":
        return [int(str(computed[1]))] if int(str(computed[1])) < count else None
    if computed == ("constant", 0.0):
        return []
    if computed[0] != "arith.addf":
        return None
    parts = [_added(part, count) for part in computed[1:] if isinstance(part, tuple)]
    known = [part for part in parts if part is not None]
    return [number for part in known for number in part] if len(known) == len(parts) else None


# -- reductions --------------------------------------------------------------------------------------------------------


def _sum_along_axes(operation: StructuredOp, source: Value, elements: Sequence[Index]) -> Value | None:
    """Emit the sum of ``source`` along whole axes if it adds these ``elements``; else return None."""
    shape, (value,) = shape_of(source), operation.results
    axes = [axis for axis in range(len(shape)) if isinstance(elements[0][axis], int)]
    others: Index = tuple(("d", number) for number in range(len(shape) - len(axes)))
    if not axes or len(others) != len(shape_of(value)):
        return None
    if any(tuple(index[axis] for axis in range(len(shape)) if axis not in axes) != others for index in elements):
        return None
    if not _is_each_once([tuple(index[axis] for axis in axes) for index in elements], [shape[axis] for axis in axes]):
        return None
    builder = Builder(operation)
    sizes = sizes_of(builder, source)
    start = filled(builder, 0.0, [size for axis, size in enumerate(sizes) if axis not in axes], source)
    element = ranked(source).element
    region = build_body(lambda body, x, total: body.value("arith.addf", [total, x], element), [element] * 2, False)
    attributes: dict[str, Attribute] = {"dimensions": DenseArrayAttr(IntegerType(64), tuple(axes))}
    return builder.emit("linalg.reduce", [source, start], [start.type], attributes, [region]).results[0]


def _sum_over_windows(operation: StructuredOp, source: Value, elements: Sequence[Index]) -> Value | None:
    """Emit the sums over windows of the NHWC images ``source`` if they add these ``elements``; else return None."""
    shape, (value,) = shape_of(source), operation.results
    result_shape = shape_of(value)
    if len(shape) != 4 or len(result_shape) != 4:
        return None
    strides, kernel, taps = [], [], []
    for axis in (1, 2):
        terms = [linear_terms(index[axis]) for index in elements]
        known = [own for own in terms if own is not None and set(own) <= {1, ("d", axis)}]
        factors = {own.get(("d", axis), 0) for own in known}
        if len(known) < len(terms) or len(factors) > 1:
            return None
        taps.append([own.get(1, 0) for own in known])
        strides.append(max(factors) if result_shape[axis] != 1 else 1)  # the only window begins at 0
        kernel.append(max(taps[-1]) + 1)
        size, count = shape[axis], result_shape[axis]
        if size is None or min(strides) < 1 or size < kernel[-1] or (size - kernel[-1]) // strides[-1] + 1 != count:
            return None
    if any((index[0], index[3]) != (("d", 0), ("d", 3)) for index in elements):
        return None
    if not _is_each_once(list(zip(*taps, strict=True)), kernel):
        return None
    builder = Builder(operation)
    sizes: Sizes = sizes_of(builder, source)
    start = filled(builder, 0.0, [sizes[0], *(size or 0 for size in result_shape[1:3]), sizes[3]], source)
    window = builder.value("tensor.empty", [], TensorType(tuple(kernel), ranked(source).element))
    attributes = {"strides": vector(strides), "dilations": vector([1, 1])}
    return loops(builder, "linalg.pooling_nhwc_sum", [source, window], start, attributes)


def _is_each_once(places: Sequence[Index], sizes: Sequence[int | None]) -> bool:
    """Return True if ``places`` has every index of an array with the shape ``sizes`` exactly once."""
    if None in sizes or len(places) != prod(size or 0 for size in sizes):
        return False
    return set(places) == set(product(*(range(size or 0) for size in sizes)))
