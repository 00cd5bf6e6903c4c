"""scatter_nd: a copy of a tensor in which elements are replaced, or combined with updates, at positions.

Each row of ``indices`` is a position: an index along each of the first axes of ``x``. The row's part of ``updates``
replaces the element at the position, or the slice along the remaining axes. ``reduction`` combines them instead: "add"
and "mul" are the sum and the product, in which integers wrap. "max" is the element if it is greater than the update,
and otherwise the update; "min" is the element if it is less. An update therefore replaces a NaN. Rows are applied in
order: if several have the same position, the last one replaces, or all are combined one after the other. An index out
of range is an error at run time.
"""

from collections.abc import Sequence

import numpy as np

from qrt.errors import shown
from qrt.ops.checks import check_no_blocks, check_shape, ranked_shape, refuse_channels
from qrt.ops.core import Array, Attributes, OpFamily, Types, any_element, checked_result, fail
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand
from qrt.ops.gather import check_positions, index_shape
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

REDUCTIONS = ("none", "add", "mul", "max", "min")


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    name, reduction = "scatter_nd", attributes["reduction"]
    x, updates = any_element(types[0], name, "x"), types[2]
    indices = index_shape(name, types)
    shape = ranked_shape(name, types, 0, "x")
    if reduction not in REDUCTIONS:
        fail(name, f"'reduction' must be one of {', '.join(REDUCTIONS)}, got {shown(reduction)}", types)
    if reduction != "none" and not is_number(x):
        elements = "elements of f32, f64 or integers of 8 bits or more"
        fail(name, f"'x' must have {elements} with reduction = {reduction!r}, got {x}", types)
    depth = indices[-1] if indices else None
    if depth is None or not 0 < depth <= len(shape):
        limits = f"a static size from 1 to {len(shape)}, the rank of 'x'"
        fail(name, f"the last axis of 'indices' must have {limits}, got {types[1]}", types)
    wanted = (*indices[:-1], *shape[depth:])
    element = _element_of_updates(x, types, depth, len(indices) - 1 - depth)
    if updates.element != element:
        fail(name, f"'updates' must have the element type {element}, got {updates.element}", types)
    check_shape(name, types, 2, "updates", wanted)
    return checked_result(name, shape, x)


def _element_of_updates(x: Type, types: Types, depth: int, moved: int) -> Type:
    """Return the element type that the updates must have, given the element type of x.

    The first ``depth`` axes of x are indexed. Axis ``d`` after them corresponds to axis ``d + moved`` of the updates,
    and so does a channel axis. Raise QuantTypeError if the channel axis is indexed.
    """
    if not isinstance(x, UniformType) or x.is_per_layer:
        return x
    check_no_blocks("scatter_nd", types, "'x'", x)
    assert x.axis is not None
    if x.axis < depth:
        refuse_channels("scatter_nd", types, x)
    return x.with_(axis=x.axis + moved)


def is_number(element: object) -> bool:
    """Return True for element types of which elements are combined: f32, f64 and integers of 8 to 64 bits."""
    if isinstance(element, FloatType):
        return element.name in ("f32", "f64")
    return isinstance(element, IntegerType) and element.width in (8, 16, 32, 64)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, indices, updates = arrays
    depth = indices.shape[-1]
    check_positions("scatter_nd", indices, x.shape[:depth])
    updated = np.array(x)
    rows = indices.reshape(-1, depth)
    parts = updates.reshape(len(rows), *x.shape[depth:])
    reduction = attributes["reduction"]
    if reduction in ("add", "mul"):
        with np.errstate(all="ignore"):
            (np.add if reduction == "add" else np.multiply).at(updated, tuple(rows.T), parts)
    elif reduction != "none":
        _keep_extremes(updated, rows, parts, np.greater if reduction == "max" else np.less)
    else:
        last = {place: row for row, place in enumerate(map(tuple, rows.tolist()))}
        updated[tuple(np.array(list(last), np.int64).reshape(-1, depth).T)] = parts[list(last.values())]
    return updated


def _keep_extremes(updated: Array, rows: Array, parts: Array, is_beyond: np.ufunc) -> None:
    """Replace, row by row, the elements of ``updated`` that are not beyond the update.

    The first rows of all positions are applied together, then the second rows, and so on.
    """
    places = np.ravel_multi_index(tuple(rows.T), updated.shape[: rows.shape[1]]) if len(rows) else np.empty(0, np.int64)
    order = np.argsort(places, kind="stable")
    turns = np.empty(len(rows), np.int64)
    turns[order] = np.arange(len(rows)) - np.searchsorted(places[order], places[order])
    by_turn = np.argsort(turns, kind="stable")
    starts = np.flatnonzero(np.diff(turns[by_turn], prepend=-1))
    for of_turn in np.split(by_turn, starts[1:]) if len(rows) else ():
        at = tuple(rows[of_turn].T)
        updated[at] = np.where(is_beyond(updated[at], parts[of_turn]), updated[at], parts[of_turn])


FAMILIES = (
    OpFamily(
        Declaration(
            "scatter_nd",
            operands=(
                Operand("x", note="of any element type"),
                Operand("indices", note="i32 or i64"),
                Operand("updates"),
            ),
            attributes=(Attribute("reduction", "choice", "none", choices=REDUCTIONS),),
            result=KEPT,
            public=False,
        ),
        infer=_infer,
        reference=_reference,
    ),
)
