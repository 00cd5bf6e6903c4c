"""maximum, minimum as one operation; div, squared_difference as entries of the table of all pairs of bytes."""

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.ops.pairwise import table_of_pairs
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I32, Site, broadcast, broadcast_indices, tensor_type, uniform_type
from qrt.types import IntegerType


def lower_maximum(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the larger values."""
    return _extreme(site, op, "max")


def lower_minimum(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the smaller values."""
    return _extreme(site, op, "min")


def lower_div(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the quotients."""
    return _of_bytes(site, op)


def lower_squared_difference(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the squares."""
    return _of_bytes(site, op)


def _read(site: Site, op: Operation, stage: str) -> tuple[Nest, list[Value]]:
    """A nest over the result, and the element of each operand in it."""
    stored = [site.storage(value) for value in op.operands]
    sizes = [site.extents(value) for value in stored]
    nest = Nest(site, stage, broadcast(site, *sizes))
    at = [broadcast_indices(own, len(nest.kept)) for own in sizes]
    return nest, [nest.read(value, indices) for value, indices in zip(stored, at, strict=True)]


def _extreme(site: Site, op: Operation, name: str) -> Value:
    t = uniform_type(op.operands[0])
    nest, values = _read(site, op, name)
    assert isinstance(t.storage_type, IntegerType)  # programs with other storage do not run
    return nest.finish(nest.emit(f"arith.{name}{'si' if t.is_signed else 'ui'}", values, t.storage_type))[0]


def _of_bytes(site: Site, op: Operation) -> Value:
    types, element = tuple(map(tensor_type, op.operands)), uniform_type(op.results[0])
    site.stage("table")
    name = op.name.removeprefix("qrt.")
    values = table_of_pairs(name, types, tensor_type(op.results[0]))
    table = site.tensor(values, element.storage_type)
    nest, operands = _read(site, op, "lookup")
    indices = []
    for value, operand in zip(operands, op.operands, strict=True):
        byte = nest.extend(value, I32, uniform_type(operand).is_signed)
        byte = nest.emit("arith.andi", (byte, nest.constant(255, I32)), I32)
        indices.append(nest.emit("arith.index_cast", (byte,), INDEX))
    return nest.finish(nest.gather(table, indices))[0]
