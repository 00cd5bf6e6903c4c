"""reshape, transpose, concat: storage moves."""

from collections.abc import Sequence

import numpy as np

from qrt.dialects.tensor.slices import concat_type
from qrt.errors import QuantTypeError
from qrt.ir import Attribute, Block, Builder, DenseArrayAttr, IntegerAttr, Operation, Region, Value
from qrt.ops.core import Attributes, one_axis
from qrt.ops.movement import axes_order, concat_pieces, open_axes
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.casts import requantized
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I64, Site, tensor_type, uniform_type
from qrt.types import TensorType, UniformType


def lower_reshape(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError where an open dimension has no known source."""
    stored, shape = site.storage(op.operands[0]), tensor_type(op.results[0]).shape or ()
    site.stage("reshape")
    type = TensorType(shape, tensor_type(stored).element)
    if None not in shape:
        sizes = site.tensor(np.array(shape, np.int64), INDEX)
        return site.value("tensor.reshape", (stored, sizes), type)
    axes = open_axes((tensor_type(op.operands[0]),), shape, attributes)
    if axes.count(-1) > (0 not in shape):
        raise QuantTypeError(f"the shape of {op.results[0].type} must be known, but for one dimension")
    opened = {axis: site.index(site.extent(stored, axis)) for axis in axes if axis >= 0}
    if -1 in axes:
        opened[-1] = _open_extent(site, stored, shape, [opened[axis] for axis in axes if axis >= 0])
    sources = iter(axes)
    extents = [opened[next(sources)] if size is None else site.index(size) for size in shape]
    sizes = site.value("tensor.from_elements", extents, TensorType((len(shape),), INDEX))
    return site.value("tensor.reshape", (stored, sizes), type)


def _open_extent(site: Site, tensor: Value, shape: tuple[int | None, ...], opened: Sequence[Value]) -> Value:
    """The size of a dimension that is left, computed from the number of a tensor's elements."""
    total = site.scalar(1, INDEX)
    for extent in site.extents(tensor):
        total = site.value("arith.muli", (total, site.index(extent)), INDEX)
    known = int(np.prod([size for size in shape if size is not None], dtype=np.int64))
    others = site.scalar(known, INDEX)
    for size in opened:
        others = site.value("arith.muli", (others, size), INDEX)
    if opened:  # one that is 0 divides nothing
        others = site.value("arith.maxsi", (others, site.scalar(1, INDEX)), INDEX)
    return site.value("arith.divsi", (total, others), INDEX)


def lower_transpose(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result: a linalg.transpose, or loops that copy."""
    stored = site.storage(op.operands[0])
    site.stage("transpose")
    order = axes_order((tensor_type(op.operands[0]),), attributes)
    if list(order) == sorted(order):
        return stored
    sizes = site.extents(stored)
    extents = [sizes[axis] for axis in order]
    if site.loops:
        nest = Nest(site, "transpose", extents)
        return nest.finish(nest.read(stored, [nest.loops[order.index(axis)] for axis in range(len(order))]))[0]
    element = tensor_type(stored).element
    target = site.empty(extents, element)
    body = Block([element, element], site.builder.location)
    Builder(body).emit("linalg.yield", body.arguments[:1])
    permutation: dict[str, Attribute] = {"permutation": DenseArrayAttr(I64, tuple(order))}
    operands = (stored, target)
    return site.builder.emit("linalg.transpose", operands, [target.type], permutation, [Region([body])]).results[0]


def lower_concat(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result; operands of another type than the result's are requantized first."""
    types = tuple(map(tensor_type, op.operands))
    parts = []
    for x, piece in zip(op.operands, concat_pieces(types, tensor_type(op.results[0]), attributes), strict=True):
        if isinstance(piece.element, UniformType) and uniform_type(x) is not piece.element:
            parts.append(requantized(site, x, piece.element, attributes["requant"]))
        else:
            parts.append(site.storage(x))
    site.stage("concat")
    axis = one_axis("concat", types, attributes)
    type = concat_type([tensor_type(part) for part in parts], axis)
    return site.value("tensor.concat", parts, type, dim=IntegerAttr(axis, I64))
