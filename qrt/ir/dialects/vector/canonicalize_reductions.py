"""Canonicalization patterns of `vector` ops that reduce: upstream's where no value changes."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.attribute_kinds import ENUMERATIONS
from qrt.ir.core.matching import made_by
from qrt.ir.dialects.arith.scalars import splat_is
from qrt.ir.dialects.vector.reductions import combination, kind_of
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.dialects.vector.values import extract
from qrt.ir.rewriting.rewrite import Made
from qrt.types import FloatType, IntegerType, Type, VectorType


def _first(builder: Builder, vector: Value) -> Value:
    return extract(builder, vector, [0] * len(shape_of(vector.type)))


def _is_arithmetic(element: Type) -> bool:
    """Whether ops of `arith` take the type: integers with a sign are not taken."""
    return not isinstance(element, IntegerType) or element.is_signless


def one_element(op: Operation, builder: Builder) -> Made:
    """The reduction of one element is that, combined with the start. A float sum that is given no start begins with
    0.0, which upstream forgets here: it makes a negative zero positive."""
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


def unit_dimensions(op: Operation, builder: Builder) -> Made:
    """Dimensions of 1 are dropped, and the start is combined with what is left."""
    (vector, start), reduced = op.operands, integers(op, "reduction_dims")
    type = vector_of(vector)
    if any((type.shape[axis], type.scalable[axis]) != (1, False) for axis in reduced):
        return None
    if not _is_arithmetic(type.element):
        return None
    made = op.results[0].type
    if isinstance(made, VectorType):
        left = builder.value("vector.shape_cast", (vector,), made)
    else:
        left = _first(builder, vector)
    return [builder.value(combination(op), (start, left), made)]


def added_contraction(op: Operation, builder: Builder) -> Made:
    """``contract(a, b, 0) + c -> contract(a, b, c)``."""
    flags = op.attributes.get("overflowFlags")
    if flags is not None and ENUMERATIONS["arith.overflow"].flags(flags):
        return None  # the sum that promises not to overflow is no longer there
    for value, other in (op.operands, op.operands[::-1]):
        contract = made_by(value, "vector.contract")
        if contract is None or kind_of(contract) != "add" or not splat_is(contract.operands[2], 0):
            continue
        operands = [*contract.operands[:2], other]
        return [builder.value(contract.name, operands, value.type, dict(contract.attributes))]
    return None
