"""Emission of ``vector`` on vectors of one dimension, which are vectors of LLVM in registers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from llvmlite import ir as ll

from qrt.ir import Operation, Value
from qrt.ir.core.attributes import DenseArrayAttr
from qrt.ir.dialects.vector.reductions import combination, kind_of
from qrt.runtime.codegen.buffers import Buffer
from qrt.runtime.codegen.elements import I32, element_form
from qrt.runtime.codegen.emitter import Emitter, Handler, not_emitted
from qrt.runtime.codegen.integers import ScalarOp
from qrt.runtime.codegen.structured import OPS
from qrt.types import FloatType, VectorType


def _vector(op: Operation, value: Value) -> VectorType:
    if not isinstance(value.type, VectorType) or len(value.type.shape) != 1:
        raise not_emitted(op, f"has a value of type {value.type}, but only vectors of one dimension have machine code")
    return value.type


# -- memory ------------------------------------------------------------------------------------------------------------


def _place(e: Emitter, op: Operation, memref: Value, indices: Sequence[Value], length: int) -> tuple[Buffer, Any]:
    """Emit a check that ``length`` elements of a memref from ``indices`` on are within the bounds.

    Return the memref's buffer and the address of the first of these elements.
    """
    buffer, starts = e.buffer(memref), [e.index(value) for value in indices]
    message = partial(_out_of_bounds, list(buffer.shape))
    counts = [1] * (len(starts) - 1) + [length]
    for start, count, size in zip(starts, counts, buffer.shape, strict=True):
        e.require_index(op, start, max(size - count + 1, 0), message, [index.value for index in starts])
    if buffer.splat is not None or (buffer.strides[-1] != 1 and length > 1):
        raise not_emitted(op, "accesses elements that are not neighbours in memory, for which no code is emitted")
    return buffer, e.address(buffer, starts)


def _out_of_bounds(shape: list[int], numbers: Sequence[int]) -> str:
    return f"a vector at {list(numbers)} is out of bounds of shape {shape}"


def _load(e: Emitter, op: Operation) -> None:
    type = _vector(op, op.result)
    _, address = _place(e, op, op.operands[0], op.operands[1:], type.shape[0] or 0)
    e.define(op.result, element_form(type).load(e.builder, address))


def _store(e: Emitter, op: Operation) -> None:
    type = _vector(op, op.operands[0])
    buffer, address = _place(e, op, op.operands[1], op.operands[2:], type.shape[0] or 0)
    if buffer.is_read_only:
        raise not_emitted(op, "writes to constant memory")
    element_form(type).store(e.builder, e.register(op.operands[0]), address)


# -- reductions and elements -------------------------------------------------------------------------------------------


def _reduction(e: Emitter, op: Operation) -> None:
    """Emit a reduction. LLVM's intrinsic adds integers in any order; other reductions go in the order of the lanes."""
    type, register, known = _vector(op, op.operands[0]), e.register(op.operands[0]), op.operands[1:]
    start = e.register(known[0]) if known else None
    if kind_of(op) == "add" and not isinstance(type.element, FloatType):
        total = e.builder.call(_sum_of_lanes(e, register.type), (register,))
        e.define(op.result, total if start is None else e.builder.add(start, total))
        return
    lanes = [e.builder.extract_element(register, I32(lane)) for lane in range(type.shape[0] or 0)]
    if start is None and kind_of(op) == "add":
        start = element_form(type.element).constant(element_form(type.element).dtype.type(0))
    total = lanes.pop(0) if start is None else start
    for lane in lanes:
        total = OPS[combination(op)](ScalarOp(e, op, [total, lane], [None, None], is_lane=True), total, lane)
    e.define(op.result, total)


def _sum_of_lanes(e: Emitter, type: Any) -> Any:
    name = f"llvm.vector.reduce.add.v{type.count}{type.element}"
    if name in e.module.globals:
        return e.module.globals[name]
    return ll.Function(e.module, ll.FunctionType(type.element, [type]), name)


def _broadcast(e: Emitter, op: Operation) -> None:
    count = _vector(op, op.result).shape[0] or 0
    source = e.register(op.operands[0])
    if isinstance(op.operands[0].type, VectorType):
        if _vector(op, op.operands[0]).shape[0] == count:
            e.define(op.result, source)
            return
        source = e.builder.extract_element(source, I32(0))
    first = e.builder.insert_element(ll.Constant(element_form(op.result.type).register, ll.Undefined), source, I32(0))
    mask = ll.Constant(ll.VectorType(I32, count), [I32(0)] * count)
    e.define(op.result, e.builder.shuffle_vector(first, first, mask))


def _position(op: Operation, vector: Value) -> Any:
    """Return the static position of the one lane that an op extracts or inserts."""
    _vector(op, vector)
    position = op.attribute("static_position", DenseArrayAttr).values
    count = vector.type.shape[0] if isinstance(vector.type, VectorType) else 0
    if len(position) != 1 or not 0 <= position[0] < (count or 0):
        raise not_emitted(op, "has a position that is not one known lane, for which no code is emitted")
    return I32(int(position[0]))


def _extract(e: Emitter, op: Operation) -> None:
    lane = _position(op, op.operands[0])
    e.define(op.result, e.builder.extract_element(e.register(op.operands[0]), lane))


def _insert(e: Emitter, op: Operation) -> None:
    lane = _position(op, op.operands[1])
    e.define(op.result, e.builder.insert_element(e.register(op.operands[1]), e.register(op.operands[0]), lane))


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.load": _load,
    "vector.reduction": _reduction,
    "vector.store": _store,
}
