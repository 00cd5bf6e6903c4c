"""gather and gather_nd: copies of the elements at the positions in ``indices``, the second operand.

``gather`` takes the elements at these positions along ``axis``; the first ``batch_dims`` axes of both operands
correspond to each other. For ``gather_nd`` each row of ``indices`` (its last axis) is one position: an index along each
of the first axes. An index out of range is an error at run time.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt._ext.kernels import bind_gather
from qrt.errors import UndefinedError, shown
from qrt.ops.checks import Dims, check_no_blocks, ranked_shape, refuse_channels
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    any_element,
    checked_result,
    element_dtype,
    fail,
    one_axis,
    static_shape,
)
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand, Traits
from qrt.types import IntegerType, TensorType, Type, UniformType


def _operands(op: str, types: Types) -> tuple[Type, Dims, Dims]:
    """Return (element type of x, shape of x, shape of the indices), after checking both operands."""
    x = any_element(types[0], op, "x")
    indices = index_shape(op, types)
    shape = ranked_shape(op, types, 0, "x")
    check_no_blocks(op, types, "'x'", x)
    return x, shape, indices


def index_shape(op: str, types: Types) -> Dims:
    """Return the shape of the second operand, after checking that it is a ranked tensor of i32 or i64."""
    indices = types[1]
    if not isinstance(indices.element, IntegerType) or indices.element.width not in (32, 64):
        fail(op, f"'indices' must have elements of i32 or i64, got {indices.element}", types)
    return ranked_shape(op, types, 1, "indices")


def gathered_axes(types: Types, attributes: Attributes) -> tuple[int, int]:
    """Return the attributes (``axis`` counted from 0, ``batch_dims``) after checking them."""
    axis, batch = one_axis("gather", types, attributes), attributes["batch_dims"]
    if not isinstance(batch, (int, np.integer)) or not 0 <= batch <= min(axis, types[1].rank or 0):
        fail(
            "gather",
            f"'batch_dims' must be an integer from 0 to {min(axis, types[1].rank or 0)}, got {shown(batch)}",
            types,
        )
    return axis, int(batch)


def _infer_gather(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, data, indices = _operands("gather", types)
    axis, batch = gathered_axes(types, attributes)
    for d, (n, m) in enumerate(zip(data[:batch], indices[:batch], strict=True)):
        if n is not None and m is not None and n != m:
            fail("gather", f"'x' and 'indices' must have the same size along axis {d}, got {n} and {m}", types)
    if isinstance(x, UniformType) and x.axis is not None and x.axis >= axis:
        if x.axis == axis:
            refuse_channels("gather", types, x)
        x = x.with_(axis=x.axis + len(indices) - batch - 1)
    return checked_result("gather", (*data[:axis], *indices[batch:], *data[axis + 1 :]), x)


def check_positions(op: str, indices: Array, sizes: Sequence[int]) -> None:
    """Raise UndefinedError for an index out of range: entry ``i`` of the last axis must be below ``sizes[i]``."""
    wrong = (indices < 0) | (indices >= np.array(sizes, np.int64))
    if wrong.any():
        raise UndefinedError(
            f"{op}: 'indices' must be at least 0 and less than the sizes {list(sizes)} of the indexed axes of 'x', got "
            f"{indices[wrong].flat[0]}"
        )


def _reference_gather(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, indices = arrays
    axis, batch = gathered_axes(types, attributes)
    check_positions("gather", indices[..., None], [x.shape[axis]])
    taken = np.empty(static_shape(result, "gather"), x.dtype)
    for at in np.ndindex(*x.shape[:batch]):
        taken[at] = x[at].take(indices[at], axis=axis - batch)
    return taken


def _bind_gather(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    data, indices = static_shape(types[0], "gather"), static_shape(types[1], "gather")
    axis, batch = gathered_axes(types, attributes)
    return bind_gather(
        dtype=element_dtype(types[0].element),
        index_dtype=element_dtype(types[1].element),
        batches=prod(data[:batch]),
        outer=prod(data[batch:axis]),
        sizes=data[axis : axis + 1],
        count=prod(indices[batch:]),
        inner=prod(data[axis + 1 :]),
    )


def _infer_gather_nd(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, data, indices = _operands("gather_nd", types)
    depth = indices[-1] if indices else None
    if depth is None or depth > len(data):
        fail(
            "gather_nd",
            f"the last axis of 'indices' must have a static size of at most {len(data)}, the rank of 'x', got "
            f"{types[1]}",
            types,
        )
    if isinstance(x, UniformType) and x.axis is not None:
        if x.axis < depth:
            refuse_channels("gather_nd", types, x)
        x = x.with_(axis=x.axis - depth + len(indices) - 1)
    return checked_result("gather_nd", (*indices[:-1], *data[depth:]), x)


def _reference_gather_nd(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, indices = arrays
    depth = indices.shape[-1]
    check_positions("gather_nd", indices, x.shape[:depth])
    taken: Array = x[tuple(np.moveaxis(indices, -1, 0))] if depth else np.broadcast_to(x, static_shape(result, ""))
    return taken


def _bind_gather_nd(
    types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    data, indices = static_shape(types[0], "gather_nd"), static_shape(types[1], "gather_nd")
    depth = indices[-1]
    return bind_gather(
        dtype=element_dtype(types[0].element),
        index_dtype=element_dtype(types[1].element),
        batches=1,
        outer=1,
        sizes=data[:depth],
        count=prod(indices[:-1]),
        inner=prod(data[depth:]),
    )


_X, _INDICES = Operand("x", note="of any element type"), Operand("indices", note="i32 or i64")

FAMILIES = (
    OpFamily(
        Declaration(
            "gather",
            operands=(_X, _INDICES),
            attributes=(Attribute("axis", "integer", 0), Attribute("batch_dims", "integer", 0)),
            result=KEPT,
            public=False,
        ),
        infer=_infer_gather,
        reference=_reference_gather,
        bind=_bind_gather,
        traits=Traits(is_movement=True),
    ),
    OpFamily(
        Declaration("gather_nd", operands=(_X, _INDICES), result=KEPT, public=False),
        infer=_infer_gather_nd,
        reference=_reference_gather_nd,
        bind=_bind_gather_nd,
        traits=Traits(is_movement=True),
    ),
)
