"""scatter_nd: a copy of a tensor in which elements are replaced, or added to, at the positions in ``indices``.

Each row of ``indices`` is a position: an index along each of the first axes of ``x``. The row's part of ``updates``
replaces the element at the position, or the slice along the remaining axes. With ``reduction = "add"`` it is added
instead. Rows are applied in order: if several have the same position, the last one replaces, or all are added one after
the other. An index out of range is an error at run time.
"""

from collections.abc import Sequence

import numpy as np

from qrt.errors import shown
from qrt.ops.checks import check_no_blocks, check_shape, ranked_shape, refuse_channels
from qrt.ops.core import Array, Attributes, OpFamily, Types, any_element, checked_result, fail
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand
from qrt.ops.gather import check_positions, index_shape
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

REDUCTIONS = ("none", "add")


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    name, reduction = "scatter_nd", attributes["reduction"]
    x, updates = any_element(types[0], name, "x"), types[2]
    indices = index_shape(name, types)
    shape = ranked_shape(name, types, 0, "x")
    if reduction not in REDUCTIONS:
        fail(name, f"'reduction' must be 'none' or 'add', got {shown(reduction)}", types)
    if reduction == "add" and not is_number(x):
        elements = "elements of f32, f64 or integers of 8 bits or more"
        fail(name, f"'x' must have {elements} with reduction = 'add', got {x}", types)
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
    """Return True for element types to which ``reduction = "add"`` applies: f32, f64 and integers of 8 to 64 bits."""
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
    if attributes["reduction"] == "add":
        with np.errstate(all="ignore"):
            np.add.at(updated, tuple(rows.T), parts)
    else:
        last = {place: row for row, place in enumerate(map(tuple, rows.tolist()))}
        updated[tuple(np.array(list(last), np.int64).reshape(-1, depth).T)] = parts[list(last.values())]
    return updated


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
