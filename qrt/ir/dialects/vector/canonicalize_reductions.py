"""Upstream's canonicalization patterns of `vector` reductions, except where they change a value."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.attribute_kinds import ENUMERATIONS
from qrt.ir.core.matching import defining_op
from qrt.ir.dialects.arith.scalars import splat_is
from qrt.ir.dialects.vector.reductions import combination, kind_of
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.dialects.vector.values import extract
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import FloatType, IntegerType, Type, VectorType


def _first(builder: Builder, vector: Value) -> Value:
    return extract(builder, vector, [0] * len(shape_of(vector.type)))


def _is_arithmetic(element: Type) -> bool:
    """Return True if the ops of `arith` accept the element type: a float, index or signless integer."""
    return not isinstance(element, IntegerType) or element.is_signless


def one_element(op: Operation, builder: Builder) -> PatternResult:
    """Replace the reduction of one element by that element, combined with the accumulator operand if there is one.

    A float sum without accumulator stays: it begins with 0.0, which turns -0.0 into 0.0. Upstream ignores this.
    """
    vector, *start = op.operands
    type = vector_of(vector)
    if type.shape not in ((), (1,)) or any(type.scalable):
        return None
    if not start and kind_of(op) == "add" and isinstance(type.element, FloatType):
        return None
    if start and not _is_arithmetic(type.element):
        return None
    element = _first(builder, vector)
    if not start:
        return [element]
    is_float = isinstance(type.element, FloatType)
    attributes = {"fastmath": op.attributes["fastmath"]} if is_float and "fastmath" in op.attributes else {}
    return [builder.value(combination(op), (element, *start), element.type, attributes)]


def unit_dimensions(op: Operation, builder: Builder) -> PatternResult:
    """Replace a reduction along dimensions of size 1 by the vector without them, combined with the accumulator."""
    (vector, start), reduced = op.operands, integers(op, "reduction_dims")
    type = vector_of(vector)
    if any((type.shape[axis], type.scalable[axis]) != (1, False) for axis in reduced):
        return None
    if not _is_arithmetic(type.element):
        return None
    result_type = op.results[0].type
    if isinstance(result_type, VectorType):
        left = builder.value("vector.shape_cast", (vector,), result_type)
    else:
        left = _first(builder, vector)
    return [builder.value(combination(op), (start, left), result_type)]


def added_contraction(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``contract(a, b, 0) + c`` to ``contract(a, b, c)``."""
    flags = op.attributes.get("overflowFlags")
    if flags is not None and ENUMERATIONS["arith.overflow"].flags(flags):
        return None  # the flags of the sum would be lost
    for value, other in (op.operands, op.operands[::-1]):
        contract = defining_op(value, "vector.contract")
        if contract is None or kind_of(contract) != "add" or not splat_is(contract.operands[2], 0):
            continue
        operands = [*contract.operands[:2], other]
        return [builder.value(contract.name, operands, value.type, dict(contract.attributes))]
    return None
